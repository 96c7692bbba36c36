// SPDX-License-Identifier: Apache-2.0
//
// Exact tables with a few rules that take other bits, and routes with a few others, beside the
// oracle.
#include <gtest/gtest.h>

#include <random>
#include <span>

#include "checked_pipeline.h"
#include "net/wire.h"
#include "pipeline/datapath/test_frames.h"
#include "pipeline/model/test_model.h"

namespace coua::test {
namespace {

using namespace pipeline;
using pipeline::test::add_rule;
using pipeline::test::change_rules;
using pipeline::test::ipv4;
using pipeline::test::output;
using pipeline::test::where;

constexpr std::uint64_t first_mac = 0x0200'0000'0000;
constexpr unsigned n_macs = 40;
/// However few rules there are.
constexpr compiler_params params{.limits = {.direct_long = 0}, .share_from = 1};

match to_mac(unsigned which) { return where({exact(field::eth_dst, first_mac + which)}); }
rule_mod mac_rule(unsigned which, table_id table = 0, std::uint16_t priority = 10) {
  return add_rule(table, priority, to_mac(which), pipeline::test::apply({output(2 + which % 2)}));
}
rule_mod odd_rule(std::uint16_t priority, match what, port_no to = 4, table_id table = 0) {
  return add_rule(table, priority, std::move(what), pipeline::test::apply({output(to)}));
}
rule_mod strict_removal(rule_mod of) {
  of.command = rule_command::remove_strict;
  return of;
}
match from_odd_mac() { return where({{field::eth_src, 1, 1}}); }
match of_tcp() { return where({ipv4(), exact(field::ip_proto, 6)}); }

class rules_apart : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<operation> bundle;
    for (port_no i = 1; i <= 5; ++i) bundle.emplace_back(pipeline::test::add_port(i));
    must(bundle);
  }
  void must(const std::vector<operation>& bundle) { ASSERT_TRUE(in_.apply(bundle)); }
  void add_macs(table_id table = 0, unsigned n = n_macs, std::uint16_t priority = 10) {
    std::vector<operation> bundle;
    for (unsigned i = 0; i < n; ++i) bundle.emplace_back(mac_rule(i, table, priority));
    must(bundle);
  }
  /// Six bursts of frames from all ports: of all kinds, and in every other one of `some`. `give`:
  /// addresses.
  template <class Give>
  void see_frames(std::span<const std::vector<std::uint8_t>> some, Give give) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 6; ++round) {
      std::vector<packet> burst;
      for (unsigned i = 0; i < executor::burst_max; ++i) {
        const auto from = round % 2 == 0 ? std::span(all_) : some;
        packet one = pipeline::test::from_port_1(from[random() % from.size()]);
        one.in_port = 1 + i % 3;
        give(one, random);
        burst.push_back(std::move(one));
      }
      in_.receive(burst);
    }
    in_.check_counters();
  }
  /// Frames to known and unknown addresses.
  void see() {
    see_frames(all_, [](packet& one, auto& random) {
      if (one.bytes.size() < net::ethernet_header_bytes) return;
      net::store_mac(one.bytes.data(), first_mac + random() % (n_macs + 10));
      net::store_mac(one.bytes.data() + 6, first_mac + random() % 4);
    });
  }
  const table_form* form(table_id table = 0) { return in_.bridge().compiler().form(table); }
  unsigned n_rows_apart() { return form()->n_rows_apart(); }
  table_id batch_of(table_id table) {
    return in_.bridge().compiler().published().root.load()->batch_of[table];
  }

  const std::vector<std::vector<std::uint8_t>>& all_ = pipeline::test::frames();
  checked_pipeline in_{params};
};

TEST_F(rules_apart, stand_above_and_below_the_others) {
  add_macs();
  for (const std::uint16_t priority : {11, 9}) {
    const rule_mod odd = odd_rule(priority, from_odd_mac());
    must({odd});
    EXPECT_EQ(form()->kind(), table_template::exact);
    EXPECT_EQ(n_rows_apart(), 1U);
    see();
    must({strict_removal(odd)});
    see();
  }
}

/// Of one priority, the one that was added first counts: red where the priority alone is compared.
TEST_F(rules_apart, of_one_priority_are_older_or_newer) {
  std::vector<operation> bundle;
  for (unsigned i = 0; i < n_macs; ++i) {
    if (i == n_macs / 2) bundle.emplace_back(odd_rule(10, from_odd_mac()));
    bundle.emplace_back(mac_rule(i));
  }
  must(bundle);
  ASSERT_EQ(form()->kind(), table_template::exact);
  see();
  // One that comes again is the newest.
  must({strict_removal(mac_rule(0))});
  must({mac_rule(0)});
  see();
  // One that is changed is as old as it was.
  must({change_rules(rule_command::modify_strict, 0, 10, from_odd_mac(),
                     pipeline::test::apply({output(5)}))});
  see();
}

TEST_F(rules_apart, stand_above_what_matches_every_packet) {
  add_macs();
  must({odd_rule(0, {}, 5), odd_rule(1, of_tcp()), odd_rule(20, from_odd_mac(), 3)});
  EXPECT_EQ(form()->kind(), table_template::exact);
  EXPECT_EQ(n_rows_apart(), 2U);
  see();
  must({strict_removal(odd_rule(0, {}))});
  see();
  // Not below all others any more: it is a rule of another table.
  must({odd_rule(2, {}, 5)});
  EXPECT_NE(form()->kind(), table_template::exact);
  see();
}

TEST_F(rules_apart, may_take_two_rows) {
  add_macs();
  must({odd_rule(20, where({{field::vlan_vid, 1, 1}}))});
  EXPECT_EQ(n_rows_apart(), 2U);
  see();
}

TEST_F(rules_apart, touch_none_of_the_others_and_are_built_anew_past_their_bound) {
  add_macs();
  const table_form* const before = form();
  const std::size_t most = params.limits.most_apart();
  const auto odd = [](std::size_t i) {
    return odd_rule(20, where({exact(field::eth_src, first_mac + i)}));
  };
  for (std::size_t i = 0; i < most; ++i) must({odd(i)});
  EXPECT_EQ(form(), before);
  EXPECT_EQ(n_rows_apart(), 32U);
  see();
  must({odd(most)});
  EXPECT_NE(form(), before);
  EXPECT_NE(form()->kind(), table_template::exact);
  see();
}

/// A table with rules apart is looked up alone, and with others again when they are gone.
TEST_F(rules_apart, are_of_one_table_of_a_store) {
  for (const table_id each : {table_id{1}, table_id{2}}) {
    must({add_rule(0, 5, where({exact(field::in_port, each)}), pipeline::test::go(each))});
    add_macs(each);
  }
  ASSERT_EQ(form(1)->stage().exact, form(2)->stage().exact);
  EXPECT_EQ(batch_of(2), 1);
  const rule_mod odd = odd_rule(20, from_odd_mac(), 4, 2);
  for (int round = 0; round < 3; ++round) {
    must({odd});
    EXPECT_EQ(batch_of(2), 2);
    see();
    must({strict_removal(odd)});
    see();
    must({mac_rule(n_macs + 1, 2)});
    EXPECT_EQ(batch_of(2), 1) << "with the next change";
    see();
    must({strict_removal(mac_rule(n_macs + 1, 2))});
  }
}

/// Red where the old form gives up what the new one has.
TEST_F(rules_apart, stay_when_the_store_grows) {
  add_macs(0, 20);
  must({odd_rule(20, from_odd_mac()), odd_rule(5, of_tcp(), 3)});
  const auto* const store = form()->stage().exact;
  see();
  for (unsigned i = 20; form()->stage().exact == store; ++i) {
    ASSERT_LT(i, 2000U);
    must({mac_rule(i)});
  }
  EXPECT_EQ(n_rows_apart(), 2U);
  see();
  must({strict_removal(odd_rule(20, from_odd_mac()))});
  see();
  EXPECT_EQ(n_rows_apart(), 1U);
  in_.check_nothing_stays();
}

/// What a version did to them that could not be completed is undone: of the last table a
/// classifier is asked for that has no room for a rule.
TEST_F(rules_apart, are_as_they_were_after_a_version_that_failed) {
  constexpr table_id spoiled = 7;
  std::vector<operation> many;
  for (unsigned i = 0; i < 40; ++i) {
    const match what = where({exact(i % 2 == 0 ? field::eth_dst : field::eth_src, i)});
    many.emplace_back(add_rule(spoiled, 10, what, {}));
  }
  must(many);
  ASSERT_EQ(form(spoiled)->kind(), table_template::classifier);
  std::vector<match_term> terms{pipeline::test::ipv6(),    exact(field::ipv6_src, 1),
                                exact(field::ipv6_dst, 1), exact(field::eth_dst, 1),
                                exact(field::eth_src, 1),  exact(field::metadata, 1),
                                exact(field::tunnel_id, 1)};
  for (unsigned i = 0; i < n_registers; ++i) terms.push_back(exact(reg(i), 1));
  const rule_mod too_long = add_rule(spoiled, 10, where(terms), {});

  add_macs();
  must({odd_rule(20, from_odd_mac())});
  const auto fail_with = [&](std::vector<operation> bundle) {
    bundle.emplace_back(too_long);
    const std::size_t before = in_.n_full;
    EXPECT_FALSE(in_.apply(bundle));
    EXPECT_EQ(in_.n_full, before + 1);
    EXPECT_EQ(n_rows_apart(), 1U);
    see();
  };
  fail_with({odd_rule(30, of_tcp())});
  fail_with({strict_removal(odd_rule(20, from_odd_mac())), odd_rule(30, of_tcp())});
  // The store grows, so another form has them meanwhile.
  std::vector<operation> more{odd_rule(30, of_tcp())};
  for (unsigned i = n_macs; i < 600; ++i) more.emplace_back(mac_rule(i));
  const auto* const store = form()->stage().exact;
  fail_with(more);
  more.pop_back();
  must(more);
  EXPECT_NE(form()->stage().exact, store);
  EXPECT_EQ(n_rows_apart(), 2U);
  see();
}

/// Red where each rule that comes is looked at by itself: a whole table would go where a few are
/// meant to be, and others of its store be built anew when it does not fit.
TEST_F(rules_apart, are_not_a_whole_table_of_another_mask) {
  add_macs(0, 100);
  add_macs(1, 100);
  ASSERT_EQ(form(0)->stage().exact, form(1)->stage().exact);
  const table_form* const other = form(1);
  std::vector<operation> bundle{change_rules(rule_command::remove, 0, 0, {})};
  for (unsigned i = 0; i < 200; ++i) {
    bundle.emplace_back(
        odd_rule(10, where({exact(field::eth_dst, first_mac + i), exact(field::in_port, 1)})));
  }
  must(bundle);
  EXPECT_EQ(form(0)->kind(), table_template::exact);
  EXPECT_EQ(n_rows_apart(), 0U);
  EXPECT_EQ(form(1), other);
  see();
}

/// Those that are apart may become the most.
TEST_F(rules_apart, change_places_with_the_others) {
  const auto from_mac = [](unsigned i) {
    return odd_rule(20, where({exact(field::eth_src, first_mac + i)}));
  };
  add_macs(0, 30);
  std::vector<operation> bundle;
  for (unsigned i = 0; i < 31; ++i) bundle.emplace_back(from_mac(i));
  must(bundle);
  EXPECT_EQ(form()->kind(), table_template::exact);
  EXPECT_EQ(n_rows_apart(), 30U) << "the addresses that packets go to";
  see();
  for (unsigned i = 0; i < 31; ++i) must({strict_removal(from_mac(i))});
  see();
  must({mac_rule(40)});
  EXPECT_EQ(form()->kind(), table_template::exact);
  EXPECT_EQ(n_rows_apart(), 0U);
  see();
}

constexpr std::uint32_t first_address = 0x0a00'0000;

value128 mask_of(unsigned length) { return ones(32) & ~ones(32 - length); }
match to_prefix(std::uint32_t address, unsigned length) {
  return where({ipv4(), {field::ipv4_dst, address & mask_of(length), mask_of(length)}});
}

class routes_apart : public rules_apart {
 protected:
  static constexpr unsigned n_routes = 80;

  /// To 256 addresses, by prefixes of 26 to 30 bits, and all of them by one of 24.
  static rule_mod route(unsigned which) {
    const unsigned length = 26 + which % 5;
    return add_rule(0, static_cast<std::uint16_t>(10 * length),
                    to_prefix(first_address + which * 37 % 256, length),
                    pipeline::test::apply({output(2 + which % 2)}));
  }
  void add_routes(unsigned n = n_routes) {
    std::vector<operation> bundle{
        add_rule(0, 240, to_prefix(first_address, 24), pipeline::test::apply({output(5)}))};
    for (unsigned i = 0; i < n; ++i) bundle.emplace_back(route(i));
    must(bundle);
    ASSERT_EQ(form()->kind(), table_template::lpm);
  }
  /// Those of IPv4 to known addresses and some others; in every other burst are these and ARP
  /// alone.
  void see() {
    see_frames(std::span(all_).subspan(2, 7), [](packet& one, auto& random) {
      const auto n = static_cast<std::uint32_t>(one.bytes.size());
      const net::layers layers = net::parse({one.bytes.data(), n, n, 0}, net::parse_depth::network);
      if (!layers.has(net::layer::ipv4)) return;
      net::store_be32(one.bytes.data() + layers.network + net::wire::ipv4::destination,
                      first_address + static_cast<std::uint32_t>(random() % 280));
    });
  }
};

TEST_F(routes_apart, stand_above_below_and_between_the_others) {
  add_routes();
  for (const std::uint16_t priority : {1, 265, 270, 999}) {
    for (const match& what :
         {where({exact(field::eth_type, net::ethertype_arp)}), of_tcp(),
          where({exact(field::in_port, 2)}), where({ipv4(), {field::ipv4_dst, 1, 3}})}) {
      const rule_mod odd = odd_rule(priority, what);
      must({odd});
      EXPECT_EQ(form()->kind(), table_template::lpm);
      EXPECT_EQ(n_rows_apart(), 1U);
      see();
      must({strict_removal(odd)});
      see();
    }
  }
  in_.check_nothing_stays();
}

/// Of one priority, the one that was added first counts.
TEST_F(routes_apart, of_one_priority_are_older_or_newer) {
  add_routes(50);
  must({odd_rule(280, of_tcp())});
  for (unsigned i = 50; i < n_routes; ++i) must({route(i)});
  EXPECT_EQ(form()->kind(), table_template::lpm);
  see();
  must({strict_removal(route(2))});  // of 28 bits
  must({route(2)});
  see();
}

/// A prefix may be gone for the packets of a version, and a shorter one count, above which it is.
TEST_F(routes_apart, stand_above_prefixes_that_come_and_go) {
  add_routes();
  must({odd_rule(265, of_tcp()), odd_rule(0, {}, 3)});
  for (unsigned i = 0; i < n_routes; ++i) {
    must({strict_removal(route(i))});
    see();
    if (i % 3 != 0) must({route(i)});
  }
}

/// Of both fields, and of both families; a rule may ask more than the address besides.
TEST_F(routes_apart, are_of_the_field_of_most) {
  add_routes();
  std::vector<operation> bundle;
  for (unsigned i = 0; i < 8; ++i) {
    bundle.emplace_back(odd_rule(500, where({ipv4(), {field::ipv4_src, i << 24, mask_of(8)}}), 4));
    bundle.emplace_back(
        odd_rule(500, where({pipeline::test::ipv6(), {field::ipv6_dst, i, ones(4)}}), 3));
  }
  must(bundle);
  EXPECT_EQ(form()->kind(), table_template::lpm);
  EXPECT_EQ(n_rows_apart(), 16U);
  see();
}

TEST_F(routes_apart, are_built_anew_past_their_bound_and_come_back) {
  add_routes();
  const table_form* const before = form();
  const auto odd = [](std::size_t i) {
    return odd_rule(265, where({exact(field::eth_src, first_mac + i)}));
  };
  const std::size_t most = params.limits.most_apart();
  for (std::size_t i = 0; i < most; ++i) must({odd(i)});
  EXPECT_EQ(form(), before);
  EXPECT_EQ(n_rows_apart(), 32U);
  see();
  must({odd(most)});
  EXPECT_NE(form()->kind(), table_template::lpm);
  see();
  for (std::size_t i = 4; i <= most; ++i) must({strict_removal(odd(i))});
  for (int i = 0; i < 40; ++i) {
    must({strict_removal(route(0))});
    must({route(0)});
  }
  EXPECT_EQ(form()->kind(), table_template::lpm);
  EXPECT_EQ(n_rows_apart(), 4U);
  see();
}

/// A table with rules apart is looked up alone; trains of one flow are looked up once.
TEST_F(routes_apart, are_of_one_table_of_those_that_are_looked_up_together) {
  std::vector<operation> bundle;
  for (const table_id each : {table_id{1}, table_id{2}}) {
    bundle.emplace_back(
        add_rule(0, 5, where({exact(field::in_port, each)}), pipeline::test::go(each)));
    for (unsigned i = 0; i < n_routes; ++i) {
      rule_mod one = route(i);
      one.table = each;
      bundle.emplace_back(one);
    }
  }
  must(bundle);
  EXPECT_EQ(batch_of(2), 1);
  const rule_mod odd = odd_rule(265, of_tcp(), 4, 2);
  must({odd});
  EXPECT_EQ(batch_of(2), 2);
  see();
  for (const auto& frame : pipeline::test::frames()) {
    std::vector<packet> train(20, pipeline::test::from_port_1(frame));
    for (packet& each : train) each.in_port = 2;
    in_.receive(train);
  }
  must({strict_removal(odd)});
  see();
}

/// Red where a table that is to be of prefixes of another field keeps those that it has: a rule
/// that is in no order with them would go among them.
TEST_F(routes_apart, may_be_of_another_field_in_the_end) {
  const auto to = [](std::uint32_t address, unsigned length, std::uint16_t priority) {
    return odd_rule(priority, to_prefix(address, length), 2 + length % 3);
  };
  const auto from = [&](unsigned which, unsigned length) {
    return odd_rule(
        length == 16 ? 50 : 60,
        where({ipv4(),
               {field::ipv4_dst, first_address, mask_of(8)},
               {field::ipv4_src, (which << 16 | 0x100) & mask_of(length), mask_of(length)}}),
        5);
  };
  must({to(first_address, 8, 8)});
  for (unsigned i = 0; i < 20; ++i)
    must({to(0x1400'0000 + (i << 16), 16, 16), to(0x1400'0100 + (i << 16), 24, 24)});
  ASSERT_EQ(form()->kind(), table_template::lpm);
  for (unsigned i = 0; i < 16; ++i) must({from(i, 16), from(i, 24)});
  EXPECT_EQ(form()->kind(), table_template::lpm);
  EXPECT_EQ(n_rows_apart(), 32U);
  for (unsigned i = 8; i < 20; ++i)
    must({strict_removal(to(0x1400'0000 + (i << 16), 16, 16)),
          strict_removal(to(0x1400'0100 + (i << 16), 24, 24))});
  must({to(0x1400'0000, 8, 100)});
  std::vector<packet> burst;
  for (unsigned i = 0; i < 20; ++i) {
    packet one = pipeline::test::from_port_1(pipeline::test::frames()[3]);  // TCP in IPv4
    net::store_be32(one.bytes.data() + net::ethernet_header_bytes + net::wire::ipv4::destination,
                    0x1400'0109 + (i << 16));
    burst.push_back(std::move(one));
  }
  in_.receive(burst);
  see();
}

/// Likewise, where nothing came with the change that left only the others.
TEST_F(routes_apart, may_be_all_that_is_left) {
  add_routes();
  std::vector<operation> bundle;
  for (unsigned i = 0; i < 20; ++i) {
    const unsigned length = 8 + i % 10;
    bundle.emplace_back(
        odd_rule(static_cast<std::uint16_t>(100 + length),
                 where({ipv4(), {field::ipv4_src, (i << 24) & mask_of(length), mask_of(length)}})));
  }
  must(bundle);
  EXPECT_EQ(n_rows_apart(), 20U);
  must({strict_removal(add_rule(0, 240, to_prefix(first_address, 24), {}))});
  for (unsigned i = 0; i < n_routes; ++i) must({strict_removal(route(i))});
  EXPECT_EQ(form()->kind(), table_template::lpm);
  EXPECT_LE(n_rows_apart(), 1U) << "that waits for a grace period";
  must({odd_rule(900, to_prefix(first_address, 8), 3)});
  must({odd_rule(50, to_prefix(first_address, 16), 5)});
  see();
}

/// Red where the first rule stands for those that are like it: it may be no prefix itself.
TEST_F(routes_apart, are_not_the_others_because_they_came_first) {
  const rule_mod first = odd_rule(500, where({ipv4(), {field::ipv4_dst, 1, 3}}));
  must({first, odd_rule(1, where({exact(field::eth_type, net::ethertype_arp)}))});
  add_routes();
  EXPECT_EQ(n_rows_apart(), 2U);
  const table_form* const before = form();
  must({strict_removal(route(3))});
  must({route(3)});
  must({strict_removal(first)});
  must({route(n_routes)});
  EXPECT_EQ(form(), before);
  see();
}

/// However few they are: rules that are apart are compared one by one.
TEST_F(routes_apart, are_not_a_whole_table_of_others) {
  add_routes(40);
  std::vector<operation> bundle{change_rules(rule_command::remove, 0, 0, {})};
  for (unsigned i = 0; i < 40; ++i) {
    rule_mod one = route(i);
    std::vector<match_term> terms = one.match.terms();
    terms.push_back(exact(field::in_port, 1));
    one.match = where(std::move(terms));
    bundle.emplace_back(one);
  }
  must(bundle);
  EXPECT_EQ(form()->kind(), table_template::lpm);
  EXPECT_EQ(n_rows_apart(), 0U);
  see();
}

/// Those that are apart may become the most.
TEST_F(routes_apart, change_places_with_the_others) {
  add_routes(25);
  const auto of_tcp_to = [](unsigned i) {
    rule_mod one = route(i);
    one.match = where({ipv4(),
                       exact(field::ip_proto, 6),
                       {field::ipv4_dst, one.match.find(field::ipv4_dst)->value,
                        one.match.find(field::ipv4_dst)->mask}});
    one.priority = static_cast<std::uint16_t>(one.priority + 5);
    return one;
  };
  std::vector<operation> bundle;
  for (unsigned i = 0; i < n_routes; ++i) bundle.emplace_back(of_tcp_to(i));
  must(bundle);
  EXPECT_EQ(form()->kind(), table_template::lpm);
  EXPECT_GT(n_rows_apart(), 20U) << "those to all kinds of packets";
  see();
  bundle.clear();
  for (unsigned i = 0; i < 25; ++i) bundle.emplace_back(strict_removal(route(i)));
  must(bundle);
  EXPECT_EQ(form()->kind(), table_template::lpm);
  see();
}

}  // namespace
}  // namespace coua::test
