// SPDX-License-Identifier: Apache-2.0
//
// Workers that take from one bucket at a time get no more than the limit together, and no less.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "dp/l2/storm.h"

namespace coua::dp {
namespace {

constexpr double hz = 1e9;

// Red when taking is a load and a store: then two workers spend the same token.
TEST(storm_race, workers_share_the_tokens_of_a_port) {
  constexpr unsigned n_workers = 4;
  constexpr std::uint64_t per_second = 5'000'000;
  constexpr std::uint64_t frames_each = 300'000, between_frames = 2;  // cycles
  const storm_rate rate = storm_rate::of(per_second, hz);
  storm_buckets buckets;
  storm_bucket& bucket = buckets[storm_kind::broadcast];
  std::atomic<std::uint64_t> clock{1};
  std::atomic<std::uint64_t> passed{0};
  std::vector<std::thread> workers;
  for (unsigned w = 0; w < n_workers; ++w)
    workers.emplace_back([&] {
      std::uint64_t mine = 0;
      for (std::uint64_t i = 0; i < frames_each; ++i)
        mine += bucket.take(rate, 60, clock.fetch_add(between_frames)) ? 1 : 0;
      passed += mine;
    });
  for (std::thread& each : workers) each.join();
  const double seconds = n_workers * frames_each * between_frames / hz;
  const double most = seconds * per_second + static_cast<double>(storm_rate::burst(per_second));
  EXPECT_LE(static_cast<double>(passed), most + 1);
  // A worker that loses its core between looking at the clock and asking is late.
  EXPECT_GE(static_cast<double>(passed), 0.98 * most);
}

}  // namespace
}  // namespace coua::dp
