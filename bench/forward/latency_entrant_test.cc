// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/latency_entrant.h"

#include <gtest/gtest.h>

namespace coua::bench {
namespace {

constexpr paced_source::flood_result peak{2, 0.3};

/// A window of 0.1 s in which packets took these times, ascending, and others never came back.
paced_result window(std::vector<float> us, std::uint64_t lost = 0) {
  paced_result made;
  made.seconds = 0.1;
  made.received = us.size();
  made.sent = us.size() + lost;
  made.us = std::move(us);
  return made;
}

double number(const row& of, const char* field) { return of.more.at(field).get<double>(); }

TEST(latency_entrant, percentiles_are_of_all_windows_and_the_mean_of_the_median_one) {
  latency_entrant one("coua");
  // A hundred packets of which 97 take 1 us; the other three came in one window.
  EXPECT_TRUE(one.add(peak, 1, window(std::vector<float>(49, 1))));
  EXPECT_TRUE(one.add(peak, 1, window(std::vector<float>(48, 1))));
  EXPECT_TRUE(one.add(peak, 1, window({100, 100, 1000})));
  const row made = one.make_row({{"flows", 5}}, {});
  EXPECT_EQ(made.name, "coua");
  EXPECT_EQ(made.params, json({{"flows", 5}}));
  EXPECT_NEAR(number(made, "mean_us"), 1, 1e-6);
  EXPECT_NEAR(number(made, "p50_us"), 1, 0.01);
  EXPECT_NEAR(number(made, "p99_us"), 100, 1);
  EXPECT_NEAR(number(made, "longest_us"), 1000, 1e-6);
  EXPECT_NEAR(number(made, "window_p99_us"), 1, 1e-6) << "the median window knows nothing of it";
  EXPECT_NEAR(number(made, "offered_mops"), 1, 1e-9);
  EXPECT_NEAR(number(made, "peak_mops"), 2, 1e-9);
  EXPECT_NEAR(*made.mops, 480e-6, 1e-9);
}

TEST(latency_entrant, a_window_in_which_nothing_came_back_has_no_times) {
  latency_entrant one("ovs");
  EXPECT_FALSE(one.add(peak, 1, window({}, 10)));
  EXPECT_FALSE(one.has_times());
  EXPECT_TRUE(one.add(peak, 1, window(std::vector<float>(30, 5))));
  EXPECT_TRUE(one.has_times());
  const row made = one.make_row(json::object(), {});
  EXPECT_NEAR(one.mean_us(), 5, 1e-6) << "and not the middle of 0 and 5";
  EXPECT_NEAR(number(made, "p50_us"), 5, 0.05);
  EXPECT_NEAR(number(made, "lost"), 0.25, 1e-9) << "but what was sent then is lost";
  EXPECT_EQ(made.more.at("empty_windows"), 1);
}

TEST(latency_entrant, a_loss_above_a_thousandth_is_marked) {
  latency_entrant some("ovs"), few("ovs");
  some.add(peak, 1, window(std::vector<float>(1000, 1), 2));
  EXPECT_EQ(some.make_row(json::object(), {}).more.at("lossy"), true);
  few.add(peak, 1, window(std::vector<float>(1000, 1), 1));
  few.add(peak, 1, window(std::vector<float>(1000, 1)));
  EXPECT_FALSE(few.make_row(json::object(), {}).more.contains("lossy"));
  paced_result more = window(std::vector<float>(10, 1));
  more.sent = 8;  // two of a window before
  latency_entrant late("ovs");
  late.add(peak, 1, more);
  EXPECT_EQ(number(late.make_row(json::object(), {}), "lost"), 0);
}

TEST(latency_entrant, it_says_who_was_the_limit_of_the_peak) {
  latency_entrant of_switch("a"), of_source("b");
  of_switch.add({1, 0.5}, 0.5, window({1}));
  of_source.add({1, 0.001}, 0.5, window({1}));
  EXPECT_EQ(of_switch.make_row(json::object(), {}).more.at("peak_of"), "switch");
  EXPECT_EQ(of_source.make_row(json::object(), {}).more.at("peak_of"), "source");
}

TEST(latency_entrant, shares_are_of_all_windows) {
  latency_entrant one("coua");
  paced_result first = window(std::vector<float>(30, 1)),
               second = window(std::vector<float>(10, 1));
  first.late = 4;
  second.refused = 25;
  second.skipped = 35;
  one.add(peak, 1, first);
  one.add(peak, 1, second);
  const row made = one.make_row(json::object(), {});
  EXPECT_NEAR(number(made, "late"), 0.1, 1e-9);
  EXPECT_NEAR(number(made, "not_sent"), 0.6, 1e-9);
}

TEST(latency_entrant, the_ratio_to_a_peer_without_times_is_absent) {
  latency_entrant ours("coua");
  std::vector<latency_entrant> peers;
  peers.emplace_back("ovs");
  peers.emplace_back("ovs/smc");
  ours.add(peak, 1, window({2, 2}));
  peers[0].add(peak, 1, window({}, 3));
  peers[1].add(peak, 1, window({8, 8}));
  const row made = ours.make_row(json::object(), peers);
  EXPECT_FALSE(made.more.contains("mean_ratio_to_ovs"));
  EXPECT_NEAR(number(made, "mean_ratio_to_ovs_smc"), 0.25, 1e-6);
}

TEST(latency_entrant, the_datapath_takes_what_raw_io_at_the_same_rate_does_not) {
  latency_entrant ours("coua");
  std::vector<latency_entrant> peers;
  peers.emplace_back("ovs");
  peers.emplace_back("ovs/smc");
  ours.add(peak, 1, window({2.5, 3.5}));
  ours.add(peak, 1, window({9, 9}));
  ours.add(peak, 1, window({1, 1}));
  EXPECT_FALSE(ours.make_row(json::object(), peers).more.contains("datapath_us"));
  ours.add_raw(window({1, 2, 3}));
  ours.add_raw(window({7}));
  ours.add_raw(window({}));
  ours.add_raw(window({1}));
  for (latency_entrant& each : peers) each.add(peak, 1, window({5}));
  EXPECT_FALSE(ours.make_row(json::object(), peers).more.contains("datapath_ratio_to_ovs"));
  peers[0].add_raw(window({1}));
  peers[1].add_raw(window({6}));  // it cannot be: the machine was slower meanwhile
  const row made = ours.make_row(json::object(), peers);
  EXPECT_NEAR(number(made, "raw_io_us"), 2, 1e-6);
  EXPECT_NEAR(number(made, "datapath_us"), 1, 1e-6);
  EXPECT_NEAR(number(made, "datapath_ratio_to_ovs"), 0.25, 1e-6);
  EXPECT_FALSE(made.more.contains("datapath_ratio_to_ovs_smc"));
  EXPECT_NEAR(number(peers[1].make_row(json::object(), {}), "datapath_us"), -1, 1e-6);
}

}  // namespace
}  // namespace coua::bench
