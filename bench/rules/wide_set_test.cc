// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/wide_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "bench/rules/rules_text.h"

namespace coua::bench {
namespace {

wide_set make_wide(std::uint64_t rules, std::uint64_t seed = 1, bool with_default = true) {
  result<wide_set> made = make_wide_set({rules, seed, with_default});
  EXPECT_TRUE(made) << made.error().message();
  return std::move(*made);
}

TEST(wide_set, fields_are_matched_together_as_often_as_published) {
  std::map<std::uint16_t, double> made;
  const wide_set set = make_wide(30'000);
  for (const wide_rule& rule : set.rules) made[fields_of(rule)] += 1.0 / 30'000;
  double all = 0;
  for (const field_set_share& each : wide_field_sets()) {
    EXPECT_NEAR(made[each.fields], each.share / 10'000.0, 0.01) << each.fields;
    all += made[each.fields];
  }
  EXPECT_NEAR(all, 1, 0.0001);  // nothing else but the default rule
  EXPECT_EQ(made.size(), wide_field_sets().size() + 1);
}

TEST(wide_set, shares_of_values_are_as_published) {
  std::map<std::uint64_t, double> protocols, halves, lengths;
  double with_protocol = 0, with_ethernet = 0, with_source = 0;
  for (const wide_rule& rule : make_wide(30'000).rules) {
    if (rule[wide_field::ip_proto].bits > 0 && rule[wide_field::tp_dst].bits == 0) {
      ++protocols[rule[wide_field::ip_proto].value];
      ++with_protocol;
    }
    if (rule[wide_field::eth_dst].bits > 0) {
      ++halves[rule[wide_field::eth_dst].value >> 24];
      ++with_ethernet;
    }
    if (rule[wide_field::ip_src].bits > 0) {
      ++lengths[rule[wide_field::ip_src].bits];
      ++with_source;
    }
  }
  EXPECT_NEAR(protocols[6] / with_protocol, 0.36, 0.02);
  EXPECT_NEAR(protocols[17] / with_protocol, 0.35, 0.02);
  EXPECT_NEAR(protocols[1] / with_protocol, 0.28, 0.02);
  EXPECT_NEAR(halves[0xfa163e] / with_ethernet, 0.9918, 0.002);
  EXPECT_NEAR(halves[0x010000] / with_ethernet, 0.0057, 0.002);
  EXPECT_NEAR(lengths[32] / with_source, 0.999, 0.0008);
}

TEST(wide_set, rules_are_ones_that_a_switch_takes) {
  for (const wide_rule& rule : make_wide(20'000).rules) {
    const auto matched = [&](wide_field field) { return rule[field].bits > 0; };
    for (std::size_t i = 0; i < n_wide_fields; ++i) {
      const unsigned width = wide_layout::fields[i].bits;
      EXPECT_EQ(rule.fields[i].value & ~prefix_mask(width, rule.fields[i].bits), 0u);
    }
    if (matched(wide_field::ip_src) || matched(wide_field::ip_dst) ||
        matched(wide_field::ip_proto)) {
      EXPECT_EQ(rule[wide_field::eth_type], (field_match{0x0800, 16}));
    }
    if (matched(wide_field::tp_src) || matched(wide_field::tp_dst)) {
      const std::uint64_t protocol = rule[wide_field::ip_proto].value;
      EXPECT_TRUE(protocol == 6 || protocol == 17) << protocol;
    }
  }
}

TEST(wide_set, a_host_has_one_ethernet_address) {
  std::map<std::uint64_t, std::set<std::uint64_t>> addresses;
  for (const wide_rule& rule : make_wide(20'000).rules) {
    if (rule[wide_field::ip_dst].bits == 32 && rule[wide_field::eth_dst].bits > 0) {
      addresses[rule[wide_field::ip_dst].value].insert(rule[wide_field::eth_dst].value);
    }
  }
  EXPECT_GT(addresses.size(), 100u);
  for (const auto& [ip, ethernet] : addresses) EXPECT_EQ(ethernet.size(), 1u);
}

TEST(wide_set, no_rule_is_there_twice_or_behind_one_that_contains_it) {
  const std::vector<wide_rule> rules = make_wide(2000).rules;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    EXPECT_EQ(rules[i].number, i);
    EXPECT_EQ(rules[i].priority, rules.size() - i);
    for (std::size_t j = i + 1; j < rules.size(); ++j) {
      ASSERT_FALSE(rules[i].contains(rules[j])) << i << " contains " << j;
    }
  }
  EXPECT_EQ(fields_of(rules.back()), 0);
}

TEST(wide_set, seeds_sizes_and_refusals) {
  EXPECT_EQ(to_text(make_wide(500, 7)), to_text(make_wide(500, 7)));
  EXPECT_NE(to_text(make_wide(500, 7)), to_text(make_wide(500, 8)));
  for (const std::uint64_t rules : {1, 2, 10, 20'000}) {
    const wide_set set = make_wide(rules);
    EXPECT_EQ(set.rules.size(), rules);
    EXPECT_EQ(set.ends_in_default, rules > 1);
  }
  EXPECT_FALSE(make_wide(100, 1, false).ends_in_default);
  EXPECT_EQ(make_wide_set({0, 1, true}).error().code, errc::invalid);
}

TEST(wide_set, text_is_in_the_words_of_ovs_ofctl) {
  wide_set set;
  wide_rule rule;
  rule.priority = 9;
  rule.set_exactly(wide_field::eth_dst, 0xfa163e010203);
  rule.set_exactly(wide_field::eth_type, 0x0800);
  rule[wide_field::ip_src] = {0x0a000000, 8};
  rule.set_exactly(wide_field::ip_dst, 0x0a010203);
  rule.set_exactly(wide_field::ip_proto, 6);
  rule[wide_field::tp_dst] = {0x8000, 1};
  set.rules = {rule, {}};
  EXPECT_EQ(to_text(set),
            "priority=9, dl_dst=fa:16:3e:01:02:03, dl_type=0x800, nw_src=10.0.0.0/8, "
            "nw_dst=10.1.2.3, nw_proto=6, tp_dst=0x8000/0x8000\npriority=0\n");
}

}  // namespace
}  // namespace coua::bench
