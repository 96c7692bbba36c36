// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/burst_times.h"

#include <gtest/gtest.h>

namespace coua::pipeline {
namespace {

void add(burst_times& to, std::uint64_t n_packets, std::uint64_t n_cycles) {
  to.of(burst_times::kind_of(n_packets, n_cycles)) += {1, n_packets, n_cycles};
}

TEST(burst_times, leave_out_a_burst_that_was_interrupted) {
  burst_times times;
  for (unsigned i = 0; i < 75; ++i) add(times, 1, 900 + i);
  add(times, 1, 4'400'000);
  EXPECT_EQ(times.all().bursts, 76U);
  EXPECT_EQ(times.usual().bursts, 75U);
  EXPECT_EQ(times.usual().packets, 75U);
  EXPECT_EQ(times.usual().cycles, 75 * 900 + 74 * 75 / 2U);
}

TEST(burst_times, keep_short_bursts_beside_full_ones) {
  burst_times times;
  for (unsigned i = 0; i < 100; ++i) add(times, 32, 32 * 70);
  for (unsigned i = 0; i < 20; ++i) add(times, 1, 70 * 8);
  EXPECT_EQ(times.usual().bursts, 120U);
  add(times, 32, 32 * 70 * 65);
  EXPECT_EQ(times.usual().bursts, 120U);
}

TEST(burst_times, are_told_since_another_moment) {
  burst_times before;
  for (unsigned i = 0; i < 9; ++i) add(before, 1, 5'000'000);
  burst_times after = before;
  EXPECT_EQ(after.since(before).usual().bursts, 0U);
  add(after, 4, 400);
  EXPECT_EQ(after.since(before).usual().cycles, 400U);
  after += after;
  EXPECT_EQ(after.all().bursts, 20U);
}

TEST(burst_times, have_a_kind_for_whatever_a_clock_says) {
  EXPECT_EQ(burst_times::kind_of(32, 0), 0U);
  EXPECT_EQ(burst_times::kind_of(0, 0), 0U);
  EXPECT_EQ(burst_times::kind_of(1, UINT64_MAX), burst_times::n_kinds - 1);
}

}  // namespace
}  // namespace coua::pipeline
