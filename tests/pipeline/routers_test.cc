// SPDX-License-Identifier: Apache-2.0
//
// The routes of several virtual routers, of both IP versions, in one table, beside the oracle: each
// router's are looked up as prefixes. What comes and goes there, what breaks it, and what stands
// apart. Routers are told by the port that packets come from.
#include <gtest/gtest.h>

#include "checked_pipeline.h"
#include "net/wire.h"
#include "pipeline/datapath/test_frames.h"
#include "pipeline/model/test_model.h"
#include "spoiled_table.h"

namespace coua::test {
namespace {

using namespace pipeline;
using pipeline::test::add_rule;
using pipeline::test::change_rules;
using pipeline::test::ipv4;
using pipeline::test::ipv6;
using pipeline::test::output;
using pipeline::test::where;

constexpr port_no n_ports = 6;
constexpr unsigned n_routers = 4;
constexpr value128 first_v6 = value128{0x2001'0db8'0000'0000} << 64;

/// A prefix of `length` bits of the subnet with this number, which has 2^8 addresses of IPv4 and
/// 2^64 of IPv6.
match_term subnet(bool is_v6, unsigned number, unsigned length) {
  const unsigned n_bits = is_v6 ? 128 : 32;
  const value128 mask = ones(n_bits) & ~ones(n_bits - length);
  const value128 address =
      is_v6 ? first_v6 + (value128{number} << 64) : value128{0x0a00'0000 + (number << 8)};
  return {is_v6 ? field::ipv6_dst : field::ipv4_dst, address & mask, mask};
}

/// Router 0: of all packets.
match route_of(unsigned router, bool is_v6, unsigned number, unsigned length) {
  std::vector<match_term> terms{is_v6 ? ipv6() : ipv4()};
  if (router != 0) terms.push_back(exact(field::in_port, router));
  if (length != 0) terms.push_back(subnet(is_v6, number, length));
  return where(std::move(terms));
}
std::uint16_t priority_of(unsigned length) { return static_cast<std::uint16_t>(100 + length); }
rule_mod route(unsigned router, bool is_v6, unsigned number, unsigned length, port_no to) {
  return add_rule(0, priority_of(length), route_of(router, is_v6, number, length),
                  pipeline::test::apply({output(to)}));
}
rule_mod removal(rule_mod of) {
  return change_rules(rule_command::remove_strict, of.table, of.priority, of.match);
}
/// Takes packets that no route knows of.
rule_mod apart(std::uint64_t mac, std::uint16_t priority, port_no to) {
  return add_rule(0, priority, where({exact(field::eth_dst, mac)}),
                  pipeline::test::apply({output(to)}));
}

class routers : public ::testing::Test {
 protected:
  static constexpr unsigned lengths_v4[] = {0, 8, 16, 20, 23, 24, 25, 32};
  static constexpr unsigned lengths_v6[] = {0, 32, 48, 56, 63, 64, 65, 127};
  static constexpr unsigned n_lengths = 8, n_routes = 5 * n_lengths;  // some of them twice
  static unsigned length(bool is_v6, unsigned i) {
    return is_v6 ? lengths_v6[i % n_lengths] : lengths_v4[i % n_lengths];
  }

  void must(const std::vector<operation>& bundle) { ASSERT_TRUE(in_.apply(bundle)); }
  void add_ports() {
    for (port_no i = 1; i <= n_ports; ++i) must({pipeline::test::add_port(i)});
  }
  /// Some of each length, of a few subnets.
  void add_routes(unsigned router, bool is_v6) {
    for (unsigned i = 0; i < n_routes; ++i) {
      must({route(router, is_v6, i / n_lengths, length(is_v6, i), 1 + (i + router) % n_ports)});
    }
  }
  void add_all() {
    add_ports();
    for (unsigned router = 1; router <= n_routers; ++router) {
      add_routes(router, false);
      add_routes(router, true);
    }
    ASSERT_EQ(kind(), table_template::decomposed);
  }

  const table_form& form() { return *in_.bridge().compiler().form(0); }
  table_template kind() { return form().kind(); }

  /// From each port, to near and far from each subnet, of all kinds of frames, and some that end
  /// within the header of IP.
  void see() {
    std::vector<packet> all;
    for (const pipeline::test::bytes& frame : pipeline::test::frames()) {
      const std::uint16_t type = net::load_be16(frame.data() + 12);
      for (port_no port = 1; port <= n_ports; ++port) {
        for (unsigned i = 0; i < 24; ++i) {
          packet one = pipeline::test::from_port_1(frame);
          one.in_port = port;
          std::uint8_t* const network = one.bytes.data() + net::ethernet_header_bytes;
          const unsigned number = i / 4, host = i % 4 * 85;
          if (type == net::ethertype_ipv4) {
            net::store_be32(network + net::wire::ipv4::destination,
                            0x0a00'0000 + (number << 8) + host + (i == 23 ? 1 << 24 : 0));
          } else if (type == net::ethertype_ipv6) {
            net::store_be64(network + 24, static_cast<std::uint64_t>(first_v6 >> 64) + number);
            net::store_be64(network + 32, i % 4 == 0 ? 0 : std::uint64_t{1} << (16 * (i % 4)));
          } else if (i != 0) {
            break;
          }
          if (i == 0) {
            packet cut = one;
            cut.bytes.resize(net::ethernet_header_bytes + 4);
            all.push_back(std::move(cut));
          }
          all.push_back(std::move(one));
        }
      }
    }
    EXPECT_GT(in_.receive_all(all), 0U);
  }

  checked_pipeline in_;
};

TEST_F(routers, of_both_ip_versions_have_prefixes_each) {
  add_all();
  EXPECT_EQ(form().by(), "in_port, dl_type: exact to 8 lpm tables");
  see();
  see();
  EXPECT_GT(in_.bridge().compiler().usage().shared, 0U);
  in_.check_nothing_stays();
}

/// Nothing but the Ethernet type tells them apart.
TEST_F(routers, one_router_of_both_ip_versions) {
  add_ports();
  add_routes(0, false);
  EXPECT_EQ(kind(), table_template::lpm);
  add_routes(0, true);
  ASSERT_EQ(kind(), table_template::decomposed);
  EXPECT_EQ(form().by(), "dl_type: exact to 2 lpm tables");
  see();
  // Of one version alone they are a routing table as any other, after as many changes as that
  // takes.
  for (unsigned i = 0; i < n_routes; ++i)
    must({removal(route(0, true, i / n_lengths, length(true, i), 0))});
  for (unsigned i = 0; i < 20; ++i) must({route(0, false, i, 28, 2)});
  EXPECT_EQ(kind(), table_template::lpm);
  see();
  in_.check_nothing_stays();
}

TEST_F(routers, routes_come_change_and_go_in_place) {
  add_all();
  see();
  const table_form* const before = &form();
  must({route(2, false, 1, 28, 5), route(3, true, 2, 60, 5)});
  see();
  must({route(2, false, 1, 28, 6)});  // the same rule again
  must({change_rules(rule_command::modify_strict, 0, priority_of(60), route_of(3, true, 2, 60),
                     pipeline::test::apply({output(1)}))});
  see();
  must({removal(route(2, false, 1, 28, 0)), removal(route(1, false, 1, 24, 0)),
        route(1, false, 1, 26, 3), removal(route(3, true, 2, 60, 0))});
  see();
  EXPECT_EQ(&form(), before);
  in_.check_nothing_stays();
}

TEST_F(routers, come_and_go_in_place) {
  add_all();
  const table_form* const before = &form();
  must({route(5, false, 1, 24, 2), route(5, true, 1, 64, 3)});
  EXPECT_EQ(form().by(), "in_port, dl_type: exact to 10 lpm tables");
  see();
  must({removal(route(5, false, 1, 24, 0))});
  see();
  must({route(5, false, 2, 16, 4)});  // before it is taken out, or after
  see();
  must({removal(route(5, false, 2, 16, 0)), removal(route(5, true, 1, 64, 0))});
  see();
  see();  // what was buried
  must({route(1, false, 1, 27, 3)});
  EXPECT_EQ(form().by(), "in_port, dl_type: exact to 8 lpm tables");
  EXPECT_EQ(&form(), before);
  see();
  in_.check_nothing_stays();
}

/// Above, between and below routes; of one priority the older one counts.
TEST_F(routers, rules_apart_count_for_all_of_them) {
  const std::uint64_t mac = net::load_mac(pipeline::test::frames()[3].data());
  add_all();
  for (const std::uint16_t priority : {1000, 128, 116, 50}) {
    must({apart(mac, priority, 6)});
    EXPECT_EQ(kind(), table_template::decomposed);
    see();
    must({removal(apart(mac, priority, 0))});
  }
  must({apart(mac, priority_of(24), 6)});  // younger than the routes
  see();
  for (unsigned router = 1; router <= n_routers; ++router) {
    must({removal(route(router, false, 1, 24, 0))});
    must({route(router, false, 1, 24, 2)});  // now older
  }
  must({add_rule(0, 0, {}, pipeline::test::apply({output(5)}))});
  see();
  EXPECT_EQ(kind(), table_template::decomposed);
  in_.check_nothing_stays();
}

TEST_F(routers, a_route_above_a_longer_one_breaks_it) {
  add_all();
  rule_mod above = route(2, false, 1, 16, 4);
  above.priority = priority_of(24);
  must({above});
  EXPECT_EQ(kind(), table_template::classifier);
  see();
  must({removal(above)});
  for (unsigned i = 0; i < 64; ++i) must({route(1 + i % 4, i % 8 < 4, i % 6, 30, 1 + i % 6)});
  EXPECT_EQ(kind(), table_template::decomposed);
  see();
  in_.check_nothing_stays();
}

/// Two that are no trouble each by itself; and a bundle after which all is in order.
TEST_F(routers, the_order_of_a_bundle_is_that_of_its_end) {
  add_all();
  const table_form* const before = &form();
  rule_mod low = route(2, false, 9, 26, 4), high = route(2, false, 9, 25, 4);
  low.priority = priority_of(25);
  high.priority = priority_of(24);
  std::vector<operation> bundle{low, high};
  for (unsigned number = 0; number < n_routes / n_lengths; ++number) {
    for (const unsigned length : {24, 25}) {
      bundle.emplace_back(removal(route(2, false, number, length, 0)));
    }
  }
  must(bundle);
  EXPECT_EQ(&form(), before);
  see();
  rule_mod one = route(3, true, 9, 49, 4), other = route(3, true, 9, 50, 4);
  one.priority = other.priority = priority_of(49);
  must({one, other});
  EXPECT_EQ(kind(), table_template::classifier);
  see();
  in_.check_nothing_stays();
}

rule_mod with(rule_mod of, const match_term& more) {
  std::vector<match_term> terms = of.match.terms();
  terms.push_back(more);
  of.match = where(std::move(terms));
  return of;
}

/// Some address of the subnet, in any network like it: no prefix, but of the same bits.
match_term with_holes(unsigned number) {
  match_term made = subnet(false, number, 32);
  made.mask = 0xff00ffff;
  made.value &= made.mask;
  return made;
}

/// They are apart, until there are too many of them, or it is built anew and the set is small.
TEST_F(routers, other_rules_of_a_router_are_apart) {
  add_all();
  const table_form* const before = &form();
  must({route(5, false, 1, 24, 3)});
  for (const unsigned dscp : {0, 10, 18}) {
    rule_mod other = with(route(5, false, 1, 24, 4), exact(field::ip_dscp, dscp));
    other.priority = 1000;
    must({other});
  }
  rule_mod below = with(route(2, true, 1, 48, 4), exact(field::ip_dscp, 0));
  below.priority = 1;
  must({below});
  see();
  for (unsigned i = 0; i < 40; ++i) must({route(5, false, i, 26, 1 + i % 6)});
  see();
  EXPECT_EQ(form().by(), "in_port, dl_type: exact to 9 lpm tables");
  must({removal(below)});
  must({with(route(5, false, 1, 24, 6), exact(field::ip_dscp, 10))});
  see();
  EXPECT_EQ(&form(), before);
  for (unsigned i = 0; i < 62; ++i) {
    must({with(route(6, false, i, 24, 1 + i % 6), exact(field::eth_dst, i))});
  }
  EXPECT_EQ(kind(), table_template::classifier);
  see();
  in_.check_nothing_stays();
}

/// Each brings a route and another rule, which has a field more.
TEST_F(routers, tenants_that_come_are_taken_in_place) {
  add_ports();
  const auto tenant = [](unsigned number, bool other) {
    std::vector<match_term> terms{ipv4(), exact(field::metadata, number), subnet(false, 1, 24)};
    if (other) terms.push_back(exact(field::ip_dscp, 3));
    return add_rule(0, other ? 1000 : 100, where(std::move(terms)),
                    pipeline::test::apply({output(2)}));
  };
  std::vector<operation> many;
  for (unsigned i = 0; i < 200; ++i) {
    std::vector<match_term> terms{ipv4(), exact(field::metadata, i % 4),
                                  subnet(false, i / 4, 24 + i % 3)};
    many.emplace_back(add_rule(0, static_cast<std::uint16_t>(100 + i % 3), where(std::move(terms)),
                               pipeline::test::apply({output(3)})));
  }
  must(many);
  ASSERT_EQ(kind(), table_template::decomposed);
  unsigned n_built = 0;
  const table_form* before = &form();
  for (unsigned i = 0; i < 100; ++i) {
    for (const bool other : {false, true}) {
      must({tenant(100 + i, other)});
      n_built += std::exchange(before, &form()) != &form() ? 1 : 0;
    }
  }
  EXPECT_EQ(kind(), table_template::decomposed);
  EXPECT_LE(n_built, 3U);
  in_.check_nothing_stays();
}

/// In one bundle with the first route of their set, before it or behind it.
TEST_F(routers, other_rules_may_come_with_the_first_route) {
  for (const bool is_first : {false, true}) {
    SCOPED_TRACE(is_first);
    if (!is_first) add_all();
    const port_no port = is_first ? 6 : 5;
    std::vector<operation> both{
        route(port, false, 1, 24, 3),
        add_rule(0, 500, where({ipv4(), exact(field::in_port, port), with_holes(1)}),
                 pipeline::test::apply({output(4)})),
    };
    if (is_first) std::swap(both[0], both[1]);
    must(both);
    ASSERT_EQ(kind(), table_template::decomposed);
    see();
  }
  EXPECT_EQ(form().by(), "in_port, dl_type: exact to 1 direct and 9 lpm tables");
  in_.check_nothing_stays();
}

/// They are prefixes, but not of that alone, or not all of them.
TEST_F(routers, sets_of_other_kinds_are_compared_with_from_the_start) {
  add_all();
  for (unsigned i = 0; i < 3; ++i) {
    must({with(route(5, false, i, 24, 3 + i), exact(field::ip_dscp, 0)),
          with(route(5, true, i, 64, 3 + i), exact(field::ip_dscp, 0)),
          route(6, false, i, 24, 2 + i)});
  }
  must({add_rule(0, 500, where({ipv4(), exact(field::in_port, 6), with_holes(1)}),
                 pipeline::test::apply({output(4)}))});
  ASSERT_EQ(kind(), table_template::decomposed);
  EXPECT_EQ(form().by(), "in_port, dl_type: exact to 2 direct and 9 lpm tables");
  see();
  in_.check_nothing_stays();
}

/// What is gone is in nobody's way, from the next version on.
TEST_F(routers, the_order_is_that_of_the_routes_there_are) {
  add_all();
  const table_form* const before = &form();
  for (unsigned number = 0; number < n_routes / n_lengths; ++number) {
    must({removal(route(2, false, number, 24, 0)), removal(route(2, false, number, 25, 0)),
          removal(route(2, false, number, 32, 0))});
  }
  rule_mod low = route(2, false, 2, 24, 4);
  low.priority = static_cast<std::uint16_t>(priority_of(23) + 1);
  must({low});
  rule_mod next = route(2, false, 2, 26, 5);
  next.priority = static_cast<std::uint16_t>(low.priority + 1);
  must({next});
  next = route(2, false, 2, 25, 5);
  next.priority = low.priority;
  must({removal(low)});
  must({next});
  EXPECT_EQ(&form(), before);
  see();
  in_.check_nothing_stays();
}

/// Its root was for a few.
TEST_F(routers, one_that_grows_is_built_anew_for_more) {
  add_all();
  const table_form* const before = &form();
  std::vector<operation> many;
  const auto more = [&](unsigned from, unsigned to) {
    std::vector<operation> bundle;
    for (unsigned i = from; i < to; ++i) bundle.emplace_back(route(1, false, i, 29, 1 + i % 6));
    must(bundle);
  };
  more(0, 1000);
  must({route(1, false, 1, 30, 2)});
  EXPECT_EQ(&form(), before);
  more(1000, 1100);
  must({route(1, false, 1, 31, 2)});
  EXPECT_NE(&form(), before);
  EXPECT_EQ(kind(), table_template::decomposed);
  EXPECT_EQ(form().by(), "in_port, dl_type: exact to 8 lpm tables");
  see();
  in_.check_nothing_stays();
}

/// After a version that took changes in place, and had no record left for the last of them, tables
/// that it touched are built anew.
TEST(failed_routers, are_built_anew_as_they_were) {
  checked_pipeline in(512, {.spare_records = 256, .limits = no_mixed_tables});
  const auto form = [&] { return in.bridge().compiler().form(0); };
  for (port_no i = 1; i <= 6; ++i) ASSERT_TRUE(in.apply({pipeline::test::add_port(i)}));
  for (unsigned router = 1; router <= 3; ++router) {
    for (unsigned i = 0; i < 40; ++i)
      ASSERT_TRUE(in.apply({route(router, false, i, 22 + i % 5, 1 + i % 6)}));
  }
  // One that has nothing but a route for all, one with other rules, and more of one place than a
  // set that is compared with could have.
  ASSERT_TRUE(in.apply({route(5, false, 0, 0, 2)}));
  ASSERT_TRUE(in.apply({with(route(1, false, 1, 24, 4), exact(field::ip_dscp, 0))}));
  ASSERT_TRUE(in.apply({with(route(5, false, 1, 24, 4), exact(field::ip_dscp, 0))}));
  for (std::uint16_t priority = 1; priority < 40; ++priority) {
    rule_mod one = route(6, false, 0, 0, 3);
    one.priority = priority;
    ASSERT_TRUE(in.apply({one}));
  }
  ASSERT_EQ(form()->kind(), table_template::decomposed);
  const table_form* before = form();
  unsigned n = 0;
  while (n < 10'000 && in.apply({route(1, false, 0, 22, 1 + n % 6)})) ++n;
  EXPECT_LT(n, 10'000U);
  EXPECT_NE(form(), before);
  EXPECT_EQ(form()->kind(), table_template::decomposed);
  std::vector<packet> burst;
  for (unsigned i = 0; i < executor::burst_max; ++i) {
    packet one = pipeline::test::from_port_1(pipeline::test::frames()[3]);
    one.in_port = 1 + i % 6;
    net::store_be32(one.bytes.data() + 30, 0x0a00'0000 + (i << 7));
    burst.push_back(std::move(one));
  }
  in.receive(burst);
  in.check_counters();
}

TEST_F(routers, failed_versions_leave_them) {
  constexpr table_id spoiled = 1;
  add_all();
  must(table_to_spoil(spoiled));
  std::vector<operation> bundle{route(5, true, 1, 64, 2), removal(route(2, false, 1, 24, 0)),
                                route(1, false, 1, 24, 6), route(3, true, 2, 96, 1),
                                with(route(4, true, 1, 48, 2), exact(field::ip_dscp, 0))};
  spoil(bundle, spoiled);
  const table_form* const before = &form();
  EXPECT_FALSE(in_.apply(bundle));
  EXPECT_EQ(in_.n_full, 1U);
  EXPECT_NE(&form(), before);
  EXPECT_EQ(form().by(), "in_port, dl_type: exact to 8 lpm tables");
  see();
  must({route(5, true, 1, 64, 2), removal(route(2, false, 1, 24, 0)), route(3, true, 2, 96, 1)});
  EXPECT_EQ(form().by(), "in_port, dl_type: exact to 9 lpm tables");
  see();
  in_.check_nothing_stays();
}

/// A rule that was a clause is older than others, so the table is built anew.
TEST(failed_routers, are_built_anew_for_what_was_a_clause) {
  checked_pipeline in;
  for (port_no i = 1; i <= 6; ++i) ASSERT_TRUE(in.apply({pipeline::test::add_port(i)}));
  for (unsigned router = 1; router <= 3; ++router) {
    for (unsigned i = 0; i < 40; ++i)
      ASSERT_TRUE(in.apply({route(router, false, i, 22 + i % 5, 1 + i % 6)}));
  }
  ASSERT_TRUE(in.apply({route(5, false, 0, 0, 2)}));
  rule_mod clause = route(1, false, 70, 24, 2);
  clause.instructions = pipeline::test::apply({pipeline::act::conjunction{1, 1, 2}});
  ASSERT_TRUE(in.apply({clause}));
  const table_form* const before = in.bridge().compiler().form(0);
  ASSERT_TRUE(in.apply({route(1, false, 70, 24, 2)}));
  EXPECT_NE(in.bridge().compiler().form(0), before);
  EXPECT_EQ(in.bridge().compiler().form(0)->kind(), table_template::decomposed);
  in.check_nothing_stays();
}

/// The type of Ethernet is no column here, and no rule asked for it alone when the table was split.
TEST(routers_in_trains, of_two_types_are_none) {
  checked_pipeline in;
  for (port_no i = 1; i <= 6; ++i) ASSERT_TRUE(in.apply({pipeline::test::add_port(i)}));
  std::vector<operation> all;
  for (unsigned router = 1; router <= 3; ++router) {
    for (unsigned i = 0; i < 40; ++i)
      all.emplace_back(route(router, false, i, 22 + i % 5, 1 + i % 6));
  }
  for (unsigned port = 4; port <= 6; ++port) {
    for (unsigned i = 0; i < 10; ++i) {
      const match what = where(
          {exact(field::in_port, port), {field::eth_dst, value128{i} << 40, value128{0xff} << 40}});
      all.emplace_back(add_rule(0, 7, what, pipeline::test::apply({output(2)})));
    }
  }
  ASSERT_TRUE(in.apply(all));
  const table_form* const before = in.bridge().compiler().form(0);
  ASSERT_EQ(before->by(), "in_port: exact to 3 direct and 3 lpm tables");
  ASSERT_TRUE(in.apply({route(1, false, 0, 0, 5)}));
  ASSERT_EQ(in.bridge().compiler().form(0), before);
  packet one = pipeline::test::from_port_1(pipeline::test::frames()[3]);
  one.bytes.resize(net::ethernet_header_bytes + 2);
  net::store_be16(one.bytes.data() + 12, net::ethertype_ipv4);
  packet other = one;
  net::store_be16(other.bytes.data() + 12, 0x9999);
  std::vector<packet> train(executor::burst_max, one);
  train[9] = other;
  in.receive(train);
  std::fill(train.begin(), train.end(), other);
  train[9] = one;
  in.receive(train);
  in.check_counters();
}

/// What serves a table is decided by its rules, not by how they came.
TEST_F(routers, one_bundle_ends_as_rule_by_rule_does) {
  add_ports();
  std::vector<operation> all;
  for (unsigned router = 1; router <= n_routers; ++router) {
    for (const bool is_v6 : {false, true}) {
      for (unsigned i = 0; i < n_routes; ++i) {
        all.emplace_back(route(router, is_v6, i / n_lengths, length(is_v6, i), 1 + i % n_ports));
      }
    }
  }
  must(all);
  EXPECT_EQ(form().by(), "in_port, dl_type: exact to 8 lpm tables");
  see();
  in_.check_nothing_stays();
}

/// Changes that are said to be quick build nothing anew.
TEST(quick_routers, are_quick_only_where_nothing_is_built) {
  auto made = running_bridge::create({.rules_max = 1 << 17});
  COUA_CHECK(made.has_value());
  running_bridge& in = **made;
  const auto tenant = [](unsigned number, unsigned subnet_of, unsigned length) {
    const match what =
        where({ipv4(), exact(field::metadata, number), subnet(false, subnet_of, length)});
    return add_rule(0, priority_of(length), what, pipeline::test::apply({}));
  };
  std::vector<operation> many;
  for (unsigned i = 0; i < 40'000; ++i) many.emplace_back(tenant(i % 4, i / 4, 24 + i % 3));
  ASSERT_TRUE(in.apply(many, 0));
  const auto is_true_of = [&](const rule_mod& asked) {
    const operation one = asked;
    const table_form* const before = in.compiler().form(0);
    const bool quick = in.is_quick({&one, 1});
    EXPECT_TRUE(in.apply(one, 0));
    in.reclaim();
    return !quick || in.compiler().form(0) == before;
  };
  const operation usual = tenant(2, 50'000, 24);
  EXPECT_TRUE(in.is_quick({&usual, 1}));
  // Until there are more than the store of values has room for.
  for (unsigned i = 0; i < 700; ++i) ASSERT_TRUE(is_true_of(tenant(100 + i, 1, 24))) << i;
  rule_mod above = tenant(2, 3, 16);
  above.priority = 500;
  EXPECT_TRUE(is_true_of(above));
  EXPECT_EQ(in.compiler().form(0)->kind(), table_template::classifier);
}

}  // namespace
}  // namespace coua::test
