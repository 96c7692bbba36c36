// SPDX-License-Identifier: Apache-2.0
//
// The first table and those behind it as one look-up, beside the oracle: which rules are joined and
// which are not, what changes of either do, and what both count.
#include <gtest/gtest.h>

#include <random>

#include "base/sanitizer.h"
#include "checked_pipeline.h"
#include "joined_rules.h"
#include "net/wire.h"
#include "pipeline/compiler/join_pairs.h"
#include "pipeline/datapath/test_frames.h"

namespace coua::test {
namespace {

using namespace pipeline;
namespace act = pipeline::act;
using pipeline::test::add_meter;
using pipeline::test::add_rule;
using pipeline::test::change_rules;
using pipeline::test::ipv4;
using pipeline::test::output;
using pipeline::test::where;

constexpr unsigned n_tenants = 4, n_users = 20;
constexpr table_id routes = 8;
constexpr std::uint64_t first_source = 0x0200'0000'0100;

table_id users_of(unsigned tenant) { return static_cast<table_id>(1 + tenant); }

/// Packets with a tenant's tag go to the table of its users, without it.
rule_mod tenant_rule(unsigned tenant, action_list list = {act::pop_vlan{}}) {
  return add_rule(0, 10, where({exact(field::in_port, 1), tag(100 + tenant)}),
                  then(std::move(list), users_of(tenant)));
}
rule_mod user_rule(unsigned tenant, unsigned user, std::uint32_t as = 0x0b00'0000) {
  return add_rule(users_of(tenant), 20, where({ipv4(), from(user)}),
                  then({act::set(field::ipv4_src, as + tenant * 256 + user)}, routes));
}
rule_mod route(unsigned number, port_no to) {
  return add_rule(routes, 5, where({ipv4(), exact(field::ipv4_dst, 0x0c00'0000 + number)}),
                  then({output(to)}));
}
rule_mod removal(const rule_mod& of) {
  return change_rules(rule_command::remove_strict, of.table, of.priority, of.match);
}

class joined : public ::testing::Test {
 protected:
  void must(const std::vector<operation>& bundle) { ASSERT_TRUE(in_.apply(bundle)); }
  void add_all() {
    for (port_no i = 1; i <= 4; ++i) must({pipeline::test::add_port(i)});
    for (unsigned tenant = 0; tenant < n_tenants; ++tenant) {
      must({tenant_rule(tenant)});
      for (unsigned user = 0; user < n_users; ++user) must({user_rule(tenant, user)});
    }
    for (unsigned i = 0; i < 3; ++i) must({route(i, 2 + i)});
  }

  std::size_t n_pairs() {
    in_.bridge().tend(later);
    return in_.bridge().compiler().joined().n_pairs();
  }
  std::uint64_t n_met(table_id id = 0) {
    in_.collect();
    return in_.bridge().compiler().joined().n_met(id);
  }

  static packet packet_of(const pipeline::test::bytes& frame, unsigned vid, unsigned user,
                          unsigned to, port_no port) {
    packet one = pipeline::test::from_port_1(frame);
    one.in_port = port;
    std::size_t network = net::ethernet_header_bytes;
    if (net::load_be16(one.bytes.data() + 12) == 0x8100) {
      net::store_be16(one.bytes.data() + 14, static_cast<std::uint16_t>(vid));
      network += 4;
    }
    if (net::load_be16(one.bytes.data() + network - 2) == net::ethertype_ipv4) {
      net::store_be32(one.bytes.data() + network + 12, first_user + user);
      net::store_be32(one.bytes.data() + network + 16, 0x0c00'0000 + to);
    }
    return one;
  }
  /// Of IPv4, behind a tag.
  static packet known(unsigned i, unsigned vid = 100) {
    static const pipeline::test::bytes frame = [] {
      const std::vector<pipeline::test::bytes>& frames = pipeline::test::frames();
      return *std::find_if(frames.begin(), frames.end(), [](const auto& each) {
        return net::load_be16(each.data() + 12) == 0x8100 &&
               net::load_be16(each.data() + 16) == net::ethertype_ipv4;
      });
    }();
    return packet_of(frame, vid + i % n_tenants, i % n_users, i % 3, 1);
  }
  /// Of all kinds of frames, from users that are there and some that are not; in bursts of which
  /// some are all joined, some in part and some not at all.
  void see() {
    std::vector<packet> all;
    for (unsigned i = 0; i < 2 * executor::burst_max; ++i) all.push_back(known(i));
    in_.receive_all(all);
    all.clear();
    for (const pipeline::test::bytes& frame : pipeline::test::frames()) {
      for (unsigned i = 0; i < 40; ++i) {
        all.push_back(packet_of(frame, 100 + i % (n_tenants + 1), i * 7 % (n_users + 2), i % 4,
                                i % 11 == 0 ? 2 : 1));
      }
    }
    ASSERT_GT(in_.receive_all(all), 0U);
    std::shuffle(all.begin(), all.end(), random_);
    ASSERT_GT(in_.receive_all(all), 0U);
  }

  checked_pipeline in_{joined_at_once};
  std::mt19937_64 random_{1};
};

TEST_F(joined, tenants_and_their_users) {
  add_all();
  ASSERT_EQ(n_pairs(), n_tenants * n_users);
  for (unsigned tenant = 0; tenant < n_tenants; ++tenant)
    EXPECT_EQ(in_.bridge().compiler().joined().n_pairs(users_of(tenant)), n_users);
  EXPECT_EQ(in_.bridge().compiler().joined().n_pairs(routes), 0U);
  see();
  EXPECT_GT(n_met(), 100U);
  std::uint64_t n_next = 0;
  for (unsigned tenant = 0; tenant < n_tenants; ++tenant) n_next += n_met(users_of(tenant));
  EXPECT_EQ(n_next, n_met());
  in_.check_nothing_stays();
}

TEST_F(joined, changes_of_either_table_count_at_once) {
  add_all();
  see();
  const auto change = [&](const std::vector<operation>& bundle, std::size_t n) {
    must(bundle);
    EXPECT_EQ(in_.bridge().compiler().joined().n_pairs(), 0U);
    see();
    EXPECT_EQ(n_pairs(), n);
  };
  std::size_t n = n_tenants * n_users;
  ASSERT_EQ(n_pairs(), n);
  change({user_rule(1, 3, 0x0d00'0000)}, n);
  change({removal(user_rule(1, 3))}, --n);
  change({user_rule(1, 3), user_rule(2, n_users)}, n += 2);
  change({removal(tenant_rule(2))}, n -= n_users + 1);
  change({tenant_rule(2, {})}, n += n_users + 1);
  change({tenant_rule(3, {act::set(field::eth_src, 7)})}, n);
  // Routes are none of theirs.
  must({route(3, 2), removal(route(1, 0))});
  EXPECT_EQ(in_.bridge().compiler().joined().n_pairs(), n);
  see();
  in_.check_nothing_stays();
}

/// What the first table leads to without a pair may change, and is looked at again.
TEST_F(joined, other_tables_behind_the_first_one) {
  add_all();
  constexpr std::size_t n = n_tenants * n_users;
  must({add_rule(0, 10, where({exact(field::in_port, 2)}), then({}, routes))});
  ASSERT_EQ(n_pairs(), n);
  const auto now = [&] { return in_.bridge().compiler().joined().n_pairs(); };
  for (unsigned i = 3; i < 60; ++i) {
    must({route(i, 2 + i % 3)});
    EXPECT_EQ(now(), n);
    if (i % 10 == 0) see();
    if (i % 3 == 0) in_.bridge().tend(later);
  }
  // When there are more of them than of the others, they are joined instead.
  for (unsigned i = 60; i < 100; ++i) must({route(i, 2 + i % 3)});
  EXPECT_EQ(now(), n);
  EXPECT_EQ(n_pairs(), 100U);
  see();
  must({user_rule(0, 0, 0x0d00'0000)});
  EXPECT_EQ(now(), 100U);
  for (unsigned i = 60; i < 100; ++i) must({removal(route(i, 0))});
  EXPECT_EQ(now(), 0U);
  see();
  EXPECT_EQ(n_pairs(), n);
  see();
  in_.check_nothing_stays();
}

/// One that leads to too many takes no room from others.
TEST_F(joined, a_large_table_behind_one_rule) {
  add_all();
  std::vector<operation> bundle{add_rule(0, 100, where({exact(field::in_port, 2)}), then({}, 7))};
  for (unsigned user = 0; user <= join_limits::pairs_max; ++user) {
    bundle.emplace_back(add_rule(7, 20, where({ipv4(), from(user)}), then({output(2)})));
  }
  must(bundle);
  EXPECT_EQ(n_pairs(), n_tenants * n_users);
  see();
  bundle.clear();
  // More than are looked at; under a sanitizer, where they take half a minute, more of the others.
  constexpr unsigned users = (COUA_HAS_SHADOW ? 2 : 9) * join_limits::pairs_max;
  for (unsigned user = 0; user < users; ++user) {
    bundle.emplace_back(add_rule(7, 20, where({ipv4(), from(user)}), then({output(2)})));
  }
  must(bundle);
  EXPECT_EQ(n_pairs(), n_tenants * n_users);
  in_.check_nothing_stays();
}

/// A rule that is above one of a pair takes its packets; of those below it makes no difference.
TEST_F(joined, rules_above_and_below) {
  add_all();
  constexpr std::size_t n = n_tenants * n_users;
  const rule_mod below = add_rule(0, 1, where({exact(field::in_port, 1)}), then({output(4)}));
  must({below, add_rule(users_of(0), 1, {}, then({output(3)}))});
  EXPECT_EQ(n_pairs(), n);
  see();
  must({add_rule(0, 20, where({from(2), ipv4()}), then({output(4)}))});
  EXPECT_EQ(n_pairs(), n - n_tenants);
  see();
  must({add_rule(users_of(1), 30, where({exact(field::ip_proto, 6), ipv4()}), then({output(4)}))});
  EXPECT_EQ(n_pairs(), n - n_tenants - (n_users - 1));
  see();
  must({add_rule(users_of(2), 30, where({exact(field::eth_type, 0x0806)}), then({output(4)}))});
  EXPECT_EQ(n_pairs(), n - n_tenants - (n_users - 1));
  see();
  // Two of one match: the higher one counts.
  rule_mod other = user_rule(3, 4, 0x0e00'0000);
  other.priority = 40;
  must({other});
  see();
  must({removal(other)});
  see();
  in_.check_nothing_stays();
}

TEST_F(joined, what_an_action_changes_is_not_asked_before) {
  add_all();
  constexpr std::size_t n = n_tenants * n_users;
  // The source is another one in the next table; so it is without a tag, or with one more.
  must({tenant_rule(0,
                    {act::pop_vlan{}, act::set(field::eth_dst, 1), act::set(field::eth_src, 2)})});
  EXPECT_EQ(n_pairs(), n);
  see();
  rule_mod one = tenant_rule(0);
  one.match = where({exact(field::in_port, 1), tag(100), ipv4()});
  one.priority = 11;
  one.instructions = then({act::set(field::ipv4_src, 0x0a00'0003)}, users_of(0));
  must({one});
  EXPECT_EQ(n_pairs(), n - n_users);
  see();
  one.instructions = then({act::push_vlan{}}, users_of(0));
  must({one});
  EXPECT_EQ(n_pairs(), n - n_users);
  see();
  must({removal(one)});
  for (unsigned user = 0; user < n_users; ++user) {
    must({removal(user_rule(0, user))});
    must({add_rule(users_of(0), 20, where({ipv4(), from(user), exact(field::vlan_vid, 0)}),
                   then({output(2)}))});
  }
  EXPECT_EQ(n_pairs(), n - n_users);
  see();
  in_.check_nothing_stays();
}

/// Each of these in the first rule, and in the second one.
TEST_F(joined, what_is_not_plain_is_not_joined) {
  add_all();
  constexpr std::size_t n = n_tenants * n_users;
  must({add_meter(1, meter_unit::pktps, {})});
  must({pipeline::test::add_group(1, group_type::indirect, {pipeline::test::to({output(2)})})});
  std::vector<instructions> odd;
  for (const action& each :
       {action(output(port_controller)), action(act::dec_ip_ttl{}), action(act::group{1}),
        action(act::resubmit{port_in_port, routes}), action(output(port_flood)),
        action(act::set_queue{1}), action(act::push_mpls{})}) {
    odd.push_back(then({each}));
  }
  odd.push_back(then({}));
  odd.back().meter = 1;
  for (instructions each : odd) {
    rule_mod first = tenant_rule(1);
    each.goto_table = users_of(1);
    // A TTL is that of a packet of IP.
    first.match = where({exact(field::in_port, 1), tag(101), ipv4()});
    first.priority = 12;
    first.instructions = each;
    must({first});
    EXPECT_EQ(n_pairs(), n - n_users) << to_string(each);
    see();
    must({removal(first), tenant_rule(1)});
    rule_mod second = user_rule(2, 5);
    each.goto_table = routes;
    second.instructions = each;
    must({second});
    EXPECT_EQ(n_pairs(), n - 1) << to_string(each);
    see();
    must({user_rule(2, 5)});
    EXPECT_EQ(n_pairs(), n);
  }
  in_.check_nothing_stays();
}

/// What the first one writes for later is not there yet where packets arrive.
TEST_F(joined, metadata_and_action_sets) {
  add_all();
  constexpr std::size_t n = n_tenants * n_users;
  for (const bool is_write : {false, true}) {
    rule_mod first = tenant_rule(0);
    if (is_write) {
      first.instructions.write = action_list{output(4)};
    } else {
      first.instructions.metadata = metadata_write{7};
    }
    must({first});
    EXPECT_EQ(n_pairs(), n - n_users);
    see();
  }
  must({tenant_rule(0)});
  rule_mod second = user_rule(0, 1);
  second.instructions.write = action_list{output(4), act::set(field::eth_dst, 9)};
  second.instructions.metadata = metadata_write{7};
  second.instructions.clear_actions = true;
  must({second});
  EXPECT_EQ(n_pairs(), n);
  see();
  must({add_rule(users_of(0), 20, where({ipv4(), from(2), exact(field::metadata, 0)}),
                 then({output(2)}))});
  EXPECT_EQ(n_pairs(), n - 1);  // it may be above the user's
  see();
  in_.check_nothing_stays();
}

/// The packets of a rule that goes are told with it, of whichever table.
TEST_F(joined, counts_are_told_when_rules_go_or_change) {
  add_all();
  std::vector<packet> some;
  for (unsigned i = 0; i < executor::burst_max; ++i) some.push_back(known(i * 3));
  for (int i = 0; i < 3; ++i) {
    ASSERT_GT(n_pairs(), 0U);
    in_.receive(some);  // what they count is not taken over before
    must({removal(user_rule(1, 3)), removal(tenant_rule(2))});
    must({user_rule(1, 3), tenant_rule(2)});
    see();
    ASSERT_GT(n_pairs(), 0U);
    in_.receive(some);
    // The same rule again: it counts from nothing, or goes on.
    rule_mod again = user_rule(0, 2);
    must({again});
    again.flags = rule_reset_counts;
    must({again});
    see();
    must({change_rules(rule_command::modify, users_of(3), 0, {}, then({output(2)}))});
    see();
  }
  in_.check_nothing_stays();
}

TEST_F(joined, rules_time_out_by_what_pairs_counted) {
  add_all();
  rule_mod first = tenant_rule(0), second = user_rule(1, 1);
  first.idle_timeout_s = second.idle_timeout_s = 2;
  must({removal(first), removal(second)});
  must({first, second});
  for (int i = 0; i < 6; ++i) {
    ASSERT_GT(n_pairs(), 0U);
    see();
    in_.wait(ns_per_s);
  }
  in_.wait(3 * ns_per_s);
  EXPECT_EQ(n_pairs(), (n_tenants - 1) * n_users - 1);
  see();
  in_.check_nothing_stays();
}

/// A rule comes back under the number of one that went, while packets still counted under pairs.
TEST_F(joined, fails_and_is_there_again) {
  add_all();
  see();
  ASSERT_GT(n_pairs(), 0U);
  // More than one table can have: refused as a whole, and nothing is lost.
  std::vector<operation> bundle{removal(tenant_rule(0)), removal(user_rule(1, 1))};
  bundle.emplace_back(add_rule(users_of(0), 1, where({exact(field::in_port, 1)}), then({}, 0)));
  EXPECT_FALSE(in_.apply(bundle));  // goes back
  see();
  EXPECT_EQ(n_pairs(), n_tenants * n_users);
  see();
  in_.check_nothing_stays();
}

/// Keys of three words do not pay.
TEST_F(joined, long_keys_are_not) {
  add_all();
  for (unsigned user = 0; user < n_users; ++user) {
    must({removal(user_rule(0, user))});
    must({add_rule(users_of(0), 20,
                   where({ipv4(), from(user), exact(field::eth_src, 0x0101'0101'0101),
                          exact(field::eth_dst, 0x0101'0101'0102)}),
                   then({output(2)}))});
  }
  EXPECT_EQ(n_pairs(), (n_tenants - 1) * n_users);  // more are alike
  for (unsigned tenant = 1; tenant < n_tenants; ++tenant) must({removal(tenant_rule(tenant))});
  EXPECT_EQ(n_pairs(), 0U);
  must({add_rule(0, 0, {}, then({output(3)}))});
  see();
  in_.check_nothing_stays();
}

/// Of the packets of the second table the first one may take but some.
TEST_F(joined, one_table_behind_many_rules) {
  constexpr unsigned n_first = 64, n_each = join_limits::pairs_max / n_first;
  for (port_no i = 1; i <= 4; ++i) must({pipeline::test::add_port(i)});
  std::vector<operation> bundle;
  for (unsigned port = 1; port <= n_first; ++port) {
    bundle.emplace_back(add_rule(0, 10, where({exact(field::in_port, port)}), then({}, 1)));
    for (unsigned user = 0; user < n_each; ++user) {
      bundle.emplace_back(add_rule(1, 10, where({exact(field::in_port, port), ipv4(), from(user)}),
                                   then({output(2 + (port + user) % 3)})));
    }
  }
  must(bundle);
  EXPECT_EQ(n_pairs(), n_first * n_each);
  see();
  EXPECT_GT(n_met(), executor::burst_max);
  in_.check_nothing_stays();
}

/// Behind more tags than are followed stands the type of a tag, and without the first one another.
TEST_F(joined, types_of_tags_are_not_what_they_were) {
  for (port_no i = 1; i <= 4; ++i) must({pipeline::test::add_port(i)});
  must({add_rule(0, 20, where({exact(field::in_port, 3), tag(1)}), then({act::pop_vlan{}}, 7))});
  for (const auto& [type, n] : {std::pair{0x8100U, 0U}, {0x88a8U, 0U}, {0x0800U, n_users}}) {
    std::vector<operation> bundle{change_rules(rule_command::remove, 7, 0, {})};
    for (unsigned user = 0; user < n_users; ++user) {
      const std::vector<match_term> terms{exact(field::eth_type, type),
                                          exact(field::eth_src, first_source + user)};
      bundle.emplace_back(add_rule(7, 20, where(terms), then({output(2)})));
    }
    must(bundle);
    ASSERT_EQ(in_.bridge().compiler().form(7)->kind(), table_template::exact);
    EXPECT_EQ(n_pairs(), n);
    std::vector<packet> all;
    for (const pipeline::test::bytes& frame : pipeline::test::frames()) {
      packet one = pipeline::test::from_port_1(frame);
      one.in_port = 3;
      net::store_mac(one.bytes.data() + 6, first_source + all.size() % n_users);
      all.push_back(one);
    }
    std::shuffle(all.begin(), all.end(), random_);  // some of them in a row are taken for a train
    in_.receive_all(all);
    EXPECT_EQ(n_met() != 0, n != 0);
  }
  in_.check_nothing_stays();
}

TEST_F(joined, has_bounds) {
  add_all();
  std::vector<operation> bundle;
  const std::size_t n = join_limits::pairs_max - (n_tenants - 1) * n_users;
  for (unsigned user = n_users; user < n; ++user) bundle.emplace_back(user_rule(0, user));
  must(bundle);
  EXPECT_EQ(n_pairs(), join_limits::pairs_max);
  see();
  must({user_rule(0, static_cast<unsigned>(n))});
  EXPECT_LT(n_pairs(), join_limits::pairs_max);
  EXPECT_GT(n_pairs(), 0U);
  see();
  bundle.clear();
  for (unsigned i = 0; i < join_limits::first_max; ++i) {
    bundle.emplace_back(
        add_rule(0, 1, where({exact(field::in_port, 1000 + i)}), then({output(2)})));
  }
  must(bundle);
  EXPECT_EQ(n_pairs(), 0U);
  see();
  in_.check_nothing_stays();
}

TEST_F(joined, needs_a_quiet_time) {
  checked_pipeline in{compiler_params{.limits = {.direct_long = 0}, .join_after = ns_per_s}};
  const auto n_joined = [&in] { return in.bridge().compiler().joined().n_pairs(); };
  for (port_no i = 1; i <= 4; ++i) ASSERT_TRUE(in.apply({pipeline::test::add_port(i)}));
  ASSERT_TRUE(in.apply({tenant_rule(0)}));
  for (unsigned user = 0; user < n_users; ++user) ASSERT_TRUE(in.apply({user_rule(0, user)}));
  in.bridge().tend(ns_per_s);
  EXPECT_EQ(n_joined(), 0U);
  in.bridge().tend(ns_per_s + 1);
  EXPECT_EQ(n_joined(), n_users);
  in.wait(5 * ns_per_s);
  ASSERT_TRUE(in.apply({user_rule(0, 0, 0x0d00'0000)}));
  EXPECT_EQ(n_joined(), 0U);
  in.bridge().tend(5 * ns_per_s);
  EXPECT_EQ(n_joined(), 0U);
  in.bridge().tend(6 * ns_per_s + 1);
  EXPECT_EQ(n_joined(), n_users);
  in.check_nothing_stays();
}

/// Bursts that it does not know pass it over, and it is found out when others come.
TEST_F(joined, is_passed_over_where_it_does_not_pay) {
  add_all();
  ASSERT_GT(n_pairs(), 0U);
  std::vector<packet> some, others;
  for (unsigned i = 0; i < executor::burst_max; ++i) {
    some.push_back(known(i));
    others.push_back(known(i, 300));
  }
  in_.receive(some);
  EXPECT_EQ(n_met(), executor::burst_max);
  for (int i = 0; i < 8; ++i) in_.receive(others);
  in_.receive(some);
  EXPECT_EQ(n_met(), executor::burst_max);
  for (int i = 0; i < 80; ++i) in_.receive(some);
  EXPECT_GT(n_met(), 2 * executor::burst_max);
  in_.check_counters();
  in_.check_nothing_stays();
}

}  // namespace
}  // namespace coua::test
