// SPDX-License-Identifier: Apache-2.0
//
// Time that threads spent on a CPU. Rates are counted over it and not over the clock on the wall:
// a thread that polls its core for itself sees no difference, and where another program takes the
// core for a while, that while is not counted.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace coua::bench {

/// Of the calling thread, in ns.
std::uint64_t this_thread_cpu_ns() noexcept;

/// Of this process with all its threads.
std::uint64_t this_process_cpu_ns() noexcept;

/// Of threads of this process together.
std::uint64_t threads_cpu_ns(const std::vector<pid_t>& threads) noexcept;

/// Of threads of any process together; what a running one had in the last few milliseconds may be
/// missing, of one that is stopped nothing is. Threads that are gone count 0.
std::uint64_t foreign_cpu_ns(pid_t process, const std::vector<pid_t>& threads);

/// The threads of a process whose name begins so, ascending.
std::vector<pid_t> threads_named(pid_t process, const std::string& prefix);

}  // namespace coua::bench
