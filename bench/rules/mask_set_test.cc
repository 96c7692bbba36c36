// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/mask_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "bench/rules/ternary.h"

namespace coua::bench {
namespace {

five_tuple_set make_masks(std::uint64_t masks) {
  result<five_tuple_set> made = make_mask_set(masks);
  EXPECT_TRUE(made) << made.error().message();
  return std::move(*made);
}

bool overlap(const ternary_set& set, std::size_t a, std::size_t b) {
  bool differ = false;
  for (std::size_t i = 0; i < set.key_bytes; ++i) {
    const ternary_entry &one = set.entries[a], &other = set.entries[b];
    differ = differ || ((one.key[i] ^ other.key[i]) & one.mask[i] & other.mask[i]) != 0;
  }
  return !differ;
}

TEST(mask_set, every_rule_has_a_mask_of_its_own_and_matches_no_packet_of_another) {
  for (const std::uint64_t masks : {1, 2, 10, 20, 30, 32, 33, 512, 513, 4096}) {
    const five_tuple_set set = make_masks(masks);
    EXPECT_EQ(set.rules.size(), masks);
    EXPECT_FALSE(set.ends_in_default);
    const ternary_set entries = expand(set);
    EXPECT_EQ(entries.entries.size(), masks);  // ranges that are one prefix
    EXPECT_EQ(distinct_masks(entries), masks);
    std::size_t overlaps = 0;
    for (std::size_t i = 0; i < masks; ++i) {
      EXPECT_EQ(set.rules[i].priority, 1u);
      EXPECT_EQ(set.rules[i].number, i);
      for (std::size_t j = 0; j < i; ++j) overlaps += overlap(entries, i, j) ? 1 : 0;
    }
    EXPECT_EQ(overlaps, 0u) << masks;
  }
}

TEST(mask_set, up_to_32_masks_differ_in_the_bits_of_the_source_address) {
  const five_tuple_set set = make_masks(20);
  for (unsigned i = 0; i < 20; ++i) {
    const five_tuple_rule& rule = set.rules[i];
    EXPECT_EQ(rule.source.bits, i + 1);
    EXPECT_EQ(rule.destination.bits, 0u);
    EXPECT_EQ(rule.source_port, port_range{});
    EXPECT_EQ(rule.destination_port, port_range{});
    EXPECT_EQ(rule.protocol, i % 2 == 0 ? 6 : 17);
  }
}

TEST(mask_set, more_masks_differ_in_the_bits_of_the_ports) {
  const five_tuple_set set = make_masks(4096);
  const five_tuple_rule& rule = set.rules[5 + 32 * 9 + 512 * 3];
  EXPECT_EQ(rule.source.bits, 6u);
  EXPECT_EQ(rule.source_port, (port_range{0xff80, 0xffbf}));       // 1111111110, 10 bits
  EXPECT_EQ(rule.destination_port, (port_range{0xe000, 0xefff}));  // 1110, 4 bits
}

TEST(mask_set, flows_are_shared_equally_and_match_their_rule_alone) {
  for (const std::uint64_t masks : {1, 20, 600}) {
    const five_tuple_set set = make_masks(masks);
    const result<flow_list> flows = make_mask_flows(set, masks * 7);
    ASSERT_TRUE(flows);
    std::vector<int> counts(masks);
    std::set<std::uint32_t> destinations;
    for (std::uint64_t i = 0; i < flows->size(); ++i) {
      five_tuple key;
      get_key(flows->key(i), key);
      for (const five_tuple_rule& rule : set.rules) {
        EXPECT_EQ(rule.matches(key), rule.number == flows->rule(i));
      }
      ++counts[flows->rule(i)];
      destinations.insert(key.ip_dst);
    }
    EXPECT_EQ(destinations.size(), flows->size());
    EXPECT_TRUE(std::all_of(counts.begin(), counts.end(), [](int count) { return count == 7; }));
  }
}

TEST(mask_set, misses_match_no_rule) {
  const five_tuple_set set = make_masks(600);
  const result<flow_list> flows = make_mask_flows(set, 6000, 20);
  ASSERT_TRUE(flows);
  unsigned n_missed = 0;
  for (std::uint64_t i = 0; i < flows->size(); ++i) {
    five_tuple key;
    get_key(flows->key(i), key);
    bool any = false;
    for (const five_tuple_rule& rule : set.rules) any = any || rule.matches(key);
    EXPECT_EQ(any, flows->rule(i) != no_rule);
    n_missed += !any;
  }
  EXPECT_NEAR(n_missed, 1200, 60);
}

TEST(mask_set, refuses_what_it_cannot_make) {
  EXPECT_EQ(make_mask_set(0).error().code, errc::invalid);
  EXPECT_EQ(make_mask_set(4097).error().message(), "4097 masks: must be 1 to 4096");
  EXPECT_EQ(make_mask_flows(make_masks(2), 0).error().code, errc::invalid);
}

}  // namespace
}  // namespace coua::bench
