// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/flows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "bench/rules/five_tuple_set.h"
#include "bench/rules/overlap.h"
#include "bench/rules/wide_set.h"

namespace coua::bench {
namespace {

five_tuple_set five_tuples(const seed_figures& figures, bool with_default = true) {
  return std::move(*make_five_tuple_set(figures, {500, 3, with_default}));
}

template <typename Rule>
flow_list make(const rule_set<Rule>& set, const flow_params& params) {
  result<flow_list> made = make_flows(set, params);
  EXPECT_TRUE(made) << made.error().message();
  return std::move(*made);
}

template <typename Rule>
std::size_t linear_search(const rule_set<Rule>& set, const flow_list& flows, std::uint64_t i) {
  typename Rule::key_type key;
  get_key(flows.key(i), key);
  return static_cast<std::size_t>(std::count_if(
      set.rules.begin(), set.rules.end(), [&](const Rule& rule) { return rule.matches(key); }));
}

std::set<std::string> different_keys(const flow_list& flows) {
  std::set<std::string> out;
  for (std::uint64_t i = 0; i < flows.size(); ++i) {
    out.insert({reinterpret_cast<const char*>(flows.key(i)), flows.key_bytes()});
  }
  return out;
}

template <typename Rule>
void expect_all_match(const rule_set<Rule>& set) {
  const flow_list flows = make(set, {3000, 0, 1});
  ASSERT_EQ(flows.size(), 3000u);
  EXPECT_EQ(different_keys(flows).size(), 3000u);
  std::set<std::uint32_t> used;
  for (std::uint64_t i = 0; i < flows.size(); ++i) {
    typename Rule::key_type key;
    get_key(flows.key(i), key);
    ASSERT_LT(flows.rule(i), set.rules.size());
    EXPECT_TRUE(set.rules[flows.rule(i)].matches(key));
    EXPECT_GE(linear_search(set, flows, i), 1u);
    used.insert(flows.rule(i));
  }
  EXPECT_GT(used.size(), set.rules.size() * 9 / 10);  // of 500, 6 flows each
}

TEST(flows, each_matches_the_rule_that_it_was_made_for) {
  for (const seed_figures* each : {&acl_figures(), &fw_figures(), &ipc_figures()}) {
    SCOPED_TRACE(each->name);
    expect_all_match(five_tuples(*each));
  }
  expect_all_match(*make_wide_set({500, 3, true}));
}

template <typename Rule>
void expect_misses(const rule_set<Rule>& set) {
  for (const double share : {0.0, 0.25, 1.0}) {
    const flow_list flows = make(set, {2000, share, 1});
    std::size_t misses = 0;
    for (std::uint64_t i = 0; i < flows.size(); ++i) {
      EXPECT_EQ(flows.rule(i) == no_rule, linear_search(set, flows, i) == 0);
      misses += flows.rule(i) == no_rule ? 1 : 0;
    }
    EXPECT_EQ(misses, static_cast<std::size_t>(share * 2000));
  }
}

TEST(flows, misses_match_no_rule_and_are_as_many_as_asked) {
  expect_misses(five_tuples(acl_figures(), false));
  expect_misses(five_tuples(ipc_figures(), false));
  expect_misses(*make_wide_set({500, 3, false}));
}

TEST(flows, what_cannot_be_had_is_refused) {
  const five_tuple_set with_default = five_tuples(acl_figures());
  EXPECT_EQ(make_flows(with_default, {10, 0.5, 1}).error().code, errc::invalid);
  EXPECT_EQ(make_flows(with_default, {0, 0, 1}).error().code, errc::invalid);
  EXPECT_EQ(make_flows(with_default, {most_flows + 1, 0, 1}).error().code, errc::invalid);
  EXPECT_EQ(make_flows(with_default, {10, 1.5, 1}).error().code, errc::invalid);

  five_tuple_set narrow;  // four packets
  five_tuple_rule& rule = narrow.rules.emplace_back();
  rule.source.bits = rule.destination.bits = 32;
  rule.source_port = rule.destination_port = {1, 2};
  rule.protocol = 6;
  EXPECT_EQ(different_keys(make(narrow, {4, 0, 1})).size(), 4u);
  const result<flow_list> more = make_flows(narrow, {5, 0, 1});
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, errc::no_room);
  EXPECT_EQ(more.error().message(), "5 flows: only 4 were found");
}

TEST(flows, a_seed_makes_the_same_flows_again) {
  const five_tuple_set set = five_tuples(fw_figures());
  const auto bytes = [&](std::uint64_t seed) {
    const flow_list flows = make(set, {100, 0, seed});
    return std::vector<std::uint8_t>(flows.keys(), flows.keys() + 100 * flows.key_bytes());
  };
  EXPECT_EQ(bytes(1), bytes(1));
  EXPECT_NE(bytes(1), bytes(2));
}

void expect_overlap(const five_tuple_set& set) {
  const flow_list flows = make(set, {1000, 0, 5});
  std::size_t by_many = 0, all = 0;
  for (std::uint64_t i = 0; i < flows.size(); ++i) {
    const std::size_t found = linear_search(set, flows, i) - (set.ends_in_default ? 1 : 0);
    by_many += found > 1 ? 1 : 0;
    all += found;
  }
  const result<overlap> counted = sample_overlap(set, 1000, 5);
  ASSERT_TRUE(counted);
  EXPECT_DOUBLE_EQ(counted->by_many, static_cast<double>(by_many) / 1000);
  EXPECT_DOUBLE_EQ(counted->mean, static_cast<double>(all) / 1000);
  EXPECT_GT(by_many, 100u);
  EXPECT_LT(by_many, 990u);
}

TEST(flows, overlap_is_what_a_linear_search_counts_without_the_default_rule) {
  expect_overlap(five_tuples(fw_figures(), true));
  expect_overlap(five_tuples(fw_figures(), false));
}

TEST(trace, without_locality_draws_all_flows_alike) {
  const auto trace = draw_trace(10, 100'000, {}, 1);
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->size(), 100'000u);
  std::map<std::uint32_t, int> counts;
  for (const std::uint32_t flow : *trace) ++counts[flow];
  ASSERT_EQ(counts.size(), 10u);
  for (const auto& [flow, count] : counts) EXPECT_NEAR(count, 10'000, 500);
  EXPECT_EQ(*draw_trace(10, 50, {}, 1), *draw_trace(10, 50, {}, 1));
  EXPECT_NE(*draw_trace(10, 50, {}, 1), *draw_trace(10, 50, {}, 2));
}

TEST(trace, bursts_have_the_pareto_distribution) {
  // Longer than n with the probability (scale / n) ^ shape; of a million flows, two bursts of one
  // hardly ever follow each other.
  const auto trace = draw_trace(1'000'000, 1'000'000, {2, 3}, 1);
  ASSERT_TRUE(trace);
  std::vector<std::size_t> lengths = {0};
  for (std::size_t i = 0; i < trace->size(); ++i) {
    if (i > 0 && (*trace)[i] != (*trace)[i - 1]) lengths.push_back(0);
    ++lengths.back();
  }
  lengths.pop_back();  // cut off
  for (const double n : {3.0, 4.0, 6.0, 12.0, 30.0}) {
    const auto longer = std::count_if(lengths.begin(), lengths.end(), [&](std::size_t each) {
      return static_cast<double>(each) > n;
    });
    EXPECT_NEAR(static_cast<double>(longer) / static_cast<double>(lengths.size()), 9 / (n * n),
                0.01)
        << n;
  }
}

TEST(trace, refuses_numbers_without_meaning) {
  EXPECT_EQ(draw_trace(0, 10, {}, 1).error().code, errc::invalid);
  EXPECT_EQ(draw_trace(10, 10, {0, 1}, 1).error().code, errc::invalid);
  EXPECT_EQ(draw_trace(10, 10, {1, -1}, 1).error().code, errc::invalid);
}

}  // namespace
}  // namespace coua::bench
