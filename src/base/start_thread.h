// SPDX-License-Identifier: Apache-2.0
//
// A thread that somebody asks for while the daemon runs. The system may refuse it (RLIMIT_NPROC, or
// pids.max of the cgroup): that is an error of what was asked for, and all else goes on.
#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/result.h"

namespace coua {

inline error no_thread(std::string where, const std::system_error& why) {
  return {errc::no_room, std::move(where),
          "the system gives no thread (" + why.code().message() +
              "); raise the limit of tasks (TasksMax of the unit, pids.max, ulimit -u)"};
}

/// Errors: no_room, at `where`.
template <typename Run>
result<std::thread> start_thread(const std::string& where, Run run) {
  try {
    return std::thread(std::move(run));
  } catch (const std::system_error& why) {
    return tl::unexpected(no_thread(where, why));
  }
}

}  // namespace coua
