// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/default_socket.h"
#include "cli/complete.h"
#include "cli/interruption.h"
#include "cli/pager.h"
#include "cli/runner.h"
#include "cli/session.h"
#include "cli/shell.h"
#include "cli/verbs.h"

namespace coua::cli {
namespace {

result<void> carry_out(const session& s) {
  switch (s.call.what->id) {
    case bridge_list: return run_bridge_list(s);
    case bridge_show: return run_bridge_show(s);
    case bridge_add: return run_bridge_add(s);
    case bridge_del: return run_bridge_del(s);
    case port_list: return run_port_list(s);
    case port_show: return run_port_show(s);
    case port_add: return run_port_add(s);
    case port_remove: return run_port_remove(s);
    case port_set: return run_port_set(s);
    case fib_show: return run_fib_show(s);
    case fib_add: return run_fib_add(s);
    case fib_del: return run_fib_del(s);
    case fib_flush: return run_fib_flush(s);
    case fib_load: return run_fib_load(s);
    case fib_stats: return run_fib_stats(s);
    case fib_ageing: return run_fib_ageing(s);
    case trace_show: return run_trace(s);
    case explain_show: return run_explain(s);
    case flow_add: return run_flow_add(s);
    case flow_mod: return run_flow_mod(s);
    case flow_del: return run_flow_del(s);
    case flow_dump: return run_flow_dump(s);
    case flow_stats: return run_flow_stats(s);
    case group_add: return run_group_add(s);
    case group_mod: return run_group_mod(s);
    case group_del: return run_group_del(s);
    case group_dump: return run_group_dump(s);
    case meter_add: return run_meter_add(s);
    case meter_mod: return run_meter_mod(s);
    case meter_del: return run_meter_del(s);
    case meter_dump: return run_meter_dump(s);
    case vlan_list: return run_vlan_list(s);
    case vlan_show: return run_vlan_show(s);
    case stats_show: return run_stats(s);
    case worker_list: return run_worker_list(s);
    case controller_list: return run_controller_list(s);
    case capture_run: return run_capture(s);
    case top_run: return run_top(s);
    case doctor_show: return run_doctor(s);
    case log_level_show: return run_log_level(s);
    case config_check: return run_config_check(s);
    case config_show: return run_config_show(s);
    case config_save: return run_config_save(s);
    case config_diff: return run_config_diff(s);
    case config_apply: return run_config_apply(s);
    case version_show: return run_version(s);
    default: return fail(errc::unsupported, s.call.what->path, "has nothing that carries it out");
  }
}

int tell(const error& e, bool as_json, int status) {
  const bool named = e.where == "coua" || e.where.starts_with("coua ");
  const std::string name = named ? "" : "coua: ";
  std::fprintf(stderr, "%s%s\n", name.c_str(), e.message().c_str());
  if (as_json) std::fputs(dump({{"error", error_json(e)}}).c_str(), stdout);
  return status;
}

/// "coua complete -- WORD...", for the scripts of shells: a line for each word, then a tab and what
/// it means. A line ":files" stands for the names of files.
int run_complete(std::vector<std::string> words) {
  words.erase(words.begin(), words.begin() + std::min<std::size_t>(words.size(), 2));
  const completion found = complete(coua_command(), words, [](thing what, const auto& given) {
    const invocation call{.values = given};
    client daemon(choose_socket(call), std::nullopt);
    return names_of(what, daemon);
  });
  for (const candidate& each : found.words) {
    std::printf("%s\t%s\n", each.word.c_str(), each.help.c_str());
  }
  if (found.files) std::puts(":files");
  return exit_ok;
}

/// Tables may have more lines than a terminal.
bool has_long_answer(int id) {
  constexpr int those[] = {bridge_list, bridge_show,     port_list,   port_show,   fib_show,
                           fib_stats,   flow_dump,       flow_stats,  group_dump,  meter_dump,
                           trace_show,  explain_show,    vlan_list,   vlan_show,   stats_show,
                           worker_list, controller_list, config_show, config_diff, doctor_show};
  return std::ranges::find(those, id) != std::end(those);
}

/// Before there is an answer, which a pager would hide.
bool takes_time(const invocation& call) { return call.has("wait") || call.has("rate"); }

/// JSON that is printed as it comes; where it breaks off, it is still to be one object.
bool is_json_dump(const session& s) {
  constexpr int those[] = {fib_show, flow_dump, group_dump, meter_dump};
  return s.as_json && std::ranges::find(those, s.call.what->id) != std::end(those);
}

void print_completion(const session& s) {
  const std::string shell = s.call.text("SHELL");
  const std::string script = script_of(coua_command(), shell);
  s.answer({{"shell", shell}, {"script", script}}, script);
}

/// What came of a verb that signals end, or the pager's user.
struct ended {
  result<void> done = {};
  int signal = 0;
  bool is_left = false;  // by who reads, before the end
  bool is_seen = true;   // the pager could be run
};

ended carry_out_until_stopped(const session& s, const std::string& pager_command) {
  ended made;
  pager pages(pager_command);
  {
    interruption stop([&] { s.daemon.stop(); }, pages.runs() ? STDOUT_FILENO : -1);
    if (pages.runs() || is_json_dump(s)) stop.watch(STDOUT_FILENO);
    made.done = carry_out(s);
    std::fflush(stdout);
    made.is_left = stop.signal() == 0 && stop.is_stopped();
  }
  made.signal = interruption::take_last();
  s.daemon.allow();
  made.is_seen = pages.wait();
  return made;
}

void say_without(const std::string& pager_command) {
  std::fprintf(stderr, "coua: the pager '%s' cannot be run; here without it\n",
               pager_command.c_str());
}

// An answer that could not be written is a failure, too.
int finish() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_ok;
  std::perror("coua: standard output");
  return exit_failed;
}

}  // namespace

void session::answer(const json& object, const std::string& text) const {
  std::fputs((as_json ? dump(object) : text).c_str(), stdout);
}

void session::answer_change(json object, bool changed, const std::string& what,
                            const std::string& done) const {
  json out = {{"changed", changed}};
  out.update(object);
  answer(out, what + ": " + (changed ? done : "unchanged") + "\n");
}

std::string choose_socket(const invocation& call) {
  if (call.has("socket")) return call.text("socket");
  const char* from_environment = std::getenv("COUA_SOCKET");
  return from_environment != nullptr && from_environment[0] != '\0' ? from_environment
                                                                    : socket_to_ask();
}

std::vector<std::string> names_of(thing what, client& daemon) {
  // Someone waits at each TAB: what the daemon does not say within that time is not shown.
  constexpr double patience_s = 1;
  daemon.set_timeout(patience_s);
  std::vector<std::string> names;
  if (!daemon.probe()) return names;
  if (what == thing::bridge) {
    const auto got = daemon.call(daemon.bridges(), &v1::BridgeService::Stub::ListBridges,
                                 v1::ListBridgesRequest());
    if (got)
      for (const auto& bridge : got->bridges()) names.push_back(bridge.spec().name());
  } else {
    const auto got =
        daemon.call(daemon.ports(), &v1::PortService::Stub::ListPorts, v1::ListPortsRequest());
    if (got)
      for (const auto& port : got->ports()) names.push_back(port.spec().name());
  }
  // Names are of letters and digits; nothing else goes into a command line.
  std::erase_if(names, [](const std::string& name) {
    return !std::ranges::all_of(name, [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
    });
  });
  return names;
}

runner::runner(const file_checker& check) : check_(check) {}
runner::~runner() = default;

client& runner::daemon_of(const invocation& call) {
  std::string socket = choose_socket(call);
  // Where another daemon took the place of the first, the connection is one to nobody, which the
  // library would learn from a call that fails.
  const bool is_same =
      daemon_ && daemon_->socket() == socket && (!stays_ || daemon_->process() == process_);
  if (!is_same) daemon_ = std::make_unique<client>(std::move(socket), std::nullopt);
  if (stays_ && !is_same) process_ = daemon_->process();
  std::optional<double> timeout;
  if (call.has("timeout")) timeout = call.real("timeout");
  daemon_->set_timeout(timeout);
  return *daemon_;
}

int runner::run(const std::vector<std::string>& words, const no_verb& without) {
  std::optional<std::string> help;
  auto call = parse(coua_command(), words, help);
  if (help) {
    const bool at_once =
        defaults_.contains("no-pager") || std::ranges::find(words, "--no-pager") != words.end();
    const std::string command = at_once ? "" : pager_command();
    pager pages(command);
    std::fputs(help->c_str(), stdout);
    if (!pages.wait()) {
      say_without(command);
      std::fputs(help->c_str(), stdout);
    }
    return finish();
  }
  if (!call) {
    const bool as_json =
        defaults_.contains("json") || std::ranges::any_of(words, [](const std::string& word) {
          return word == "-j" || word == "--json";
        });
    return tell(call.error(), as_json, exit_usage);
  }
  if (call->has("version")) {
    std::printf("coua %s\n", COUA_VERSION);
    return finish();
  }
  if (call->what == nullptr) return without(*call);
  for (const auto& each : defaults_) call->values.insert(each);
  return execute(*call);
}

int runner::complain(const error& e, int status) const {
  return tell(e, defaults_.contains("json"), status);
}

int runner::execute(const invocation& call, bool is_paged) {
  client& daemon = daemon_of(call);
  const session s{.daemon = daemon, .call = call, .as_json = call.has("json"), .check = check_};
  const int id = call.what->id;
  if (id == completion_show) {
    print_completion(s);
    return finish();
  }
  // The doctor is called where couad does not run, too; who waits does so for couad as well.
  if (id != config_check && id != doctor_show && !call.has("wait")) {
    if (auto there = daemon.probe(); !there)
      return tell(there.error(), s.as_json, exit_unreachable);
  }
  const std::string command =
      is_paged && has_long_answer(id) && !s.as_json && !call.has("no-pager") && !takes_time(call)
          ? pager_command()
          : "";
  if (!stays_ && command.empty() && !is_json_dump(s)) return answer_of(s, carry_out(s));
  ended made;
  if (id == capture_run || id == top_run) {  // they end by themselves
    made.done = carry_out(s);
    made.signal = interruption::take_last();
    std::fflush(stdout);
  } else {
    made = carry_out_until_stopped(s, command);
  }
  if (made.signal == SIGTERM) std::raise(SIGTERM);
  if (!made.is_seen && made.signal == 0) {
    say_without(command);
    return execute(call, false);  // it changes nothing: it is one of those with a long answer
  }
  if (made.is_left && !made.done) {
    if (!command.empty()) return exit_ok;
    std::raise(SIGPIPE);  // as a pipe whose reader went away ends other verbs
    return finish();
  }
  if (made.signal != SIGINT) return answer_of(s, made.done);
  if (made.done) {
    const int status = answer_of(s, made.done);
    if (!is_script_) return status;
  }
  return tell(interrupted(), !made.done && s.as_json && !s.answered, exit_interrupted);
}

int runner::answer_of(const session& s, const result<void>& done) {
  if (done) {
    const int written = finish();
    return written != exit_ok ? written : s.status;
  }
  if (s.misused) return tell(done.error(), s.as_json, exit_usage);
  const bool is_unreachable = done.error().code == errc::unavailable;
  const int other = is_unreachable ? exit_unreachable : exit_failed;
  const int failed = done.error().code == errc::interrupted ? exit_interrupted : other;
  return tell(done.error(), s.as_json && !s.answered, s.status != exit_ok ? s.status : failed);
}

int run(const std::vector<std::string>& words, const file_checker& check) {
  if (!words.empty() && words[0] == "complete") return run_complete(words);
  runner one(check);
  return one.run(words, [&](const invocation& given) {
    const bool reads_terminal = isatty(STDIN_FILENO) == 1;
    if (reads_terminal && isatty(STDOUT_FILENO) == 1) return run_shell(one, given);
    const std::optional<int> status =
        reads_terminal ? std::nullopt : run_script(one, given, "standard input");
    if (status) return *status;
    std::fputs(help_command(coua_command()).c_str(), stderr);
    return static_cast<int>(exit_usage);
  });
}

}  // namespace coua::cli
