// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/choose_template.h"

#include <gtest/gtest.h>

#include <random>

#include "net/wire.h"
#include "pipeline/compiler/test_template_rules.h"

namespace coua::pipeline {
namespace {

using namespace test;

TEST(prefix_length, of_masks) {
  EXPECT_EQ(prefix_length(0xffff'ff00, 32), 24U);
  EXPECT_EQ(prefix_length(0xffff'ffff, 32), 32U);
  EXPECT_EQ(prefix_length(0x8000'0000, 32), 1U);
  EXPECT_EQ(prefix_length(0xff00'ff00, 32), std::nullopt);
  EXPECT_EQ(prefix_length(0x0000'ffff, 32), std::nullopt);
  EXPECT_EQ(prefix_length(ones(128), 128), 128U);
  EXPECT_EQ(prefix_length(ones(128) << 63, 128), 65U);
}

TEST(choose_template, a_handful_of_any_rules_is_direct) {
  EXPECT_EQ(choice_of({}).which, table_template::direct);
  std::vector<rule> rules = {mac_rule(1), route(1, 32, 7), catch_all(200)};
  EXPECT_EQ(choice_of(rules).which, table_template::direct);
  for (std::uint64_t mac = 2; rules.size() < direct_rules_max; ++mac)
    rules.push_back(mac_rule(mac));
  EXPECT_EQ(choice_of(rules).which, table_template::direct);
  rules.push_back(mac_rule(77));
  EXPECT_EQ(choice_of(rules).which, table_template::classifier);
  EXPECT_EQ(why_not(table_template::direct, shape_of(rules), no_mixed_tables),
            "more than 16 rules (17)");
}

TEST(choose_template, up_to_48_rules_are_direct_where_it_would_be_a_classifier) {
  std::vector<rule> rules;
  for (std::uint64_t n = 0; n < direct_long_max; ++n) rules.push_back(mixed_rule(n));
  EXPECT_EQ(choice_of(rules, long_ones).which, table_template::direct);
  EXPECT_TRUE(choice_of(rules, long_ones).is_long);
  EXPECT_EQ(why_not(table_template::direct, shape_of(rules), long_ones), "");
  rules.push_back(mixed_rule(77));
  EXPECT_EQ(choice_of(rules, long_ones).which, table_template::classifier);
  EXPECT_EQ(why_not(table_template::direct, shape_of(rules), long_ones), "more than 48 rules (49)");
  // What a cheaper one serves is its.
  std::vector<rule> alike, routes;
  for (std::uint32_t n = 0; n < 17; ++n) {
    alike.push_back(mac_rule(n));
    routes.push_back(route(n << 24, 8 + n % 2, static_cast<std::uint16_t>(8 + n % 2)));
  }
  EXPECT_EQ(choice_of(alike, long_ones).which, table_template::exact);
  EXPECT_EQ(choice_of(routes, long_ones).which, table_template::lpm);
  EXPECT_EQ(why_not(table_template::direct, shape_of(routes)), "more than 16 rules (17)");
}

// A rule on VLAN bits without the present one asks for packets with and without a tag.
TEST(choose_template, rules_that_take_two_rows_count_twice) {
  std::vector<rule> rules;
  for (std::uint64_t n = 0; n < 24; ++n) {
    rules.push_back(rule_of(where({exact(field::eth_src, n), {field::vlan_vid, n & 1, 1}})));
  }
  EXPECT_EQ(choice_of(rules, long_ones).which, table_template::exact);
  rules.back() = rule_of(where({exact(field::eth_dst, 1), {field::vlan_vid, 0, 1}}));
  EXPECT_EQ(choice_of(rules, long_ones).which, table_template::direct);
  rules.push_back(mac_rule(1));
  EXPECT_EQ(choice_of(rules, long_ones).which, table_template::classifier);
  EXPECT_EQ(why_not(table_template::direct, shape_of(rules)),
            "more than 48 rows, two of some rules (49)");
}

TEST(choose_template, one_mask_is_exact_with_rules_for_every_packet_below) {
  std::vector<rule> rules;
  for (std::uint64_t mac = 0; mac < 50; ++mac) rules.push_back(mac_rule(mac, 10));
  EXPECT_EQ(choice_of(rules).which, table_template::exact);
  rules.push_back(catch_all(0));
  rules.push_back(catch_all(9));
  EXPECT_EQ(choice_of(rules).which, table_template::exact);
  // The same bits at another priority.
  rules.push_back(mac_rule(3, 99));
  EXPECT_EQ(choice_of(rules).which, table_template::exact);
  // Of one priority: where both match, the one that was added first counts.
  rules.push_back(catch_all(10));
  EXPECT_EQ(choice_of(rules).which, table_template::classifier);
  EXPECT_EQ(why_not(table_template::exact, shape_of(rules)),
            "a rule that matches every packet is not below all others");
}

TEST(choose_template, masked_fields_are_exact_if_all_have_the_mask) {
  std::vector<rule> rules;
  for (std::uint32_t net = 0; net < 50; ++net) rules.push_back(route(net << 8, 24, 5));
  EXPECT_EQ(choice_of(rules).which, table_template::exact);
  rules.push_back(route(1, 32, 6));
  const template_choice made = choice_of(rules);
  EXPECT_EQ(made.which, table_template::lpm);
  EXPECT_EQ(made.prefix_field, field::ipv4_dst);
  EXPECT_EQ(why_not(table_template::exact, shape_of(rules), no_mixed_tables),
            "rules take 2 different sets of bits");
}

TEST(choose_template, prefixes_are_lpm_when_longer_ones_are_above) {
  for (const field which : {field::ipv4_src, field::ipv4_dst}) {
    std::vector<rule> rules;
    for (std::uint32_t i = 0; i < 60; ++i) {
      const unsigned length = 8 + i % 25;
      rules.push_back(route(i << 24, length, static_cast<std::uint16_t>(100 + length), which));
    }
    rules.push_back(route(0, 0, 50, which));  // ipv4 alone
    rules.push_back(catch_all(1));
    EXPECT_EQ(choice_of(rules).which, table_template::lpm);
    EXPECT_EQ(choice_of(rules).prefix_field, which);
    // Of one length there may be several priorities: the higher one counts for a prefix.
    rules.push_back(route(0x0a00'0000, 32, 200, which));
    EXPECT_EQ(choice_of(rules).which, table_template::lpm);
    // Of one priority: where two overlap, the one that was added first counts.
    std::vector<rule> equal = rules;
    equal.push_back(route(0x0a00'0000, 30, 131, which));
    EXPECT_EQ(why_not(table_template::lpm, shape_of(equal)),
              std::string("a rule of priority 131 for a /30 of ") + info(which).name +
                  " is not below one of priority 131 for a /31");
    equal = rules;
    equal.push_back(route(0, 0, 108, which));
    EXPECT_EQ(why_not(table_template::lpm, shape_of(equal)),
              std::string("a rule of priority 108 for a /0 of ") + info(which).name +
                  " is not below one of priority 108 for a /8");
    equal = rules;
    equal.push_back(catch_all(50));
    EXPECT_EQ(why_not(table_template::lpm, shape_of(equal)),
              "a rule that matches every packet is not below all others");
    rules.push_back(route(0x0a00'0000, 16, 130, which));
    const template_choice made = choice_of(rules);
    EXPECT_EQ(made.which, table_template::classifier);
    EXPECT_EQ(why_not(table_template::lpm, shape_of(rules)),
              std::string("a rule of priority 130 for a /16 of ") + info(which).name +
                  " is not below one of priority 117 for a /17");
  }
}

TEST(choose_template, prefixes_of_rules_that_differ_elsewhere_are_not_lpm) {
  std::vector<rule> rules;
  for (std::uint32_t i = 0; i < 40; ++i) {
    rules.push_back(route(i << 24, 8 + i % 20, static_cast<std::uint16_t>(8 + i % 20)));
  }
  rules.push_back(rule_of(
      where({ipv4(), exact(field::ip_proto, 6), {field::ipv4_dst, 0x0a00'0000, 0xff00'0000}}), 8));
  const auto why = [&rules] {
    return why_not(table_template::lpm, shape_of(rules), no_mixed_tables);
  };
  EXPECT_EQ(why(), "rules differ in more than nw_dst");
  rules.pop_back();
  rules.push_back(rule_of(where({ipv4(), {field::ipv4_dst, 0x0a00'0001, 0xff00'ffff}}), 8));
  EXPECT_EQ(why(), "rules have a mask of nw_dst that is not a prefix");
}

TEST(choose_template, ipv6_prefixes_are_lpm) {
  std::vector<rule> rules;
  for (unsigned i = 0; i < 40; ++i) {
    const value128 mask = ones(128) & ~ones(128 - 48 - i % 17);
    rules.push_back(
        rule_of(where({test::ipv6(), {field::ipv6_dst, value128{i} << 120 & mask, mask}}),
                static_cast<std::uint16_t>(48 + i % 17)));
  }
  EXPECT_EQ(choice_of(rules).which, table_template::lpm);
  EXPECT_EQ(choice_of(rules).prefix_field, field::ipv6_dst);
}

/// Red where rows are not counted, or the main mask is not the one of most rules.
TEST(choose_template, a_few_rules_of_other_masks_are_apart) {
  std::vector<rule> rules;
  for (std::uint64_t mac = 0; mac < 60; ++mac) rules.push_back(mac_rule(mac));
  EXPECT_FALSE(choice_of(rules, {}).has_apart);
  for (std::uint64_t mac = 0; mac < 13; ++mac)
    rules.push_back(rule_of(where({exact(field::eth_src, mac)}), 7));
  rules.push_back(rule_of(where({{field::vlan_vid, 0, 1}}), 200));  // takes two
  rules.push_back(route(0, 8, 100));
  rules.push_back(catch_all(3));
  EXPECT_EQ(choice_of(rules, {}).which, table_template::exact);
  EXPECT_TRUE(choice_of(rules, {}).has_apart);
  EXPECT_EQ(why_not(table_template::exact, shape_of(rules)), "");
  EXPECT_EQ(choice_of(rules).which, table_template::classifier) << "none may be apart";
  rules.push_back(route(0, 9, 100));
  EXPECT_EQ(choice_of(rules, {}).which, table_template::classifier);
  EXPECT_EQ(why_not(table_template::exact, shape_of(rules)),
            "more than 16 rows of rules that take other bits than most (17)");
  rules.back() = catch_all(7);  // not below all of those that are apart
  EXPECT_EQ(choice_of(rules, {}).which, table_template::classifier);
  EXPECT_EQ(why_not(table_template::exact, shape_of(rules)),
            "a rule that matches every packet is not below all others");
}

/// Red where only rules of another field are, or those that are no prefixes, or where rows are not
/// counted.
TEST(choose_template, a_few_rules_beside_prefixes_are_apart) {
  std::vector<rule> rules = routes(60);
  EXPECT_FALSE(choice_of(rules, {}).has_apart);
  rules.push_back(rule_of(where({exact(field::eth_type, net::ethertype_arp)}), 1));
  rules.push_back(rule_of(where({ipv4(), {field::ipv4_dst, 0x0a00'0001, 0xff00'ffff}}), 400));
  for (std::uint64_t port = 0; port < 12; ++port) rules.push_back(rule_of(to_tcp_port(port), 300));
  rules.push_back(rule_of(where({{field::vlan_vid, 0, 1}}), 200));  // takes two
  const template_choice made = choice_of(rules, {});
  EXPECT_EQ(made.which, table_template::lpm);
  EXPECT_EQ(made.prefix_field, field::ipv4_dst);
  EXPECT_TRUE(made.has_apart);
  EXPECT_EQ(why_not(table_template::lpm, shape_of(rules)), "");
  EXPECT_EQ(choice_of(rules).which, table_template::classifier) << "none may be apart";
  rules.push_back(rule_of(to_tcp_port(99), 300));
  EXPECT_EQ(choice_of(rules, {}).which, table_template::classifier);
  EXPECT_EQ(why_not(table_template::lpm, shape_of(rules)),
            "more than 16 rows of rules (17) that are no prefixes of nw_dst or differ in more");
  rules.pop_back();
  rules.push_back(route(7U << 24, 8, 15));
  EXPECT_EQ(why_not(table_template::lpm, shape_of(rules)),
            "a rule of priority 15 for a /8 of nw_dst is not below one of priority 9 for a /9");
}

TEST(choose_template, prefixes_may_be_of_rules_that_take_two_rows) {
  std::vector<rule> rules = routes(60);
  for (rule& each : rules) {
    std::vector<match_term> terms = each.match.terms();
    terms.push_back({field::vlan_vid, 0, 1});
    each.match = where(std::move(terms));
  }
  EXPECT_EQ(choice_of(rules, {}).which, table_template::lpm);
  EXPECT_FALSE(choice_of(rules, {}).has_apart);
}

/// A table that was of all kinds of rules, and is of routes when they are gone. Red where rules of
/// a group that was not counted are taken for some of one that is.
TEST(choose_template, many_groups_of_rules_come_and_go_beside_prefixes) {
  table_shape shape;
  std::vector<rule> odd, old, recent;
  for (std::uint32_t i = 0; i < 100; ++i) {
    odd.push_back(rule_of(to_tcp_port(i), 300));
    if (i < 10) old.push_back(route(i << 24, 8, 8));
    recent.push_back(route(i << 8, 23 + i % 2, static_cast<std::uint16_t>(23 + i % 2)));
  }
  const auto change = [&shape](const std::vector<rule>& rules, auto how) {
    for (const rule& each : rules) (shape.*how)(each);
  };
  for (int round = 0; round < 2; ++round) {
    change(odd, &table_shape::add);
    change(old, &table_shape::add);
    change(odd, &table_shape::remove);
    change(recent, &table_shape::add);
    EXPECT_EQ(choose_template(shape).which, table_template::classifier)
        << "they were too many to be told apart";
    EXPECT_EQ(why_not(table_template::lpm, shape),
              "rules differ in more than nw_dst in too many ways, or did when they came");
    change(old, &table_shape::remove);
    change(recent, &table_shape::remove);
    EXPECT_EQ(shape.n_rules(), 0U);
    change(recent, &table_shape::add);
    EXPECT_EQ(choose_template(shape, no_mixed_tables).which, table_template::lpm);
    change(recent, &table_shape::remove);
  }
}

TEST(choose_template, more_masks_than_may_be_apart_are_not_looked_at) {
  std::vector<rule> rules;
  for (std::uint64_t mac = 0; mac < 60; ++mac) rules.push_back(mac_rule(mac));
  for (unsigned length = 1; length <= 17; ++length) rules.push_back(route(0, length, 8));
  EXPECT_EQ(choice_of(rules, {}).which, table_template::classifier);
  EXPECT_EQ(why_not(table_template::exact, shape_of(rules)),
            "rules take 18 different sets of bits");
}

/// Records have 32 bits of an id.
TEST(choose_template, none_is_apart_once_too_many_rules_were_added) {
  std::vector<rule> rules;
  for (std::uint64_t mac = 0; mac < 60; ++mac) rules.push_back(mac_rule(mac));
  rules.back().id = recorded_ids - 1;
  rules.push_back(route(0, 8, 100));
  EXPECT_TRUE(choice_of(rules, {}).has_apart);
  rules.front().id = recorded_ids;
  EXPECT_EQ(choice_of(rules, {}).which, table_template::classifier);
  EXPECT_EQ(why_not(table_template::exact, shape_of(rules)),
            "a rule is unlike most, and too many were added to tell which is older");
  rules.pop_back();
  EXPECT_EQ(choice_of(rules, {}).which, table_template::exact);
}

TEST(table_shape, says_before_a_rule_comes_whether_all_are_still_alike) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    table_shape shape;
    shape.add(mac_rule(0, 9));
    for (std::uint64_t i = 1; i < 20; ++i) {
      const auto priority = static_cast<std::uint16_t>(random() % 12);
      const rule one = random() % 8 == 0    ? catch_all(priority)
                       : random() % 32 == 0 ? mixed_rule(1)
                                            : mac_rule(i, priority);
      const bool said = shape.is_uniform_with(one.match, one.priority);
      const bool was_alike = shape.n_masks() == 1;
      shape.add(one);
      const bool is_alike = was_alike && shape.n_masks() == 1 && shape.catch_alls_are_last();
      ASSERT_EQ(said, is_alike && !one.match.is_any());
    }
  }
}

}  // namespace
}  // namespace coua::pipeline
