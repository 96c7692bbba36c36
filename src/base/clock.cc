// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

namespace coua {
namespace {

#if defined(__x86_64__) || defined(__i386__)
struct clock_pair {
  std::uint64_t ns, cycles;
};

/// Both clocks at one moment: the pair that took least between two readings, so that an interrupt
/// in between does not count.
clock_pair read_both() noexcept {
  clock_pair best{};
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t before = cycles();
    const std::uint64_t ns = now_ns();
    const std::uint64_t after = cycles();
    if (after - before < least) {
      least = after - before;
      best = {ns, before + (after - before) / 2};
    }
  }
  return best;
}

double measure_hz() noexcept {
  constexpr std::uint64_t window_ns = 20'000'000;
  const clock_pair start = read_both();
  while (now_ns() - start.ns < window_ns) __builtin_ia32_pause();
  const clock_pair end = read_both();
  return static_cast<double>(end.cycles - start.cycles) * 1e9 /
         static_cast<double>(end.ns - start.ns);
}
#else
double measure_hz() noexcept { return 1e9; }
#endif

}  // namespace

double cycles_hz() noexcept {
  static const double hz = measure_hz();
  return hz;
}

}  // namespace coua
