// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/cold_start_course.h"

#include <gtest/gtest.h>

namespace coua::bench {
namespace {

using looks = std::vector<snapshot>;

TEST(cold_start, an_end_lies_between_two_looks) {
  const snapshot made = at_end({1, 100, 10}, {3, 300, 30}, 1.5);
  EXPECT_NEAR(made.seconds, 1.5, 1e-9);
  EXPECT_NEAR(made.packets, 150, 1e-9);
  EXPECT_NEAR(made.misses, 15, 1e-9);
}

TEST(cold_start, looks_at_one_moment_are_no_division_by_0) {
  EXPECT_NEAR(at_end({2, 100, 10}, {2, 120, 12}, 2).packets, 120, 1e-9);
}

TEST(cold_start, each_end_is_between_the_looks_around_it) {
  // The second answer took longer than a window, so two ends lie before it.
  const looks made = at_ends({{0, 0, 0}, {1.1, 110, 0}, {3.1, 510, 0}, {3.2, 520, 0}}, 3, 1);
  ASSERT_EQ(made.size(), 4U);
  EXPECT_EQ(made[0].packets, 0);
  EXPECT_NEAR(made[1].packets, 100, 1e-9);
  EXPECT_NEAR(made[2].packets, 290, 1e-9);
  EXPECT_NEAR(made[3].packets, 490, 1e-9);
  EXPECT_NEAR(made[3].seconds, 3, 1e-9);
}

TEST(cold_start, a_look_at_the_very_end_is_its_end) {
  const looks made = at_ends({{0, 0, 0}, {1, 7, 3}, {2, 9, 4}}, 2, 1);
  EXPECT_EQ(made[1].packets, 7);
  EXPECT_EQ(made[2].packets, 9);
  EXPECT_EQ(made[2].misses, 4);
}

TEST(cold_start, rows_are_medians_of_the_turns_and_ratios_of_the_same_turn) {
  const cold_course ours = {"coua",
                            {{{}, {1, 10e6, 0}, {2, 30e6, 0}},
                             {{}, {1, 20e6, 0}, {2, 60e6, 0}},
                             {{}, {1, 90e6, 0}, {2, 90e6, 0}}},
                            {1.9, 2.0, 1.5}};
  const cold_course peer = {"ovs/lifted",
                            {{{}, {1, 5e6, 7}, {2, 10e6, 7}},
                             {{}, {1, 2e6, 9}, {2, 15e6, 10}},
                             {{}, {1, 9e6, 8}, {2, 45e6, 20}}},
                            {2, 2, 2}};
  const auto made = make_rows(ours, {peer}, {{"flows", 5}}, 1);
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0].params, json({{"flows", 5}, {"second", 1.0}}));
  EXPECT_NEAR(*made[0].mops, 20, 1e-9);
  EXPECT_NEAR(*made[0].spread, 0.5, 1e-9);
  EXPECT_NEAR(*made[1].mops, 20, 1e-9) << "the middle of 20, 40 and 0";
  EXPECT_NEAR(made[1].more["packets"].get<double>(), 60e6, 1);
  EXPECT_NEAR(made[0].more["ratio_to_ovs_lifted"].get<double>(), 10, 1e-9) << "of 2, 10 and 10";
  EXPECT_NEAR(made[1].more["ratio_to_ovs_lifted"].get<double>(), 3, 1e-9) << "of 3, 4 and 2";
  EXPECT_FALSE(made[0].more.contains("cpu_seconds"));
  EXPECT_NEAR(made[1].more["cpu_seconds"].get<double>(), 1.9, 1e-9);
  EXPECT_FALSE(made[1].more.contains("misses"));
  EXPECT_NEAR(make_rows(peer, {peer}, {}, 1)[1].more["misses"].get<double>(), 1, 1e-9);
}

TEST(cold_start, one_turn_has_no_spread_and_nothing_no_ratio) {
  const cold_course ours = {"coua", {{{}, {1, 10e6, 0}}}, {1}},
                    peer = {"ovs", {{{}, {1, 0, 0}}}, {1}};
  const auto made = make_rows(ours, {peer}, {}, 1);
  EXPECT_FALSE(made[0].spread);
  EXPECT_FALSE(made[0].more.contains("ratio_to_ovs"));
  EXPECT_EQ(*make_rows(peer, {peer}, {}, 1)[0].mops, 0);
}

}  // namespace
}  // namespace coua::bench
