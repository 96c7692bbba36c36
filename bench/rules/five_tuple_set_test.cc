// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/five_tuple_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "bench/rules/rules_text.h"

namespace coua::bench {
namespace {

using shares = std::map<std::tuple<int, int, int>, double>;

five_tuple_set make(const seed_figures& figures, std::uint64_t rules, std::uint64_t seed = 1,
                    bool with_default = true) {
  result<five_tuple_set> made = make_five_tuple_set(figures, {rules, seed, with_default});
  EXPECT_TRUE(made) << made.error().message();
  return std::move(*made);
}

port_kind kind_of(const port_range& range) {
  if (range == port_range{}) return port_kind::wc;
  if (range == port_range{1024, 65535}) return port_kind::hi;
  if (range == port_range{0, 1023}) return port_kind::lo;
  return range.low == range.high ? port_kind::em : port_kind::ar;
}

int class_of(const five_tuple_rule& rule) {
  for (std::size_t i = 0; i < n_port_classes; ++i) {
    const auto each = static_cast<port_class>(i);
    if (source_kind(each) == kind_of(rule.source_port) &&
        destination_kind(each) == kind_of(rule.destination_port)) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

/// Half the sum of all differences: the share of rules that would have to be others.
double distance(shares a, shares b) {
  const auto scale = [](shares& each) {
    double sum = 0;
    for (const auto& [key, share] : each) sum += share;
    for (auto& [key, share] : each) share /= sum;
  };
  scale(a), scale(b);
  double sum = 0;
  for (const auto& [key, share] : a) sum += std::fabs(share - b[key]);
  for (const auto& [key, share] : b) sum += a.contains(key) ? 0 : share;
  return sum / 2;
}

unsigned nesting_of(const std::set<std::pair<unsigned, std::uint32_t>>& prefixes) {
  unsigned most = 0;
  for (const auto& [bits, address] : prefixes) {
    unsigned on_path = 0;
    for (unsigned up = 0; up <= bits; ++up) {
      const std::uint32_t mask = ip_prefix{0, up}.mask();
      on_path += prefixes.contains({up, address & mask}) ? 1 : 0;
    }
    most = std::max(most, on_path);
  }
  return most;
}

class five_tuple_sets : public testing::TestWithParam<const seed_figures* (*)()> {
 protected:
  const seed_figures& figures() const { return *GetParam()(); }
  /// Firewalls have many rules with short prefixes or none, which a large set uses up sooner.
  double allowed(double usually, double of_firewalls) const {
    return &figures() == &fw_figures() ? of_firewalls : usually;
  }
};

TEST_P(five_tuple_sets, protocols_and_kinds_of_ports_are_as_published) {
  shares published, made;
  for (const application_share& each : figures().applications) {
    published[{each.protocol, static_cast<int>(each.ports), 0}] = each.share;
  }
  for (const five_tuple_rule& rule : make(figures(), 20'000).rules) {
    ++made[{rule.protocol.value_or(0), class_of(rule), 0}];
  }
  EXPECT_LT(distance(published, made), allowed(0.015, 0.04));
}

TEST_P(five_tuple_sets, prefix_lengths_of_each_kind_of_ports_are_as_published) {
  shares published, made;
  for (const length_share& each : figures().lengths) {
    published[{static_cast<int>(each.ports), each.source, each.destination}] = each.share;
  }
  for (const five_tuple_rule& rule : make(figures(), 20'000).rules) {
    ++made[{class_of(rule), static_cast<int>(rule.source.bits),
            static_cast<int>(rule.destination.bits)}];
  }
  EXPECT_LT(distance(published, made), allowed(0.04, 0.09));
}

TEST_P(five_tuple_sets, single_ports_and_ranges_are_as_published) {
  // Rules that differ in nothing but the port use up frequent ports, so that rare ones gain a bit.
  shares published, made;
  for (const exact_share& each : figures().destination_exact.frequent) {
    published[{each.port, each.port, 0}] = each.share;
  }
  published[{0, 0, 0}] = figures().destination_exact.others_share;  // all the rest
  for (const five_tuple_rule& rule : make(figures(), 20'000).rules) {
    const port_range& port = rule.destination_port;
    if (kind_of(port) != port_kind::em) continue;
    const bool named = published.contains({port.low, port.high, 0});
    ++made[{named ? port.low : 0, named ? port.high : 0, 0}];
  }
  EXPECT_LT(distance(published, made), allowed(0.04, 0.07));

  published.clear(), made.clear();
  for (const range_share& each : figures().destination_ranges) {
    published[{each.low, each.high, 0}] = each.share;
  }
  for (const five_tuple_rule& rule : make(figures(), 50'000).rules) {
    const port_range& port = rule.destination_port;
    if (kind_of(port) == port_kind::ar) ++made[{port.low, port.high, 0}];
  }
  EXPECT_LT(distance(published, made), allowed(0.08, 0.15));  // fw has 300 of them, ipc 600
}

TEST_P(five_tuple_sets, prefixes_are_nested_no_deeper_than_in_the_published_sets) {
  std::set<std::pair<unsigned, std::uint32_t>> sources, destinations;
  for (const five_tuple_rule& rule : make(figures(), 5000).rules) {
    sources.insert({rule.source.bits, rule.source.address});
    destinations.insert({rule.destination.bits, rule.destination.address});
  }
  EXPECT_EQ(nesting_of(sources), figures().source.nesting);
  EXPECT_EQ(nesting_of(destinations), figures().destination.nesting);
}

TEST_P(five_tuple_sets, addresses_are_shared_as_a_tree_that_seldom_branches_shares_them) {
  // With as many rules as the real sets had, a bit of an address that is not forced by the ones
  // before it is rare: far fewer different addresses than rules.
  const five_tuple_set set = make(figures(), 1000);
  std::set<std::uint32_t> networks;
  for (const five_tuple_rule& rule : set.rules) {
    if (rule.source.bits >= 16) networks.insert(rule.source.address >> 16);
  }
  EXPECT_LT(networks.size(), 250u);
  EXPECT_GT(networks.size(), 10u);
}

TEST_P(five_tuple_sets, no_rule_is_there_twice_or_behind_one_that_contains_it) {
  const std::vector<five_tuple_rule> rules = make(figures(), 2000).rules;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    EXPECT_EQ(rules[i].number, i);
    EXPECT_EQ(rules[i].priority, rules.size() - i);
    EXPECT_EQ(rules[i].source.address & ~rules[i].source.mask(), 0u);
    for (std::size_t j = i + 1; j < rules.size(); ++j) {
      ASSERT_FALSE(rules[i].contains(rules[j])) << i << " contains " << j;
    }
  }
}

TEST_P(five_tuple_sets, only_the_last_rule_matches_every_packet) {
  const auto any = [](const five_tuple_rule& rule) { return rule.same_match({}); };
  const five_tuple_set with = make(figures(), 3000);
  EXPECT_TRUE(with.ends_in_default);
  EXPECT_TRUE(any(with.rules.back()));
  EXPECT_EQ(std::count_if(with.rules.begin(), with.rules.end(), any), 1);
  const five_tuple_set without = make(figures(), 3000, 1, false);
  EXPECT_FALSE(without.ends_in_default);
  EXPECT_TRUE(std::none_of(without.rules.begin(), without.rules.end(), any));
}

TEST_P(five_tuple_sets, a_seed_makes_the_same_set_again_and_another_seed_another) {
  EXPECT_EQ(to_text(make(figures(), 500, 7)), to_text(make(figures(), 500, 7)));
  EXPECT_NE(to_text(make(figures(), 500, 7)), to_text(make(figures(), 500, 8)));
}

TEST_P(five_tuple_sets, any_number_of_rules_from_one) {
  for (const std::uint64_t rules : {1, 2, 3, 10, 999, 30'000}) {
    const five_tuple_set set = make(figures(), rules);
    EXPECT_EQ(set.rules.size(), rules);
    EXPECT_EQ(set.ends_in_default, rules > 1);
  }
  EXPECT_EQ(make_five_tuple_set(figures(), {0, 1, true}).error().code, errc::invalid);
  EXPECT_EQ(make_five_tuple_set(figures(), {most_rules + 1, 1, true}).error().code, errc::invalid);
}

INSTANTIATE_TEST_SUITE_P(kinds, five_tuple_sets,
                         testing::Values(
                             +[] { return &acl_figures(); }, +[] { return &fw_figures(); },
                             +[] { return &ipc_figures(); }),
                         [](const auto& kind) { return std::string(kind.param()->name); });

TEST(five_tuple_set, running_out_of_different_rules_is_an_error) {
  // Two applications without addresses and ports: two rules, one of them the default rule.
  constexpr application_share applications[] = {{0, port_class::wc_wc, 1},
                                                {6, port_class::wc_wc, 1}};
  constexpr length_share lengths[] = {{port_class::wc_wc, 0, 0, 1}};
  const seed_figures figures = {"two",
                                applications,
                                lengths,
                                {},
                                {},
                                {},
                                {},
                                acl_figures().source,
                                acl_figures().destination,
                                acl_figures().correlation,
                                true};
  EXPECT_EQ(make(figures, 2).rules.size(), 2u);
  const result<five_tuple_set> refused = make_five_tuple_set(figures, {3, 1, true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::no_room);
  EXPECT_EQ(refused.error().message(), "3 rules: only 2 different ones were found");
}

TEST(five_tuple_set, text_is_that_of_classbench) {
  five_tuple_set set;
  five_tuple_rule rule;
  rule.source = {0x0a010200, 23};
  rule.destination = {0xffffffff, 32};
  rule.destination_port = {1024, 65535};
  rule.protocol = 6;
  set.rules = {rule, {}};
  EXPECT_EQ(to_text(set),
            "@10.1.2.0/23\t255.255.255.255/32\t0 : 65535\t1024 : 65535\t0x06/0xFF\t0x0000/0x0000\n"
            "@0.0.0.0/0\t0.0.0.0/0\t0 : 65535\t0 : 65535\t0x00/0x00\t0x0000/0x0000\n");
}

}  // namespace
}  // namespace coua::bench
