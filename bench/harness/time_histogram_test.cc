// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/time_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace coua::bench {
namespace {

TEST(time_histogram, nothing_is_0) {
  const time_histogram none;
  EXPECT_EQ(none.count(), 0U);
  EXPECT_EQ(none.at(0.5), 0);
  EXPECT_EQ(none.longest(), 0);
}

TEST(time_histogram, small_times_are_exact) {
  time_histogram some;
  for (unsigned ns = 0; ns < 256; ++ns) some.add(ns / 1e3 + 1e-7);
  EXPECT_NEAR(some.at(0), 0, 1e-9);
  EXPECT_NEAR(some.at(1.0 / 3), 0.085, 1e-9);
  EXPECT_NEAR(some.at(1), 0.255, 1e-6);
}

TEST(time_histogram, answers_are_within_a_bucket_of_the_sorted_times) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> times(1, 3);  // some ns to seconds
  time_histogram all;
  std::vector<double> sorted;
  for (unsigned i = 0; i < 200'000; ++i) {
    sorted.push_back(times(random));
    all.add(sorted.back());
  }
  std::sort(sorted.begin(), sorted.end());
  for (const double share : {0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const double right =
        sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
    EXPECT_GE(all.at(share), right - 1e-3) << share;
    EXPECT_LE(all.at(share), right * (1 + 1.0 / 128) + 1e-3) << share;
  }
  EXPECT_EQ(all.longest(), sorted.back());
  EXPECT_EQ(all.at(1), sorted.back());
  EXPECT_EQ(all.count(), sorted.size());
}

TEST(time_histogram, a_time_beyond_all_measure_has_a_bucket) {
  time_histogram one;
  one.add(1e300);
  one.add(-5);
  EXPECT_EQ(one.count(), 2U);
  EXPECT_EQ(one.at(0), 0);
}

}  // namespace
}  // namespace coua::bench
