// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/leftovers.h"

#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <thread>

namespace coua::bench {
namespace {

constexpr auto busy_threads_time = std::chrono::seconds(2);  // that may still make files
constexpr auto between_tries = std::chrono::milliseconds(1);

/// Other threads go on meanwhile, and may put a file there that was not seen.
void clear_away(const std::string& folder) {
  const auto deadline = std::chrono::steady_clock::now() + busy_threads_time;
  std::error_code trouble;
  do {
    std::filesystem::remove_all(folder, trouble);
    if (!trouble && !std::filesystem::exists(folder, trouble)) return;
    std::this_thread::sleep_for(between_tries);
  } while (std::chrono::steady_clock::now() < deadline);
}

/// Does not return.
void end_by(int number, const sigset_t& ours) {
  const leftovers::locked now;
  for (const pid_t each : std::set(now->programs)) now->end(each);
  for (const std::string& each : now->folders) clear_away(each);
  signal(number, SIG_DFL);
  raise(number);  // waits for its turn, as it is blocked
  pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
}

}  // namespace

leftovers& leftovers::all() {
  static leftovers* const only = new leftovers;  // no end of ours is its end
  return *only;
}

pid_t leftovers::wait_for(pid_t program, int& status, int flags) {
  const pid_t found = waitpid(program, &status, flags);
  if (found == program && !WIFSTOPPED(status)) programs.erase(program);
  return found;
}

void leftovers::end(pid_t program) {
  kill(program, SIGKILL);
  int status = 0;
  wait_for(program, status, 0);
}

leftovers::locked::locked() : all_(all()), lock_(all_.mutex_) {}

void end_tidily_on_signals() {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaddset(&ours, number);  // as nohup has it
  }
  pthread_sigmask(SIG_BLOCK, &ours, nullptr);
  std::thread([ours] {
    int number = 0;
    while (sigwait(&ours, &number) != 0) {
    }
    end_by(number, ours);
  }).detach();
}

void allow_signals() noexcept {
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

void wait_for_end() { const leftovers::locked now; }

}  // namespace coua::bench
