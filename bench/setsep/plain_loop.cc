// SPDX-License-Identifier: Apache-2.0
#include "bench/setsep/plain_loop.h"

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/parallel.h"

namespace coua::bench {
namespace {

// In portions that threads take as they come, like blocks that are built: so one that has to share
// its CPU does less.
constexpr std::uint64_t steps_of_a_portion = 200'000, portions_of_a_thread = 100;

}  // namespace

double plain_loop(unsigned threads) {
  const std::uint64_t n = threads * portions_of_a_thread;
  std::atomic<std::uint64_t> next{0}, sum{0};
  const std::uint64_t start = now_ns();
  in_parallel(threads, [&](unsigned t) {
    // Four at a time: threads that share a core have one multiplier.
    std::uint64_t a = t, b = t + 1, c = t + 2, d = t + 3;
    while (next.fetch_add(1, std::memory_order_relaxed) < n) {
      for (std::uint64_t i = 0; i < steps_of_a_portion; ++i) {
        a = a * 6364136223846793005 + 1;
        b = b * 6364136223846793005 + 1;
        c = c * 6364136223846793005 + 1;
        d = d * 6364136223846793005 + 1;
      }
    }
    sum += a + b + c + d;  // or the compiler leaves the loop out
  });
  return static_cast<double>(n * steps_of_a_portion) / static_cast<double>(now_ns() - start);
}

}  // namespace coua::bench
