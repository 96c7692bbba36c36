// SPDX-License-Identifier: Apache-2.0
#include "dp/l2/storm.h"

#include <gtest/gtest.h>

#include <cmath>

namespace coua::dp {
namespace {

constexpr double hz = 2.1e9;
constexpr auto second = static_cast<std::uint64_t>(hz);

/// Frames that pass of one every `step` cycles, for `length` cycles from `now` on.
std::uint64_t passed(storm_bucket& bucket, const storm_rate& rate, std::uint64_t now,
                     std::uint64_t length, std::uint64_t step, std::uint64_t bytes = 60) {
  std::uint64_t n = 0;
  for (std::uint64_t at = 0; at < length; at += step)
    n += bucket.take(rate, bytes, now + at) ? 1 : 0;
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
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(bucket.would_take(rate, 60, second));
  EXPECT_EQ(passed(bucket, rate, second, 100, 1), 32u);
  EXPECT_FALSE(bucket.would_take(rate, 60, second));
  bucket.fill(second);
  EXPECT_TRUE(bucket.would_take(rate, 60, second));
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
    n += bucket.take(rate, 60, at) ? 1 : 0;
    n += bucket.take(rate, 60, at - 500'000) ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(n), 1000 + 100, 3);
}

// Red when the bytes of a frame are not what it costs, or when a burst is not that of the
// documentation.
TEST(storm, bits_count_the_bytes_of_each_frame) {
  for (const std::uint64_t per_second : {1'000ull, 1'000'000ull, 40'000'000'000ull}) {
    const storm_rate rate = storm_rate::of(flood_limit::bits(per_second), 0, false, hz);
    for (const std::uint64_t bytes : {60u, 1000u, 9618u}) {
      storm_bucket bucket;
      const double burst = std::max(static_cast<double>(per_second) / 80, 16384.0);
      const std::uint64_t at_once = passed(bucket, rate, second, 1'000'000, 1, bytes);
      const double least = std::floor(burst / static_cast<double>(bytes));
      if (per_second > 1'000'000) {  // more than are sent at once
        EXPECT_NEAR(static_cast<double>(at_once), std::min(least, 1e6), 1 + least * 0.01)
            << per_second << " " << bytes;
        continue;
      }
      EXPECT_NEAR(static_cast<double>(at_once), least, 1 + least * 0.01)
          << per_second << " " << bytes;
      const std::uint64_t step = second / 20'000;
      const std::uint64_t n = passed(bucket, rate, 2 * second, 100 * second, step, bytes);
      EXPECT_NEAR(static_cast<double>(n * bytes * 8), 100.0 * static_cast<double>(per_second),
                  static_cast<double>(bytes * 8 + per_second))
          << per_second << " " << bytes;
    }
  }
}

// A whole link is what the link can carry: red when preamble, gap or check sequence are left out.
TEST(storm, a_share_of_the_link_counts_what_a_frame_takes_on_the_wire) {
  constexpr unsigned mbps = 1000;
  for (const std::uint64_t bytes : {60u, 1514u}) {
    const double line_rate = 1e6 * mbps / (8.0 * static_cast<double>(bytes + 24));
    const auto step = static_cast<std::uint64_t>(hz / line_rate);  // a little faster than that
    for (const std::uint64_t percent : {100u, 10u}) {
      storm_bucket bucket;
      const storm_rate rate =
          storm_rate::of(flood_limit::percent_hundredths(percent * 100), mbps, true, hz);
      (void)passed(bucket, rate, 0, second, step, bytes);
      const std::uint64_t n = passed(bucket, rate, second, second, step, bytes);
      EXPECT_NEAR(static_cast<double>(n), line_rate * static_cast<double>(percent) / 100,
                  line_rate * 0.003)
          << percent << " " << bytes;
    }
  }
  const storm_rate slow = storm_rate::of(flood_limit::percent_hundredths(500), 100, true, hz);
  const storm_rate fast = storm_rate::of(flood_limit::percent_hundredths(500), 100'000, true, hz);
  EXPECT_NEAR(static_cast<double>(slow.cost(1000)) / static_cast<double>(fast.cost(1000)), 1000, 5);
}

TEST(storm, a_share_of_a_link_that_is_not_known) {
  const flood_limit share = flood_limit::percent_hundredths(10'000);
  EXPECT_EQ(storm_rate::of(share, 0, true, hz).between, 0u) << "no limit";
  storm_bucket bucket;
  EXPECT_FALSE(bucket.take(storm_rate::of(share, 0, false, hz), 60, second)) << "not yet";
}

TEST(storm, block_lets_nothing_pass) {
  const storm_rate rate = storm_rate::of(flood_limit::block(), 10'000, true, hz);
  storm_bucket bucket;
  bucket.fill(second);
  for (const std::uint64_t at : {second, second + 1, 100 * second, second / 2})
    for (const std::uint64_t bytes : {0u, 60u, 9000u}) {
      EXPECT_FALSE(bucket.would_take(rate, bytes, at));
      EXPECT_FALSE(bucket.take(rate, bytes, at));
    }
}

// The longest frame passes at the slowest limit, and nothing overflows on the way.
TEST(storm, the_slowest_and_the_fastest_limit) {
  for (const double clock : {1e6, 1e9, 5e9})
    for (const std::uint64_t per_second : {flood_limit::bits_min, flood_limit::bits_max}) {
      const storm_rate rate = storm_rate::of(flood_limit::bits(per_second), 0, false, clock);
      storm_bucket bucket;
      bucket.fill(1000);
      EXPECT_TRUE(bucket.take(rate, 9622, 1000)) << clock << " " << per_second;
      const double wanted = 65'535.0 * 8 / static_cast<double>(per_second) * clock * 16;
      EXPECT_NEAR(static_cast<double>(rate.cost(65'535)) / wanted, 1, 0.01 + 2 / wanted)
          << clock << " " << per_second;
    }
}

TEST(storm, no_limit) {
  EXPECT_EQ(storm_rate::of(flood_limit(), 10'000, true, hz).between, 0u);
  EXPECT_EQ(storm_rate::of(0, hz).between, 0u);
  EXPECT_GE(storm_rate::of(UINT64_MAX, hz).between, 1u);
}

}  // namespace
}  // namespace coua::dp
