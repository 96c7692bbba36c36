// SPDX-License-Identifier: Apache-2.0
#include "dp/l2/storm.h"

#include <gtest/gtest.h>

namespace coua::dp {
namespace {

constexpr double hz = 2.1e9;
constexpr auto second = static_cast<std::uint64_t>(hz);

/// Frames that pass of one every `step` cycles, for `length` cycles from `now` on.
std::uint64_t passed(storm_bucket& bucket, const storm_rate& rate, std::uint64_t now,
                     std::uint64_t length, std::uint64_t step) {
  std::uint64_t n = 0;
  for (std::uint64_t at = 0; at < length; at += step) n += bucket.take(rate, now + at) ? 1 : 0;
  return n;
}

TEST(storm, kinds_are_told_by_the_destination) {
  constexpr std::uint64_t vlan = std::uint64_t{4094} << 48;
  EXPECT_EQ(storm_kind_of(0xFFFF'FFFF'FFFFu), storm_kind::broadcast);
  EXPECT_EQ(storm_kind_of(vlan | 0xFFFF'FFFF'FFFFu), storm_kind::broadcast);
  EXPECT_EQ(storm_kind_of(vlan | 0xFFFF'FFFF'FFFEu), storm_kind::multicast);
  EXPECT_EQ(storm_kind_of(vlan | 0x0100'5E00'0001u), storm_kind::multicast);
  EXPECT_EQ(storm_kind_of(vlan | 0x0200'0000'0001u), storm_kind::unknown_unicast);
  EXPECT_EQ(storm_kind_of(vlan | 0xFEFF'FFFF'FFFFu), storm_kind::unknown_unicast);
}

// Red when a burst is not that of the documentation, or when an idle bucket saves more than one.
TEST(storm, a_burst_and_then_the_rate) {
  for (const std::uint64_t per_second : {1, 100, 1000, 12'345}) {
    const storm_rate rate = storm_rate::of(per_second, hz);
    storm_bucket bucket;
    std::uint64_t now = 77;
    for (int round = 0; round < 3; ++round, now += 1000 * second) {
      EXPECT_EQ(passed(bucket, rate, now, 10'000, 1), storm_rate::burst(per_second));
      if (per_second < 100) continue;
      const std::uint64_t n = passed(bucket, rate, now + 10'000, 2 * second, 50'000);
      EXPECT_NEAR(static_cast<double>(n), 2.0 * static_cast<double>(per_second),
                  1 + static_cast<double>(per_second) * 0.001)
          << per_second;
    }
  }
  EXPECT_EQ(storm_rate::burst(1), 32u);
  EXPECT_EQ(storm_rate::burst(1000), 100u);
}

TEST(storm, high_rates_are_exact) {
  for (const std::uint64_t per_second : {1'000'000u, 14'880'952u, 148'809'523u, 200'000'000u}) {
    const storm_rate rate = storm_rate::of(per_second, hz);
    storm_bucket bucket;
    (void)passed(bucket, rate, 0, 1, 1);
    const std::uint64_t n = passed(bucket, rate, 0, second / 100, 4);
    const double wanted =
        static_cast<double>(per_second) / 100 + static_cast<double>(storm_rate::burst(per_second));
    EXPECT_NEAR(static_cast<double>(n) / std::min(wanted, second / 400.0), 1, 0.004) << per_second;
  }
}

TEST(storm, a_question_takes_nothing) {
  const storm_rate rate = storm_rate::of(1, hz);
  storm_bucket bucket;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(bucket.would_take(rate, second));
  EXPECT_EQ(passed(bucket, rate, second, 100, 1), 32u);
  EXPECT_FALSE(bucket.would_take(rate, second));
  bucket.fill(second);
  EXPECT_TRUE(bucket.would_take(rate, second));
}

// The clock with its further bits goes round every twelve years.
TEST(storm, a_clock_that_goes_round_lets_nobody_wait) {
  const storm_rate rate = storm_rate::of(1000, hz);
  constexpr std::uint64_t round = std::uint64_t{1} << (64 - storm_rate::fraction_bits);
  storm_bucket bucket;
  const std::uint64_t start = round - second;
  bucket.fill(start);
  const std::uint64_t n = passed(bucket, rate, start, 2 * second, 100'000);
  EXPECT_NEAR(static_cast<double>(n), 2 * 1000 + 100, 3);
}

// Workers look at the clock at different times. Red when one that is behind gives tokens back.
TEST(storm, a_worker_that_is_behind_gets_nothing_extra) {
  const storm_rate rate = storm_rate::of(1000, hz);
  storm_bucket bucket;
  std::uint64_t n = 0;
  for (std::uint64_t at = second; at < 2 * second; at += 50'000) {
    n += bucket.take(rate, at) ? 1 : 0;
    n += bucket.take(rate, at - 500'000) ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(n), 1000 + 100, 3);
}

TEST(storm, no_limit) {
  EXPECT_EQ(storm_rate::of(0, hz).between, 0u);
  EXPECT_GE(storm_rate::of(UINT64_MAX, hz).between, 1u);
}

}  // namespace
}  // namespace coua::dp
