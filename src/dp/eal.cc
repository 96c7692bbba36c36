// SPDX-License-Identifier: Apache-2.0
#include "dp/eal.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <thread>

#include "base/cpu.h"
#include "base/log.h"

namespace coua::dp {
namespace {

struct call_state {
  unsigned depth = 0;
  std::string partial;
  std::string first_error;
  std::vector<std::string> printed;  // on the standard error stream
};
thread_local call_state this_call;

// What DPDK writes to its log goes to ours, line by line.
void forward_line(const std::string& line) {
  if (line.find_first_not_of(' ') == std::string::npos) return;
  const int level = rte_log_cur_msg_loglevel();
  // The first line names the cause; those after it say only that a caller failed, too.
  if (level <= static_cast<int>(RTE_LOG_ERR) && this_call.first_error.empty())
    this_call.first_error = line;
  if (this_call.depth > 0 || level > static_cast<int>(RTE_LOG_WARNING))
    log_debug("dpdk: %s", line.c_str());
  else
    log_warning("dpdk: %s", line.c_str());
}

ssize_t log_write(void*, const char* text, size_t bytes) {
  for (const char c : std::string_view(text, bytes)) {
    if (c != '\n') {
      this_call.partial += c;
      continue;
    }
    forward_line(this_call.partial);
    this_call.partial.clear();
  }
  return static_cast<ssize_t>(bytes);
}

/// Null: there is no memory.
FILE* stream_of_lines(cookie_write_function_t* write) {
  cookie_io_functions_t functions{};
  functions.write = write;
  FILE* file = fopencookie(nullptr, "w", functions);
  if (file != nullptr) setvbuf(file, nullptr, _IOLBF, 0);
  return file;
}

void capture_log() {
  static FILE* stream = stream_of_lines(log_write);
  if (stream != nullptr) rte_openlog_stream(stream);
}

ssize_t print_write(void*, const char* text, size_t bytes) {
  std::string_view left(text, bytes);
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    if (end > 0) this_call.printed.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return static_cast<ssize_t>(bytes);
}

ssize_t discard(void*, const char*, size_t bytes) { return static_cast<ssize_t>(bytes); }

/// At a wrong argument DPDK prints a hundred lines of usage, and only getopt says which one it is,
/// on the standard error stream. While this lives, the first are discarded, and what getopt and
/// others print in this thread is kept. The streams that it puts in their place stay: a thread that
/// DPDK made may be about to print.
class quiet_streams {
 public:
  quiet_streams() {
    static FILE* out = stream_of_lines(discard);
    static FILE* err = stream_of_lines(print_write);
    if (out != nullptr) stdout = out;
    if (err != nullptr) stderr = err;
  }
  ~quiet_streams() {
    std::fflush(stderr);
    stdout = out_;
    stderr = err_;
  }
  quiet_streams(const quiet_streams&) = delete;
  quiet_streams& operator=(const quiet_streams&) = delete;

 private:
  FILE* const out_ = stdout;
  FILE* const err_ = stderr;
};

/// MiB of free huge pages of one size.
std::uint64_t free_huge_mib(const char* kib, std::uint64_t page_mib) {
  std::ifstream file(std::string("/sys/kernel/mm/hugepages/hugepages-") + kib +
                     "kB/free_hugepages");
  std::uint64_t pages = 0;
  return file >> pages ? pages * page_mib : 0;
}

struct memory_plan {
  bool huge;
  std::string text;
};

memory_plan choose_memory(const eal_params& params) {
  if (!params.huge_pages) return {false, "ordinary memory (huge pages are switched off)"};
  const std::uint64_t of_2m = free_huge_mib("2048", 2);
  const std::uint64_t of_1g = free_huge_mib("1048576", 1024);
  if (of_2m >= params.memory_mib) return {true, "2 MiB huge pages"};
  if (of_1g >= params.memory_mib) return {true, "1 GiB huge pages"};
  if (of_2m + of_1g == 0) return {false, "ordinary memory (no huge pages are free)"};
  return {false, "ordinary memory (" + std::to_string(std::max(of_2m, of_1g)) +
                     " MiB of huge pages are free, " + std::to_string(params.memory_mib) +
                     " MiB are needed)"};
}

std::string cpu_list(const std::vector<unsigned>& cpus) {
  std::string text;
  for (const unsigned cpu : cpus) text += (text.empty() ? "" : ",") + std::to_string(cpu);
  return text;
}

result<std::vector<unsigned>> choose_cores(const eal_params& params,
                                           const std::vector<unsigned>& allowed) {
  if (params.cores.empty()) {
    if (allowed.size() == 1) return allowed;
    return std::vector<unsigned>(allowed.begin() + 1, allowed.end());
  }
  for (const unsigned core : params.cores) {
    if (std::find(allowed.begin(), allowed.end(), core) == allowed.end())
      return fail(errc::invalid, "workers.cores",
                  std::to_string(core) + ": this process may not run there; it may use cores " +
                      cpu_list(allowed));
    if (std::count(params.cores.begin(), params.cores.end(), core) > 1)
      return fail(errc::invalid, "workers.cores", std::to_string(core) + " is named twice");
  }
  return params.cores;
}

/// DPDK makes its runtime folder even when it puts nothing there. A private folder avoids clashes
/// with other daemons and works where /run is read-only. A process that is killed leaves it: TMPDIR
/// says where.
class runtime_folder {
 public:
  runtime_folder() {
    if (const char* old = getenv("RUNTIME_DIRECTORY")) before_ = old;
    const char* asked = getenv("TMPDIR");
    if (asked != nullptr && asked[0] == '/') path_ = make_below(asked);
    if (path_.empty()) path_ = make_below("/tmp");
    if (!path_.empty()) setenv("RUNTIME_DIRECTORY", path_.c_str(), 1);
  }
  ~runtime_folder() {
    if (path_.empty()) return;
    before_ ? setenv("RUNTIME_DIRECTORY", before_->c_str(), 1) : unsetenv("RUNTIME_DIRECTORY");
    rmdir((path_ + "/dpdk/rte").c_str());
    rmdir((path_ + "/dpdk").c_str());
    rmdir(path_.c_str());
  }
  runtime_folder(const runtime_folder&) = delete;
  runtime_folder& operator=(const runtime_folder&) = delete;

 private:
  static std::string make_below(std::string path) {
    path += "/coua-eal-XXXXXX";
    return mkdtemp(path.data()) != nullptr ? path : "";
  }

  std::string path_;
  std::optional<std::string> before_;
};

constexpr const char* program = "coua";

std::vector<std::string> arguments(const eal_params& params, const memory_plan& memory,
                                   const std::vector<unsigned>& control) {
  std::vector<std::string> list{program, "--no-telemetry", "--iova-mode=va",
                                "--lcores=0@(" + cpu_list(control) + ")"};
  list.push_back(memory.huge ? "--in-memory" : "--no-huge");
  if (!memory.huge) list.push_back("--no-shconf");
  list.insert(list.end(), {"-m", std::to_string(params.memory_mib)});
  if (!params.pci) list.push_back("--no-pci");
  list.insert(list.end(), params.extra.begin(), params.extra.end());
  return list;
}

int init_on_this_thread(std::vector<std::string> list) {
  std::vector<char*> argv;
  for (std::string& word : list) argv.push_back(word.data());
  argv.push_back(nullptr);
  const runtime_folder folder;
  const quiet_streams quiet;
  return rte_eal_init(static_cast<int>(list.size()), argv.data()) < 0 ? rte_errno : 0;
}

/// What getopt said of a wrong argument; empty: nothing.
std::string said_by_getopt() {
  const std::string start = std::string(program) + ": ";
  for (const std::string& line : this_call.printed)
    if (line.starts_with(start)) return line.substr(start.size());
  return "";
}

result<void> init(const eal_params& params, const memory_plan& memory,
                  const std::vector<unsigned>& control) {
  int error = 0;
  result<void> pinned;
  std::string reason;
  // rte_eal_init pins its caller and gives its threads the caller's CPUs: not ours to lose.
  std::thread starter([&] {
    pinned = pin_this_thread(control);
    if (!pinned) return;
    const eal_call call;
    error = init_on_this_thread(arguments(params, memory, control));
    if (error != 0) reason = eal_call::reason(rte_strerror(error));
    if (const std::string more = said_by_getopt(); error != 0 && !more.empty()) reason = more;
    for (const std::string& line : this_call.printed)
      error == 0 ? log_warning("dpdk: %s", line.c_str()) : log_debug("dpdk: %s", line.c_str());
  });
  starter.join();
  if (!pinned) return pinned;
  if (error == 0) return {};
  const bool short_memory = error == ENOMEM || reason.find("memory") != std::string::npos;
  if (short_memory)
    reason += "; " + std::to_string(params.memory_mib) + " MiB were asked for packets on " +
              memory.text + ": lower memory.packet_mib or free memory";
  const char* const field = short_memory           ? "memory.packet_mib"
                            : params.extra.empty() ? "dpdk"
                                                   : "dpdk.arguments";
  return fail(short_memory ? errc::no_memory : errc::io, field, "DPDK does not start: " + reason);
}

struct running_eal {
  eal_params params;
  memory_plan memory;
};

std::optional<running_eal>& running() {
  static std::optional<running_eal> state;
  return state;
}

}  // namespace

result<eal_info> start_eal(const eal_params& params) {
  const std::vector<unsigned> allowed = allowed_cpus();
  auto cores = choose_cores(params, allowed);
  if (!cores) return tl::unexpected(cores.error());
  std::vector<unsigned> control;
  for (const unsigned cpu : allowed)
    if (std::find(cores->begin(), cores->end(), cpu) == cores->end()) control.push_back(cpu);
  if (control.empty()) control.push_back(allowed.front());
  if (auto& now = running()) {
    const eal_params& old = now->params;
    if (old.memory_mib != params.memory_mib || old.pci != params.pci || old.extra != params.extra ||
        old.huge_pages != params.huge_pages)
      return fail(errc::unsupported, "dpdk",
                  "DPDK runs in this process with other parameters, and starts only once");
    return eal_info{now->memory.huge, now->memory.text, *cores, control};
  }
  static bool failed = false;
  if (failed)
    return fail(errc::unsupported, "dpdk",
                "the start of DPDK failed before, and starts once per process");

  capture_log();
  const memory_plan memory = choose_memory(params);
  if (auto done = init(params, memory, control); !done) {
    failed = true;
    return tl::unexpected(done.error());
  }
  running() = running_eal{params, memory};
  return eal_info{memory.huge, memory.text, *cores, control};
}

eal_call::eal_call() {
  this_call.depth++;
  this_call.first_error.clear();
}
eal_call::~eal_call() { --this_call.depth; }
std::string eal_call::reason(const std::string& otherwise) {
  return this_call.first_error.empty() ? otherwise : this_call.first_error;
}

eal_thread::eal_thread() : registered_(rte_thread_register() == 0) {}
eal_thread::~eal_thread() {
  if (registered_) rte_thread_unregister();
}

}  // namespace coua::dp
