// SPDX-License-Identifier: Apache-2.0
//
// Two clocks. now_ns() is the steady clock of the system. cycles() is what a worker reads around
// every burst: on x86 the time stamp counter (about 20 cycles, not serialising; constant rate on
// every CPU with constant_tsc), elsewhere now_ns().
#pragma once

#include <chrono>
#include <cstdint>

namespace coua {

/// Nanoseconds since an arbitrary point, never backwards. Any thread.
inline std::uint64_t now_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

/// Ticks of the cycle clock; cycles_hz() of them pass in a second. Any thread.
inline std::uint64_t cycles() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();  // the header of __rdtsc() takes a compiler half a second
#else
  return now_ns();
#endif
}

/// Rate of cycles(). The first call measures it against now_ns() for 20 ms, so make it at start;
/// the error is below 0.1 %. Any thread.
double cycles_hz() noexcept;

}  // namespace coua
