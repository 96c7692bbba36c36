// SPDX-License-Identifier: Apache-2.0
//
// Rules that packets leave behind: what they are made of, and what becomes of them in the model.
#include "pipeline/model/learn.h"

#include <gtest/gtest.h>

#include "pipeline/model/action_check.h"
#include "pipeline/model/test_model.h"

namespace coua::pipeline {
namespace {

using namespace test;
using part = act::learn::part;

constexpr field_bits all_of(field which) { return {which, 0, 48}; }
const field_bits port_16 = {field::in_port, 0, 16};

part same(const field_bits& to, const field_bits& from) { return {part::role::match, from, 0, to}; }
part constant(field which, value128 value) {
  return {part::role::match, {}, value, {which, 0, info(which).n_bits}};
}
part load(const field_bits& to, value128 value) { return {part::role::load, {}, value, to}; }
part send_to(const field_bits& from) { return {part::role::output, from, 0, {}}; }

/// As a learning switch does: back to the source by the port where it came from.
act::learn learn_source(std::uint64_t cookie = 0) {
  act::learn made;
  made.cookie = cookie;
  made.parts = {same(all_of(field::eth_dst), all_of(field::eth_src)), send_to(port_16)};
  return made;
}

rule_mod rule_of(const act::learn& how, std::vector<value128> values) {
  auto made = learned_rule(how, values);
  EXPECT_TRUE(made) << made.error().message();
  return made ? *made : rule_mod{};
}

of_error refusal(const act::learn& how) {
  const auto good = check_learn(how);
  return good ? of_error{} : good.error().code;
}

TEST(learned_rule, has_what_the_packet_had) {
  act::learn how = learn_source(7);
  how.table = 3;
  how.priority = 9;
  how.idle_timeout_s = 1;
  how.hard_timeout_s = 2;
  how.send_removed = true;
  how.parts.push_back(load({field::reg0, 4, 4}, 5));
  const rule_mod made = rule_of(how, {0x020000000001, 4});
  EXPECT_EQ(made.table, 3);
  EXPECT_EQ(made.priority, 9);
  EXPECT_EQ(made.cookie, 7U);
  EXPECT_EQ(made.idle_timeout_s, 1);
  EXPECT_EQ(made.hard_timeout_s, 2);
  EXPECT_EQ(made.flags, rule_send_removed);
  EXPECT_EQ(made.match, where({exact(field::eth_dst, 0x020000000001)}));
  EXPECT_EQ(made.instructions, apply({output(4), act::set_field{field::reg0, 0x50, 0xf0}}));
}

TEST(learned_rule, joins_bits_of_one_field) {
  act::learn how;
  how.parts = {same({field::reg1, 0, 8}, {field::reg0, 0, 8}),
               same({field::reg1, 16, 4}, {field::reg0, 0, 4}),
               {part::role::match, {}, 1, {field::reg1, 0, 1}}};
  EXPECT_EQ(rule_of(how, {0x80, 0x3}).match, where({{field::reg1, 0x30081, 0xf00ff}}));
}

TEST(learned_rule, matches_reserved_ports_by_their_short_numbers) {
  act::learn how;
  how.parts = {same(port_16, port_16)};
  EXPECT_EQ(rule_of(how, {5}).match, where({exact(field::in_port, 5)}));
  EXPECT_EQ(rule_of(how, {0xfffe}).match, where({exact(field::in_port, port_local)}));
}

TEST(learned_rule, sends_nothing_to_ports_that_are_none) {
  for (const value128 port : {0x0, 0xfffd, 0xfffa, 0xff80, 0x10002})
    EXPECT_EQ(rule_of(learn_source(), {1, port}).instructions, instructions{});
  EXPECT_EQ(rule_of(learn_source(), {1, 0xfffb}).instructions, apply({output(port_flood)}));
}

TEST(learned_rule, writes_the_number_of_a_tag_that_is_there) {
  act::learn how;
  how.parts = {{part::role::match, {}, 0x1000, {field::vlan_vid, 0, 13}}};
  how.parts[0].to.first = 0;
  how.parts.push_back(
      {part::role::load, field_bits{field::reg0, 0, 12}, 0, {field::vlan_vid, 0, 12}});
  EXPECT_EQ(refusal(how), of_error{});
  EXPECT_EQ(rule_of(how, {6}).instructions,
            apply({act::set_field{field::vlan_vid, 0x1006, 0x1fff}}));
}

/// OpenStack Neutron's, of packets out of a tunnel: back by the tunnel, without the tag of the VLAN
/// within the host.
act::learn behind_a_tunnel() {
  act::learn how;
  how.table = 2;
  how.priority = 1;
  how.hard_timeout_s = 300;
  how.parts = {
      same({field::vlan_vid, 0, 12}, {field::vlan_vid, 0, 12}),
      same(all_of(field::eth_dst), all_of(field::eth_src)), take_tag_away(),
      part{part::role::load, field_bits{field::tunnel_id, 0, 64}, 0, {field::tunnel_id, 0, 64}},
      send_to(port_16)};
  return how;
}

TEST(learned_rule, takes_the_tag_away) {
  EXPECT_EQ(refusal(behind_a_tunnel()), of_error{});
  const rule_mod made = rule_of(behind_a_tunnel(), {5, 0x020000000001, 77, 3});
  EXPECT_EQ(made.match,
            where({{field::vlan_vid, 5, 0xfff}, exact(field::eth_dst, 0x020000000001)}));
  EXPECT_EQ(made.instructions, apply({act::pop_vlan{}, act::set(field::tunnel_id, 77), output(3)}));
  bridge b = make_bridge();
  EXPECT_EQ(must(b, made).size(), 1U);
  // Number 0 is of packets with a tag, and without.
  EXPECT_EQ(must(b, rule_of(behind_a_tunnel(), {0, 1, 77, 3})).size(), 1U);
  // Who shows the rule can give it back, where its number says that there is a tag.
  EXPECT_EQ(must(b, add_rule(3, 1, made.match, made.instructions)).size(), 1U);
  EXPECT_EQ(refused(b, add_rule(3, 1, where({{field::vlan_vid, 0, 0xfff}}), made.instructions)),
            of_error::bad_action_match_inconsistent);
}

TEST(check_learn, refuses_what_can_be_no_rule) {
  const auto with = [](part one) {
    act::learn how;
    how.parts = {one};
    return refusal(how);
  };
  EXPECT_EQ(with(same({field::tcp_dst, 0, 16}, {field::reg0, 0, 16})),
            of_error::bad_action_match_inconsistent);
  EXPECT_EQ(with(same({field::reg0, 0, 16}, {field::reg1, 0, 8})),
            of_error::bad_action_set_argument);
  EXPECT_EQ(with(same({field::reg0, 20, 16}, {field::reg1, 0, 16})),
            of_error::bad_action_set_argument);
  EXPECT_EQ(with(same({field::reg0, 0, 16}, {field::reg1, 20, 16})),
            of_error::bad_action_set_argument);
  EXPECT_EQ(with(load({field::reg0, 0, 4}, 16)), of_error::bad_action_set_argument);
  EXPECT_EQ(with(load({field::in_port, 0, 32}, 1)), of_error::bad_action_set_type);
  EXPECT_EQ(with(load({field::ipv4_dst, 0, 32}, 1)), of_error::bad_action_match_inconsistent);
  EXPECT_EQ(with({part::role::output, {}, 1, {}}), of_error::bad_action_argument);
  EXPECT_EQ(with(load({field::vlan_vid, 0, 13}, 0x1001)), of_error::bad_action_set_argument);
  EXPECT_EQ(with(constant(field::in_port, 0x10002)), of_error::bad_action_set_argument);
  EXPECT_EQ(with({part::role::match, {}, 0xfffc, port_16}), of_error::bad_action_set_argument);
  EXPECT_EQ(with({part::role::match, {}, 0xfffe, port_16}), of_error{});
  EXPECT_EQ(with(constant(field::in_port, 0xfeff)), of_error{});
  act::learn tcp;
  tcp.parts = {constant(field::eth_type, 0x0800), constant(field::ip_proto, 6),
               same({field::tcp_src, 0, 16}, {field::tcp_dst, 0, 16}),
               load({field::ipv4_dst, 0, 32}, 1)};
  EXPECT_EQ(refusal(tcp), of_error{});
}

TEST(check_learn, has_bounds) {
  act::learn how;
  how.parts.assign(learned_values_max, same({field::reg0, 0, 1}, {field::reg1, 0, 1}));
  EXPECT_EQ(refusal(how), of_error{});
  how.parts.push_back(how.parts[0]);
  EXPECT_EQ(refusal(how), of_error::bad_action_too_many);
  how.parts.assign(learn_parts_max, load({field::reg0, 0, 1}, 1));
  EXPECT_EQ(refusal(how), of_error{});
  how.parts.push_back(how.parts[0]);
  EXPECT_EQ(refusal(how), of_error::bad_action_too_many);
}

TEST(check_learn, is_of_rules_and_packet_outs_that_have_what_it_takes) {
  act::learn how;
  how.parts = {constant(field::eth_type, 0x0800),
               same({field::ipv4_dst, 0, 32}, {field::ipv4_src, 0, 32})};
  const auto checked = [&](action_place place, std::vector<match_term> terms, std::uint8_t table) {
    how.table = table;
    packet_knowledge known(where(std::move(terms)));
    const auto good = check_actions({how}, place, known, 3, [](group_id) { return true; });
    return good ? of_error{} : good.error().code;
  };
  EXPECT_EQ(checked(action_place::rule, {ipv4()}, 2), of_error{});
  EXPECT_EQ(checked(action_place::packet_out, {}, 2), of_error{});
  EXPECT_EQ(checked(action_place::rule, {}, 2), of_error::bad_action_match_inconsistent);
  EXPECT_EQ(checked(action_place::rule, {ipv4()}, 3), of_error::bad_action_argument);
  EXPECT_EQ(checked(action_place::bucket, {ipv4()}, 2), of_error::bad_action_type);
  EXPECT_EQ(checked(action_place::write_actions, {ipv4()}, 2), of_error::bad_action_type);
}

TEST(learn_text, is_that_of_ovs_ofctl) {
  act::learn how = learn_source(0x1f);
  how.idle_timeout_s = 5;
  how.hard_timeout_s = 6;
  how.priority = 7;
  how.limit = 8;
  how.send_removed = how.takes_along = true;
  how.parts.push_back(constant(field::eth_type, 0x0800));
  how.parts.push_back(load({field::reg0, 4, 4}, 5));
  how.parts.push_back({part::role::load, field_bits{field::reg2, 0, 32}, 0, {field::reg1, 0, 32}});
  how.parts.push_back({part::role::match, {}, 3, {field::reg3, 0, 2}});
  EXPECT_EQ(to_string(action(how)),
            "learn(table=1,idle_timeout=5,hard_timeout=6,priority=7,send_flow_rem,delete_learned,"
            "cookie=0x1f,limit=8,dl_dst[]=dl_src[],output:in_port[0..15],dl_type=0x800,"
            "load:0x5->reg0[4..7],load:reg2[]->reg1[],reg3[0..1]=0x3)");
}

class learning : public ::testing::Test {
 protected:
  rule_mod from(unsigned mac, port_no port) {
    rule_mod made = rule_of(how, {mac, port});
    return made;
  }
  const rule_table::entry* find(unsigned mac) {
    return b.tables()[1].find(0x8000, where({exact(field::eth_dst, mac)}));
  }

  bridge b = make_bridge();
  act::learn how = learn_source(5);
};

TEST_F(learning, a_rule_that_is_there_lives_on) {
  how.hard_timeout_s = 10;
  must(b, from(1, 2), 0);
  const rule_id id = find(1)->rule->id;
  b.count_rule(id, {3, 300}, ns_per_s);
  const std::uint64_t version = b.version();
  EXPECT_TRUE(must(b, from(1, 2), 6 * ns_per_s).empty());
  EXPECT_EQ(b.version(), version) << "nothing changed for packets";
  EXPECT_EQ(find(1)->rule->added, 0U);
  EXPECT_TRUE(b.expire(15 * ns_per_s).empty());
  const change_list gone = b.expire(16 * ns_per_s);
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(std::get<rule_change>(gone[0]).reason, removal_reason::hard_timeout);
  EXPECT_EQ(std::get<rule_change>(gone[0]).state_before.counted, (traffic{3, 300}));
}

TEST_F(learning, what_somebody_added_is_left_behind_only_where_a_packet_changes_it) {
  rule_mod said = from(1, 2);
  said.command = rule_command::add;
  must(b, said);
  must(b, from(1, 2), 1);
  EXPECT_EQ(find(1)->state.learned, 1U);
  EXPECT_FALSE(find(1)->state.is_left_behind);
  must(b, from(1, 3), 2);
  EXPECT_TRUE(find(1)->state.is_left_behind);
  must(b, from(1, 3), 3);
  EXPECT_TRUE(find(1)->state.is_left_behind);
  const operation both[] = {said, add_rule(254, 1, {}, go(3))};
  EXPECT_FALSE(b.apply(both, 4));
  EXPECT_TRUE(find(1)->state.is_left_behind) << "what was refused changes nothing";
  must(b, said, 5);
  EXPECT_FALSE(find(1)->state.is_left_behind);
  must(b, from(2, 2), 6);
  EXPECT_TRUE(find(2)->state.is_left_behind);
}

TEST_F(learning, an_idle_time_starts_again_too) {
  how.idle_timeout_s = 10;
  must(b, from(1, 2), 0);
  must(b, from(1, 2), 6 * ns_per_s);
  EXPECT_TRUE(b.expire(15 * ns_per_s).empty());
  EXPECT_EQ(std::get<rule_change>(b.expire(16 * ns_per_s).at(0)).reason,
            removal_reason::idle_timeout);
}

TEST_F(learning, another_port_takes_the_place_and_keeps_the_counters) {
  must(b, from(1, 2), 0);
  const rule_id id = find(1)->rule->id;
  b.count_rule(id, {3, 300}, 1);
  EXPECT_EQ(must(b, from(1, 3), 2).size(), 1U);
  EXPECT_EQ(find(1)->rule->id, id);
  EXPECT_EQ(find(1)->rule->instructions, apply({output(3)}));
  EXPECT_EQ(find(1)->state.counted, (traffic{3, 300}));
  EXPECT_EQ(find(1)->rule->added, 2U);
}

TEST_F(learning, a_limit_is_of_rules_with_the_cookie_in_the_table) {
  how.limit = 2;
  rule_mod there = add_rule(1, 1, {}, {});
  there.cookie = 5;
  must(b, there);  // counts, too
  must(b, add_rule(0, 1, {}, apply({how})));
  must(b, from(1, 2));
  EXPECT_TRUE(must(b, from(2, 2)).empty());
  EXPECT_EQ(must(b, from(1, 3)).size(), 1U) << "one that is there is no more";
  must(b, change_rules(rule_command::remove_strict, 1, 1, {}));
  EXPECT_EQ(must(b, from(2, 2)).size(), 1U);
  EXPECT_TRUE(must(b, from(3, 2)).empty());
}

TEST_F(learning, rules_go_with_the_last_that_learned_them) {
  how.takes_along = true;
  must(b, add_rule(0, 1, {}, apply({how})));
  must(b, add_rule(0, 2, {}, apply({how, output(1)})));
  rule_mod other = add_rule(1, 1, {}, {});
  other.cookie = 6;
  must(b, other);
  must(b, from(1, 2));
  must(b, from(2, 2));
  must(b, change_rules(rule_command::remove_strict, 0, 1, {}));
  EXPECT_EQ(b.n_rules(), 4U);
  EXPECT_EQ(must(b, change_rules(rule_command::modify_strict, 0, 2, {}, apply({output(1)}))).size(),
            3U)
      << "it learns no more";
  EXPECT_EQ(b.n_rules(), 2U);
  EXPECT_EQ(find(1), nullptr);
}

TEST_F(learning, rules_go_with_one_whose_time_has_come_and_with_a_chain_of_them) {
  how.takes_along = true;
  act::learn more = how;
  more.table = 2;
  more.cookie = 8;
  rule_mod first = add_rule(0, 1, {}, apply({how}));
  first.hard_timeout_s = 1;
  must(b, first, 0);
  rule_mod second = add_rule(1, 1, {}, apply({more}));
  second.cookie = 5;
  must(b, second, 0);
  rule_mod third = add_rule(2, 1, {}, {});
  third.cookie = 8;
  must(b, third, 0);
  EXPECT_EQ(b.expire(ns_per_s).size(), 3U);
  EXPECT_EQ(b.n_rules(), 0U);
}

TEST_F(learning, what_comes_after_the_last_that_learned_is_not_there) {
  how.takes_along = true;
  must(b, add_rule(0, 1, {}, apply({how})));
  must(b, from(1, 2));
  must(b, change_rules(rule_command::remove, 0, 0, {}));
  EXPECT_TRUE(must(b, from(1, 2)).empty());
  EXPECT_EQ(b.n_rules(), 0U);
}

TEST_F(learning, a_limit_holds_without_a_rule_that_learns) {
  how.limit = 2;
  must(b, from(1, 2));
  must(b, from(2, 2));
  EXPECT_TRUE(must(b, from(3, 2)).empty());
}

TEST_F(learning, a_change_in_place_that_learns_the_same_leaves_all) {
  how.takes_along = true;
  must(b, add_rule(0, 1, {}, apply({how})));
  must(b, from(1, 2));
  must(b, add_rule(0, 1, {}, apply({how, output(9)})));
  EXPECT_NE(find(1), nullptr);
}

TEST_F(learning, what_is_refused_leaves_all_as_it_was) {
  how.takes_along = true;
  how.limit = 2;
  must(b, add_rule(0, 1, {}, apply({how})));
  must(b, from(1, 2));
  const operation both[] = {change_rules(rule_command::remove, 0, 0, {}),
                            add_rule(254, 1, {}, go(3))};
  EXPECT_FALSE(b.apply(both, 0));
  EXPECT_NE(find(1), nullptr);
  // The counts are as they were: one more fits, and all go in the end.
  EXPECT_EQ(must(b, from(2, 2)).size(), 1U);
  EXPECT_TRUE(must(b, from(3, 2)).empty());
  must(b, change_rules(rule_command::remove, 0, 0, {}));
  EXPECT_EQ(b.n_rules(), 0U);
}

TEST_F(learning, what_is_refused_starts_no_time_again) {
  how.hard_timeout_s = 10;
  how.idle_timeout_s = 8;
  must(b, from(1, 2), 0);
  must(b, from(2, 2), 0);
  must(b, from(2, 2), 1 * ns_per_s);
  const rule_state first = find(1)->state, second = find(2)->state;
  // Started again, started again and changed, and removed; then nothing of it is done.
  const operation bundle[] = {from(1, 2),
                              from(2, 2),
                              from(2, 3),
                              from(3, 2),
                              from(3, 2),
                              from(1, 2),
                              change_rules(rule_command::remove, 1, 0, find(1)->rule->match),
                              from(1, 2),
                              from(1, 2),
                              add_rule(254, 1, {}, go(3))};
  EXPECT_FALSE(b.apply(bundle, 6 * ns_per_s));
  EXPECT_EQ(find(1)->state, first);
  EXPECT_EQ(find(2)->state, second);
  EXPECT_EQ(b.next_expiry(), 8 * ns_per_s);
  const change_list gone = b.expire(8 * ns_per_s);
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(std::get<rule_change>(gone[0]).before->match, where({exact(field::eth_dst, 1)}));
  EXPECT_EQ(b.expire(9 * ns_per_s).size(), 1U);
}

TEST_F(learning, what_was_done_before_a_refusal_stays) {
  how.hard_timeout_s = 10;
  must(b, from(1, 2), 0);
  must(b, from(1, 2), 5 * ns_per_s);
  EXPECT_FALSE(b.apply(add_rule(254, 1, {}, go(3)), 6 * ns_per_s));
  EXPECT_TRUE(b.expire(14 * ns_per_s).empty());
  EXPECT_EQ(b.expire(15 * ns_per_s).size(), 1U);
}

}  // namespace
}  // namespace coua::pipeline
