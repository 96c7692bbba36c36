// SPDX-License-Identifier: Apache-2.0
//
// What this process has on the machine beside itself: folders, and programs that it has started.
// Their owners end them; where a signal ends the process, nobody's destructor runs, and the thread
// of end_tidily_on_signals() does it for all.
//
//   any thread                                  that thread
//   makes or ends one, and notes it  [lock]     waits for a signal
//                                               takes the lock for good: ends programs, removes
//                                               folders
//   needs the lock: stands until the end        gives the signal back to the system, which ends us
#pragma once

#include <sys/types.h>

#include <mutex>
#include <set>
#include <string>

namespace coua::bench {

class leftovers {
 public:
  /// What there is. While this lives no signal ends the process: so it lives from before one is
  /// made until it is noted, and from before one is ended until it is forgotten, and only so long.
  class locked {
   public:
    locked();
    leftovers* operator->() const { return &all_; }

   private:
    leftovers& all_;
    std::unique_lock<std::mutex> lock_;
  };

  std::set<std::string> folders;
  std::set<pid_t> programs;  // children of ours that we have not waited for

  /// What waitpid() answers of one of them that is about to stop or to end, or with WNOHANG.
  pid_t wait_for(pid_t program, int& status, int flags);
  /// Kills one of them, and waits for it.
  void end(pid_t program);

 private:
  leftovers() = default;
  static leftovers& all();
  std::mutex mutex_;

  friend class locked;
};

/// From now on SIGINT, SIGTERM and SIGHUP, unless ignored, end what there is before they end the
/// process, whose status says that a signal did. Call it while there is one thread, and let
/// programs start with allow_signals().
void end_tidily_on_signals();

/// In a process that is about to become another program.
void allow_signals() noexcept;

/// Where a signal is about to end the process it does not return: what fails then is no error.
void wait_for_end();

}  // namespace coua::bench
