// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/stats.h"

#include <gtest/gtest.h>

#include <array>

namespace coua::bench {
namespace {

TEST(stats, median_of_odd_even_and_none) {
  EXPECT_EQ(median(std::array{3.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median(std::array{4.0, 1.0, 3.0, 2.0}), 2.5);
  EXPECT_EQ(median(std::array{7.0}), 7.0);
  EXPECT_EQ(median({}), 0.0);
}

TEST(stats, one_outlier_moves_neither_median_nor_spread) {
  const summary calm = summarise(std::array{9.0, 10.0, 10.0, 10.0, 11.0});
  const summary disturbed = summarise(std::array{9.0, 10.0, 10.0, 10.0, 1000.0});
  EXPECT_EQ(calm.median, disturbed.median);
  EXPECT_EQ(calm.spread, disturbed.spread);
}

TEST(stats, spread_is_a_share_of_the_median) {
  // Deviations 2, 1, 0, 1, 2 around 10: their median is 1.
  EXPECT_DOUBLE_EQ(summarise(std::array{8.0, 9.0, 10.0, 11.0, 12.0}).spread.value(), 0.1);
  EXPECT_FALSE(summarise(std::array{5.0}).spread) << "of one value there is none";
  EXPECT_EQ(summarise(std::array{5.0, 5.0}).spread, 0.0);
}

TEST(stats, pairs_cancel_a_common_drift) {
  const std::array<double, 5> without = {100, 80, 60, 40, 20};
  std::array<double, 5> with{};
  for (std::size_t i = 0; i < with.size(); ++i) with[i] = without[i] * 0.9;
  const summary ratio = paired_ratio(with, without);
  EXPECT_NEAR(ratio.median, 0.9, 1e-12);
  EXPECT_NEAR(ratio.spread.value(), 0.0, 1e-12);
}

TEST(stats, pairs_without_a_partner_are_left_out) {
  EXPECT_DOUBLE_EQ(paired_ratio(std::array{1.0, 1.0, 5.0}, std::array{2.0, 0.0}).median, 0.5);
  EXPECT_EQ(paired_ratio({}, {}).median, 0.0);
}

}  // namespace
}  // namespace coua::bench
