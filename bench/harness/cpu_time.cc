// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/cpu_time.h"

#include <time.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

namespace coua::bench {
namespace {

std::uint64_t read_clock(clockid_t clock) noexcept {
  timespec now{};
  if (clock_gettime(clock, &now) != 0) return 0;
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::string task_folder(pid_t process) { return "/proc/" + std::to_string(process) + "/task"; }

/// The kernel's number for the CPU clock of one thread of this process: what
/// pthread_getcpuclockid() computes, for which only a pthread_t is enough.
clockid_t clock_of_thread(pid_t thread) noexcept {
  constexpr int of_one_thread = 4, on_cpu = 2;
  return static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3 | of_one_thread | on_cpu);
}

}  // namespace

std::uint64_t this_thread_cpu_ns() noexcept { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

std::uint64_t this_process_cpu_ns() noexcept { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

std::uint64_t threads_cpu_ns(const std::vector<pid_t>& threads) noexcept {
  std::uint64_t sum = 0;
  for (const pid_t each : threads) sum += read_clock(clock_of_thread(each));
  return sum;
}

std::uint64_t foreign_cpu_ns(pid_t process, const std::vector<pid_t>& threads) {
  std::uint64_t sum = 0;
  for (const pid_t each : threads) {
    std::uint64_t on_cpu_ns = 0;
    std::ifstream(task_folder(process) + "/" + std::to_string(each) + "/schedstat") >> on_cpu_ns;
    sum += on_cpu_ns;
  }
  return sum;
}

std::vector<pid_t> threads_named(pid_t process, const std::string& prefix) {
  std::vector<pid_t> out;
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator(task_folder(process), ignored)) {
    std::string name;
    std::getline(std::ifstream(each.path() / "comm") >> std::ws, name);
    if (!name.starts_with(prefix)) continue;
    const std::string text = each.path().filename();
    pid_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    out.push_back(number);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace coua::bench
