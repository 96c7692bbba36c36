// SPDX-License-Identifier: Apache-2.0
//
// The daemon: one file in, one switch out. In order: check the file, claim the socket, start the
// environment, add the ports, give the bridges their rules and controllers, open the API, wait for
// a signal, and take all of it down again. What fails on the way up ends the daemon with everything
// before it undone by its destructor.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "base/default_socket.h"
#include "base/descriptor_limit.h"
#include "base/log.h"
#include "base/start_thread.h"
#include "cli/daemon_grammar.h"
#include "ctl/api_server.h"
#include "ctl/config.h"
#include "ctl/metrics/metrics_server.h"
#include "ctl/metrics/switch_metrics.h"
#include "ctl/ofp/tls.h"
#include "ctl/openflow_bridge.h"
#include "ctl/port_rules.h"
#include "ctl/running_bridges.h"
#include "ctl/running_config.h"
#include "ctl/service_manager.h"
#include "dp/switch.h"

namespace {

using coua::error;
using coua::result;

std::string count_ports(std::size_t n) { return std::to_string(n) + (n == 1 ? " port" : " ports"); }

/// SIGTERM and SIGINT stop the daemon, SIGHUP has it read its file again. Blocked in every thread
/// and asked for where it suits.
class daemon_signals {
 public:
  daemon_signals() {
    sigemptyset(&set_);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set_, number);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
  }

  /// A stop was asked for. Does not wait.
  bool came() {
    const timespec now{};
    for (int number; stop_ == 0 && (number = sigtimedwait(&set_, nullptr, &now)) > 0;) take(number);
    return stop_ != 0;
  }
  /// Until a stop. Calls `in_between` once in each such period, whatever else happens, and `reload`
  /// where that was asked for, on a thread of its own. Returns when a reload that began has ended.
  template <class Reload, class Function>
  void wait(std::chrono::microseconds period, Reload reload, Function in_between) {
    using clock = std::chrono::steady_clock;
    clock::time_point next = clock::now() + period;
    std::future<void> reloading;
    while (stop_ == 0) {
      if (reloading.valid() &&
          reloading.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
        reloading.get();
      if (reload_ && !reloading.valid()) {
        reload_ = false;
        try {
          reloading = std::async(std::launch::async, reload);
        } catch (const std::system_error& why) {
          coua::log_error("SIGHUP: %s; nothing was changed",
                          coua::no_thread("the file is not read", why).message().c_str());
        }
      }
      if (clock::now() >= next) {
        in_between();
        next = clock::now() + period;
      }
      auto left = std::max(clock::duration::zero(), next - clock::now());
      if (reloading.valid()) left = std::min<clock::duration>(left, std::chrono::milliseconds(100));
      const auto us = std::chrono::duration_cast<std::chrono::microseconds>(left).count();
      const timespec longest{us / 1'000'000, us % 1'000'000 * 1000};
      if (const int number = sigtimedwait(&set_, nullptr, &longest); number > 0) take(number);
    }
  }

 private:
  void take(int number) {
    if (number == SIGHUP) {
      reload_ = true;
      return;
    }
    stop_ = number;
    coua::ctl::tell_stopping();
    coua::log_info("stopping: %s", number == SIGINT ? "SIGINT" : "SIGTERM");
  }

  sigset_t set_;
  int stop_ = 0;
  bool reload_ = false;
};

result<void> use_tls(const coua::ctl::config& config) {
  const coua::ctl::tls_files& tls = config.tls;
  if (!tls.any()) return {};
  const auto used = coua::ofp::use_tls(tls.key, tls.certificate, tls.authority);
  if (used) return {};
  return tl::unexpected(config.at_its_field(used.error(), "openflow.tls."));
}

result<void> add_ports(coua::dp::l2_switch& sw, const coua::ctl::config& config,
                       daemon_signals& signals, std::vector<unsigned>& numbers) {
  for (std::size_t i = 0; i < config.ports.size() && !signals.came(); i++) {
    const auto added = sw.add_port(config.ports[i]);
    const std::string path = "ports[" + std::to_string(i) + "]";
    if (!added) return tl::unexpected(config.at(path, added.error()));
    numbers.push_back(*added);
    std::string devices;
    for (const std::string& each : coua::ctl::devices_of(config.ports[i]))
      devices += (devices.empty() ? "" : " ") + each;
    coua::log_info("port %s: %s", config.ports[i].name.c_str(), devices.c_str());
  }
  return {};
}

result<void> add_statics(coua::dp::l2_switch& sw, const coua::ctl::config& config,
                         const std::vector<unsigned>& numbers) {
  for (std::size_t i = 0; i < config.statics.size(); i++) {
    const auto& wanted = config.statics[i];
    coua::dp::fib_entry entry{wanted.vlan, wanted.mac, 0, true, 0};
    for (std::size_t p = 0; p < numbers.size(); p++)
      if (config.ports[p].name == wanted.port) entry.port = numbers[p];
    const auto stored = sw.fib_insert(std::span(&entry, 1));
    if (!stored)
      return tl::unexpected(config.at("fib.static[" + std::to_string(i) + "]", stored.error()));
  }
  return {};
}

/// Threads that are not workers stay off the workers' CPUs, where there are others.
void leave_worker_cpus(const coua::dp::l2_switch& sw, std::vector<unsigned> cpus) {
  for (const auto& worker : sw.workers()) std::erase(cpus, worker.core);
  if (cpus.empty()) return;
  if (const auto pinned = coua::pin_this_thread(cpus); !pinned)
    coua::log_warning("%s", pinned.error().message().c_str());
}

/// What SIGHUP asks for: the running configuration becomes what the daemon's file says now, or,
/// where anything is wrong with that, stays as it is. Returns a line that says what came of it.
std::string reload(coua::ctl::running_config& running) {
  const std::string& file = running.file();
  if (file.empty()) {
    coua::log_warning("SIGHUP: couad was started without a file: there is nothing to read again");
    return "nothing to reload";
  }
  const auto wanted = coua::ctl::load_config(file);
  if (!wanted) {
    for (const auto& e : wanted.error())
      coua::log_error("SIGHUP: %s", coua::ctl::to_string(e, file).c_str());
    coua::log_error("SIGHUP: %s is wrong: nothing was changed", file.c_str());
    return "reload refused: the file is wrong";
  }
  const auto done = running.apply(*wanted);
  if (!done) {
    coua::log_error("SIGHUP: %s", done.error().message().c_str());
    return "reload refused: " + done.error().message();
  }
  for (const auto& change : *done)
    coua::log_info("SIGHUP: %s", coua::ctl::to_string(change).c_str());
  coua::log_info("SIGHUP: %s: %zu changes", file.c_str(), done->size());
  return std::to_string(done->size()) + (done->size() == 1 ? " change" : " changes") +
         " by the last reload";
}

/// Null: the file names no address for them.
result<std::unique_ptr<coua::ctl::metrics_server>> serve_metrics(
    const coua::ctl::config& config, const coua::dp::l2_switch& sw,
    const coua::ctl::running_bridges& bridges) {
  if (config.metrics_listen.empty()) return nullptr;
  auto server = coua::ctl::metrics_server::create(
      config.metrics_listen,
      std::make_shared<coua::ctl::switch_metrics>(sw, bridges, COUA_VERSION));
  if (!server) return tl::unexpected(config.at("metrics.listen", server.error()));
  coua::log_info("metrics: port %d of %s", (*server)->port(), config.metrics_listen.c_str());
  return server;
}

/// For `systemctl status`: what runs now.
std::string ready_text(const coua::dp::l2_switch& sw, const std::string& path) {
  return count_ports(sw.ports().size()) + ", API on " + path;
}

/// Until a signal. A manager with a watchdog is told that all goes on as long as it does. Nothing
/// is waited for to learn that: a port may come at that moment, and its driver takes its time.
void wait_and_tell(const coua::dp::l2_switch& sw, coua::ctl::running_config& running,
                   const std::string& path, daemon_signals& signals) {
  const auto period = coua::ctl::watchdog_period();
  coua::ctl::liveness liveness;
  const auto read_again = [&] {
    coua::ctl::tell_reloading();
    const std::string done = reload(running);
    coua::ctl::tell_ready(ready_text(sw, path) + "; " + done);
  };
  signals.wait(period.value_or(std::chrono::hours(1)), read_again, [&] {
    if (!period) return;
    const coua::dp::switch_pulse pulse = sw.pulse();
    const auto standing = liveness.standing(pulse);
    for (const std::string& each : standing) coua::log_error("%s stands still", each.c_str());
    if (standing.empty()) coua::ctl::tell_alive();
    if (std::chrono::nanoseconds(pulse.driver_ns) > *period)
      coua::log_warning("a driver takes %llu s so far for a port: nothing is learned meanwhile",
                        static_cast<unsigned long long>(pulse.driver_ns / 1'000'000'000));
  });
}

result<void> serve(const coua::ctl::config& config, daemon_signals& signals) {
  const std::vector<unsigned> cpus = coua::allowed_cpus();
  const std::string path = config.socket.empty() ? coua::default_socket() : config.socket;
  auto claim = coua::ctl::socket_claim::take(path);
  if (!claim) return tl::unexpected(config.at("api.socket", claim.error()));
  if (auto used = use_tls(config); !used) return used;
  const auto environment = coua::ctl::resolve_environment(config);
  if (!environment) return tl::unexpected(environment.error());
  if (signals.came()) return {};
  const auto sw = coua::dp::l2_switch::create(*environment, coua::ctl::switch_settings(config));
  if (!sw) return tl::unexpected(config.at_its_field(sw.error()));
  std::vector<unsigned> numbers;
  if (auto added = add_ports(**sw, config, signals, numbers); !added) return added;
  if (signals.came()) return {};
  if (auto added = add_statics(**sw, config, numbers); !added) return added;
  if (signals.came()) return {};
  leave_worker_cpus(**sw, cpus);
  coua::ctl::api_params params;
  params.version = COUA_VERSION;
  coua::ctl::running_bridges bridges(**sw);
  coua::ctl::running_config running(**sw, bridges, config);
  bridges.make_by([&](const std::string& name) {
    return std::make_unique<coua::ctl::openflow_bridge>(
        **sw, name, running, coua::ctl::openflow_bridge_params{COUA_VERSION, path});
  });
  if (auto started = running.start_bridges(config); !started) return started;
  const auto api = coua::ctl::api_server::create(**sw, running, std::move(*claim), params);
  if (!api) return tl::unexpected(config.at("api.socket", api.error()));
  const auto metrics = serve_metrics(config, **sw, bridges);
  if (!metrics) return tl::unexpected(metrics.error());
  coua::log_info("couad %s: %s", COUA_VERSION, (*sw)->describe().c_str());
  const std::string ready = ready_text(**sw, path);
  coua::log_info("ready: %s", ready.c_str());
  coua::ctl::tell_ready(ready);
  wait_and_tell(**sw, running, path, signals);
  return {};
}

// What could not be written was not said.
int said() {
  if (std::fflush(stdout) == 0) return 0;
  std::perror("couad: standard output");
  return 1;
}

int run(const coua::cli::invocation& call) {
  coua::log_level level = coua::log_level::info;
  if (call.has("log-level") && !coua::parse_log_level(call.text("log-level"), level)) {
    std::fprintf(stderr, "couad: --log-level: '%s' is none of error, warning, info, debug\n",
                 call.text("log-level").c_str());
    return 2;
  }
  coua::set_log_level(level);
  if (call.has("check") && !call.has("config")) {
    std::fputs("couad: --check needs --config FILE\n", stderr);
    return 2;
  }
  coua::ctl::config config;
  if (call.has("config")) {
    const std::string file = call.text("config");
    auto loaded = coua::ctl::load_config(file);
    if (!loaded) {
      for (const auto& e : loaded.error())
        std::fprintf(stderr, "%s\n", coua::ctl::to_string(e, file).c_str());
      return 1;
    }
    config = std::move(*loaded);
    // Who asks for it, or reads it again, may be in another directory.
    config.file = std::filesystem::absolute(file);
    if (!call.has("log-level")) coua::set_log_level(config.log);
  }
  if (call.has("check")) {
    std::printf("%s: good, %s\n", call.text("config").c_str(),
                count_ports(config.ports.size()).c_str());
    return said();
  }
  if (const std::string& why = coua::simd_complaint(); !why.empty()) {
    coua::log_warning("%s", why.c_str());
  }
  coua::raise_descriptor_limit();
  daemon_signals signals;
  if (const auto served = serve(config, signals); !served) {
    coua::log_error("%s", served.error().message().c_str());
    return 1;
  }
  coua::log_info("stopped");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<std::string> help;
  const auto call = coua::cli::parse(coua::cli::couad_command(),
                                     std::vector<std::string>(argv + 1, argv + argc), help);
  if (help) {
    std::fputs(help->c_str(), stdout);
    return said();
  }
  if (!call) {
    std::fprintf(stderr, "%s\n", call.error().message().c_str());
    return 2;
  }
  if (call->has("version")) {
    std::printf("couad %s\n", COUA_VERSION);
    return said();
  }
  return run(*call);
}
