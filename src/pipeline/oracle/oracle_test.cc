// SPDX-License-Identifier: Apache-2.0
//
// Tables, instructions, outputs, packet-ins and what is counted (OpenFlow 1.3.5, sections 4.5, 5.1
// to 5.4, 5.9 to 5.12).
#include "pipeline/oracle/oracle.h"

#include <gtest/gtest.h>

#include "pipeline/model/resubmit.h"
#include "pipeline/oracle/parse.h"
#include "pipeline/oracle/test_oracle.h"

namespace coua::pipeline {
namespace {

using namespace test;
using ports = std::vector<port_no>;

TEST(pipeline, an_empty_table_drops) {
  lab l;
  const verdict got = l.receive(tcp_packet());
  EXPECT_TRUE(got.outputs.empty());
  EXPECT_TRUE(got.packet_ins.empty());
  EXPECT_EQ(got.counts.tables.at(0), (counts::table_counts{1, 0}));
  EXPECT_EQ(got.trace_text(), "table 0: no rule matches: dropped\n");
}

TEST(pipeline, what_is_sent_unchanged_is_what_came) {
  lab l;
  l(add_rule(0, 1, {}, apply({output(2)})));
  const packet one = tcp_packet();
  const verdict got = l.receive(one);
  EXPECT_EQ(got.outputs, (std::vector<sent>{{2, 0, one.bytes}}));
}

TEST(pipeline, the_highest_priority_that_matches_counts) {
  lab l;
  l(add_rule(0, 1, {}, apply({output(2)})));
  l(add_rule(0, 9, where({test::ipv4()}), apply({output(3)})));
  l(add_rule(0, 10, where({test::ipv6()}), apply({output(4)})));
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), ports{3});
}

TEST(pipeline, a_packet_goes_on_with_goto_and_counts_where_it_was) {
  lab l;
  const rule_change first = std::get<rule_change>(l(add_rule(0, 1, {}, go(7)))[0]);
  const rule_change second = std::get<rule_change>(l(add_rule(7, 1, {}, apply({output(2)})))[0]);
  const packet one = tcp_packet();
  const verdict got = l.receive(one);
  EXPECT_EQ(ports_of(got), ports{2});
  const traffic seen{1, one.bytes.size()};
  EXPECT_EQ(got.counts.rules,
            (std::map<rule_id, traffic>{{first.after->id, seen}, {second.after->id, seen}}));
  EXPECT_EQ(got.counts.tables.size(), 2U);
  got.counts.add_to(l.model, 42);
  EXPECT_EQ(l.model.find_rule(second.after->id)->state, (rule_state{seen, 42}));
  EXPECT_EQ(l.model.tables()[7].lookups, 1U);
  EXPECT_EQ(l.model.tables()[7].matches, 1U);
}

TEST(pipeline, a_miss_in_a_later_table_drops_with_the_action_set) {
  lab l;
  instructions both = write({output(2)});
  both.goto_table = 1;
  l(add_rule(0, 1, {}, both));
  EXPECT_TRUE(l.receive(tcp_packet()).outputs.empty());
}

TEST(pipeline, rules_that_do_not_count_are_still_used) {
  lab l;
  rule_mod asked = add_rule(0, 1, {}, {});
  asked.flags = rule_no_packet_counts | rule_no_byte_counts;
  const rule_id id = std::get<rule_change>(l(asked)[0]).after->id;
  const verdict got = l.receive(tcp_packet());
  EXPECT_EQ(got.counts.rules.at(id), traffic{});
  got.counts.add_to(l.model, 9);
  EXPECT_EQ(l.model.find_rule(id)->state.used, 9U);
}

TEST(instructions, run_in_their_order) {
  lab l;
  // The set of table 0 is cleared in table 1 before its own is written.
  instructions zero = write({act::set(field::eth_dst, 5), output(2)});
  zero.goto_table = 1;
  instructions one = apply({output(3)});
  one.clear_actions = true;
  one.write = action_list{output(4)};
  l(add_rule(0, 1, {}, zero));
  l(add_rule(1, 1, {}, one));
  const packet p = tcp_packet();
  const verdict got = l.receive(p);
  EXPECT_EQ(got.outputs, (std::vector<sent>{{3, 0, p.bytes}, {4, 0, p.bytes}}));
}

TEST(instructions, metadata_is_written_under_its_mask) {
  lab l;
  instructions zero = go(1);
  zero.metadata = metadata_write{0xab, 0xff};
  instructions one = go(2);
  one.metadata = metadata_write{0xc0, 0xf0};
  l(add_rule(0, 1, {}, zero));
  l(add_rule(1, 1, where({exact(field::metadata, 0xab)}), one));
  l(add_rule(2, 1, where({exact(field::metadata, 0xcb)}), apply({output(2)})));
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), ports{2});
}

TEST(instructions, apply_changes_what_later_tables_see_and_write_does_not) {
  lab l;
  instructions zero = apply({act::set(field::eth_dst, 5)});
  zero.write = action_list{act::set(field::eth_src, 6), output(2)};
  zero.goto_table = 1;
  l(add_rule(0, 1, {}, zero));
  l(add_rule(1, 9, where({exact(field::eth_src, 6)}), apply({output(4)})));
  l(add_rule(1, 1, where({exact(field::eth_dst, 5)}), apply({output(3)})));
  const verdict got = l.receive(tcp_packet());
  ASSERT_EQ(ports_of(got), (ports{3, 2}));
  EXPECT_EQ(got.outputs[0].bytes[11], 1);
  EXPECT_EQ(got.outputs[1].bytes[11], 6);
}

TEST(instructions, an_action_set_without_output_drops) {
  lab l;
  l(add_rule(0, 1, {}, write({act::set(field::eth_dst, 5)})));
  EXPECT_TRUE(l.receive(tcp_packet()).outputs.empty());
}

TEST(actions, a_list_runs_in_its_order_and_copies_at_each_output) {
  lab l;
  l(add_rule(0, 1, {},
             apply({act::set_queue{7}, output(2), act::push_vlan{},
                    act::set(field::vlan_vid, vlan_present | 9), output(3)})));
  const packet one = tcp_packet();
  const verdict got = l.receive(one);
  ASSERT_EQ(ports_of(got), (ports{2, 3}));
  EXPECT_EQ(got.outputs[0].bytes, one.bytes);
  EXPECT_EQ(got.outputs[0].queue, 7U);
  EXPECT_EQ(got.outputs[1].bytes.size(), one.bytes.size() + 4);
  EXPECT_EQ(got.outputs[1].bytes[15], 9);
}

TEST(actions, what_was_written_is_matched_in_the_next_table) {
  lab l;
  instructions zero = apply({act::push_mpls{}, act::set(field::mpls_label, 77)});
  zero.goto_table = 1;
  instructions one = apply({act::pop_mpls{0x0800}});
  one.goto_table = 2;
  l(add_rule(0, 1, where({test::ipv4()}), zero));
  l(add_rule(1, 1, where({test::mpls(), exact(field::mpls_label, 77)}), one));
  l(add_rule(2, 1, where({test::ipv4(), exact(field::ip_proto, 6), exact(field::tcp_dst, 80)}),
             apply({output(2)})));
  const packet p = tcp_packet();
  EXPECT_EQ(l.receive(p).outputs, (std::vector<sent>{{2, 0, p.bytes}}));
}

TEST(output, reads_a_port_from_a_register) {
  lab l;
  const action by_reg0 = act::output_bits{{field::reg0, 0, 32}};
  action_list list;
  for (const value128 port : {3, 1, 9, 0xfff8, 0x10002, 0}) {
    list.push_back(act::set(field::reg0, port));
    list.push_back(by_reg0);
  }
  l(add_rule(0, 1, {}, apply(list)));
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), (ports{3, 1}));
}

action_list clause(std::uint32_t id, std::uint8_t which, std::uint8_t n) {
  return {act::conjunction{id, static_cast<std::uint8_t>(which - 1), n}};
}
match from_port(port_no port) { return where({exact(field::in_port, port)}); }
match to_mac(value128 mac) { return where({exact(field::eth_dst, mac)}); }
match of_conjunction(std::uint32_t id) { return where({exact(field::conj_id, id)}); }

TEST(conjunction, leads_to_its_rule_when_all_clauses_match) {
  lab l;
  l(add_rule(0, 10, from_port(1), apply(clause(7, 1, 2))));
  l(add_rule(0, 10, from_port(2), apply(clause(7, 1, 2))));
  l(add_rule(0, 10, of_conjunction(7), apply({output(3)})));
  l(add_rule(0, 1, {}, apply({output(4)})));
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), (ports{4}));
  const auto mac = parse(tcp_packet()).get(field::eth_dst);
  l(add_rule(0, 10, to_mac(mac), apply(clause(7, 2, 2))));
  const verdict got = l.receive(tcp_packet());
  EXPECT_EQ(ports_of(got), (ports{3}));
  EXPECT_EQ(got.counts.rules.size(), 1U) << "clauses count no packets";
  packet other = tcp_packet();
  other.in_port = 3;
  EXPECT_EQ(ports_of(l.receive(other)), (ports{4}));
}

TEST(conjunction, of_a_rule_above_it_is_not_asked) {
  lab l;
  const auto mac = parse(tcp_packet()).get(field::eth_dst);
  l(add_rule(0, 10, from_port(1), apply(clause(7, 1, 2))));
  l(add_rule(0, 10, to_mac(mac), apply(clause(7, 2, 2))));
  l(add_rule(0, 5, of_conjunction(7), apply({output(3)})));
  l(add_rule(0, 10, {}, apply({output(2)})));
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), (ports{2}));
}

TEST(conjunction, is_of_one_priority_and_the_highest_that_leads_to_a_rule_counts) {
  lab l;
  const auto mac = parse(tcp_packet()).get(field::eth_dst);
  l(add_rule(0, 10, from_port(1), apply(clause(7, 1, 2))));
  l(add_rule(0, 11, to_mac(mac), apply(clause(7, 2, 2))));
  l(add_rule(0, 1, of_conjunction(7), apply({output(3)})));
  l(add_rule(0, 1, of_conjunction(8), apply({output(4)})));
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), ports{});
  l(add_rule(0, 20, from_port(1), apply(clause(9, 1, 2))));
  l(add_rule(0, 20, to_mac(mac), apply(clause(9, 2, 2))));
  l(add_rule(0, 10, to_mac(mac), apply({act::conjunction{7, 1, 2}, act::conjunction{8, 0, 3}})));
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), (ports{3})) << "9 leads nowhere";
}

TEST(learn, leaves_a_rule_of_the_packet_as_it_is_then) {
  lab l;
  act::learn how;
  how.parts = {
      {act::learn::part::role::match, field_bits{field::tcp_src, 0, 16}, 0, {field::reg1, 0, 16}},
      {act::learn::part::role::output, field_bits{field::in_port, 0, 16}, 0, {}}};
  const auto tcp = where({test::ipv4(), exact(field::ip_proto, 6)});
  l(add_rule(0, 1, tcp, apply({act::set(field::tcp_src, 7), how, act::set(field::tcp_src, 8)})));
  const verdict got = l.receive(tcp_packet());
  ASSERT_EQ(got.learned.size(), 1U);
  EXPECT_EQ(got.learned[0].match, where({{field::reg1, 7, 0xffff}}));
  EXPECT_EQ(got.learned[0].instructions, apply({output(1)}));
  EXPECT_EQ(l.model.n_rules(), 1U) << "who has the model puts it there";
  const auto out = l.judge.packet_out(from_port_1(ethernet(0x0806)), {how}, 0);
  ASSERT_TRUE(out);
  EXPECT_TRUE(out->learned.empty()) << "it has no port of TCP";
}

TEST(resubmit, comes_back_with_the_packet_as_it_has_become) {
  lab l;
  l(add_rule(0, 1, {}, apply({act::resubmit{port_in_port, 5}, output(2)})));
  instructions five = apply({act::set(field::eth_dst, 0x42), output(3)});
  five.goto_table = 7;
  l(add_rule(5, 1, {}, five));
  l(add_rule(7, 1, {}, apply({act::set(field::reg0, 1), act::resubmit{port_in_port, 3}})));
  l(add_rule(3, 1, where({exact(field::reg0, 1)}), apply({output(4)})));
  const verdict got = l.receive(tcp_packet());
  ASSERT_EQ(ports_of(got), (ports{3, 4, 2}));
  EXPECT_EQ(got.outputs[2].bytes[5], 0x42);
  EXPECT_EQ(got.n_resubmits, 2U);
}

TEST(resubmit, without_a_rule_there_goes_on) {
  lab l;
  instructions zero = apply({act::resubmit{port_in_port, 5}, output(2)});
  zero.write = action_list{output(3)};
  l(add_rule(0, 1, {}, zero));
  const verdict got = l.receive(tcp_packet());
  EXPECT_EQ(ports_of(got), (ports{2, 3}));
  EXPECT_EQ(got.counts.tables.at(5), (counts::table_counts{1, 0}));
}

TEST(resubmit, looks_up_as_if_from_another_port_once) {
  lab l;
  l(add_rule(0, 1, where({exact(field::in_port, 1)}), apply({act::resubmit{9, {}}})));
  instructions other = apply({output(port_in_port), output(9)});
  other.goto_table = 1;
  l(add_rule(0, 1, where({exact(field::in_port, 9)}), other));
  l(add_rule(1, 1, where({exact(field::in_port, 1)}), apply({output(2)})));
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), (ports{1, 2}));
}

TEST(resubmit, writes_to_the_action_set_of_the_packet_but_in_a_bucket_to_its_own) {
  lab l;
  l(add_rule(5, 1, where({exact(field::reg0, 0)}), test::write({output(3)})));
  l(add_rule(5, 1, where({exact(field::reg0, 1)}), test::write({output(4)})));
  const action there = act::resubmit{port_in_port, 5};
  l(test::add_group(1, group_type::all, {test::to({act::set(field::reg0, 1), there})}));
  l(add_rule(0, 1, {}, apply({there, act::group{1}, output(2)})));
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), (ports{4, 2, 3}));
}

TEST(resubmit, of_a_packet_out_has_an_action_set) {
  lab l;
  l(add_rule(5, 1, {}, test::write({output(3)})));
  const auto got = l.judge.packet_out(tcp_packet(), {act::resubmit{port_in_port, 5}, output(2)}, 0);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(ports_of(*got), (ports{2, 3}));
}

TEST(resubmit, ends_at_its_bounds) {
  lab deep;
  deep(add_rule(0, 1, {}, apply({output(2), act::resubmit{port_in_port, {}}, output(3)})));
  const verdict of_deep = deep.receive(tcp_packet());
  EXPECT_EQ(of_deep.n_resubmits, resubmit_depth_max);
  EXPECT_EQ(of_deep.n_over_bounds, 1U);
  EXPECT_EQ(ports_of(of_deep), ports(resubmit_depth_max + 1, 2));
  lab many;
  const action again = act::resubmit{port_in_port, {}};
  many(test::add_group(1, group_type::all, std::vector<bucket>(20, test::to({again}))));
  many(add_rule(0, 1, {}, apply({act::group{1}})));
  EXPECT_EQ(many.receive(tcp_packet()).n_resubmits, resubmits_max);
  lab nested;
  for (table_id t = 0; t < 250; ++t) {
    nested(add_rule(t, 1, {}, apply({act::resubmit{port_in_port, static_cast<table_id>(t + 1)}})));
  }
  nested(add_rule(250, 1, {}, apply({output(2), act::resubmit{port_in_port, 0}})));
  const verdict of_nested = nested.receive(tcp_packet());
  EXPECT_EQ(of_nested.n_resubmits, resubmit_nesting_max);
  EXPECT_EQ(ports_of(of_nested), (ports{2, 2}));
}

TEST(output, never_goes_back_but_by_in_port) {
  lab l;
  l(add_rule(0, 1, {}, apply({output(1), output(2), output(port_in_port)})));
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), (ports{2, 1}));
}

TEST(output, all_and_flood_leave_out_where_it_came_from) {
  lab l;
  l(add_port(port_local));
  l.set_port({.number = 2, .no_flood = true});
  l.set_port({.number = 3, .no_fwd = true});
  l(add_rule(0, 1, {}, apply({output(port_all)})));
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), (ports{2, 4, port_local}));
  l(add_rule(0, 1, {}, apply({output(port_flood)})));
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), (ports{4, port_local}));
}

TEST(output, ports_that_are_not_there_or_forbid_it_get_nothing) {
  lab l;
  l.set_port({.number = 3, .no_fwd = true});
  l(add_rule(0, 1, {}, apply({output(9), output(3), output(port_local), output(2)})));
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), ports{2});
}

TEST(output, a_port_that_does_not_receive_drops_what_comes) {
  lab l;
  l.set_port({.number = 1, .no_recv = true});
  l(add_rule(0, 1, {}, apply({output(2)})));
  const verdict got = l.receive(tcp_packet());
  EXPECT_TRUE(got.outputs.empty());
  EXPECT_EQ(got.counts, counts{});
}

class two_ports : public normal_switch {
 public:
  std::vector<copy> forward(const packet& frame, time_ns now) override {
    seen_at = now;
    return {{1, frame.bytes}, {2, frame.bytes}, {3, hex("aabb")}};
  }
  time_ns seen_at = 0;
};

TEST(output, normal_is_what_the_l2_switch_does) {
  two_ports l2;
  lab l(&l2);
  l(add_rule(0, 1, {}, apply({act::set_queue{4}, output(port_normal)})));
  const packet one = tcp_packet();
  const verdict got = l.receive(one, 77);
  EXPECT_EQ(got.outputs, (std::vector<sent>{{2, 4, one.bytes}, {3, 4, hex("aabb")}}));
  EXPECT_EQ(l2.seen_at, 77U);
  lab without;
  without(add_rule(0, 1, {}, apply({output(port_normal)})));
  EXPECT_TRUE(without.receive(one).outputs.empty());
}

TEST(packet_in, names_rule_table_reason_length_and_what_the_pipeline_keeps) {
  lab l;
  instructions zero =
      apply({act::output{port_controller, 128}, act::set_field{field::reg9, 0x99, 0xff}});
  zero.metadata = metadata_write{5};
  zero.goto_table = 1;
  rule_mod asked = add_rule(0, 1, {}, zero);
  asked.cookie = 0xc0;
  l(asked);
  asked = add_rule(1, 0, {}, apply({act::output{port_controller}}));
  asked.cookie = 0xc1;
  l(asked);
  packet one = tcp_packet();
  one.tunnel_id = 3;
  const verdict got = l.receive(one);
  std::array<std::uint32_t, n_registers> of_zero{};
  of_zero[9] = 0x99;
  EXPECT_EQ(got.packet_ins, (std::vector<packet_in>{
                                {packet_in_reason::action, 0, 0xc0, 128, 1, 0, 3, {}, one.bytes},
                                {packet_in_reason::no_match, 1, 0xc1, controller_max_len_all, 1, 5,
                                 3, of_zero, one.bytes}}));
}

TEST(packet_in, a_rule_of_priority_0_that_matches_something_is_no_miss_rule) {
  lab l;
  l(add_rule(0, 0, where({test::ipv4()}), apply({output(port_controller)})));
  EXPECT_EQ(l.receive(tcp_packet()).packet_ins[0].reason, packet_in_reason::action);
}

TEST(packet_in, of_the_action_set_or_a_bucket_names_no_rule) {
  lab l;
  l(add_group(1, group_type::all, {to({output(port_controller)})}));
  rule_mod asked = add_rule(0, 0, {}, write({output(port_controller)}));
  asked.cookie = 5;
  asked.instructions.apply = action_list{act::group{1}};
  l(asked);
  const verdict got = l.receive(tcp_packet());
  ASSERT_EQ(got.packet_ins.size(), 2U);
  for (const packet_in& one : got.packet_ins) {
    EXPECT_EQ(one.cookie, no_cookie);
    EXPECT_EQ(one.reason, packet_in_reason::action);
  }
}

TEST(packet_in, a_port_can_forbid_it_of_packets_that_miss) {
  lab l;
  l.set_port({.number = 1, .no_packet_in = true});
  l(add_rule(0, 0, {}, apply({output(port_controller)})));
  EXPECT_TRUE(l.receive(tcp_packet()).packet_ins.empty());
  l(add_rule(0, 1, {}, apply({output(port_controller)})));
  EXPECT_EQ(l.receive(tcp_packet()).packet_ins.size(), 1U);
}

TEST(packet_in, an_invalid_ttl_ends_the_way) {
  lab l;
  instructions zero = apply({output(2), act::dec_ip_ttl{}, output(3)});
  zero.write = action_list{output(4)};
  zero.goto_table = 1;
  rule_mod asked = add_rule(0, 1, where({test::ipv4()}), zero);
  asked.cookie = 8;
  l(asked);
  l(add_rule(1, 1, {}, apply({output(4)})));
  packet one = tcp_packet();
  one.bytes[14 + 8] = 1;
  const verdict got = l.receive(one);
  EXPECT_EQ(ports_of(got), ports{2});
  EXPECT_EQ(
      got.packet_ins,
      (std::vector<packet_in>{
          {packet_in_reason::invalid_ttl, 0, 8, controller_max_len_all, 1, 0, 0, {}, one.bytes}}));
}

TEST(packet_out, runs_actions_and_can_go_through_the_tables) {
  lab l;
  l(add_rule(0, 1, where({exact(field::in_port, port_controller)}), apply({output(3)})));
  packet one = tcp_packet();
  one.in_port = port_controller;
  const of_result<verdict> got =
      l.judge.packet_out(one, {output(2), act::push_vlan{}, output(port_table)}, 0);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(ports_of(*got), (ports{2, 3}));
  EXPECT_EQ(got->outputs[1].bytes.size(), one.bytes.size() + 4);
  EXPECT_EQ(l.judge.packet_out(one, {act::group{5}}, 0).error().code,
            of_error::bad_action_out_group);
  EXPECT_EQ(l.judge.packet_out(one, {output(0)}, 0).error().code, of_error::bad_action_out_port);
  // What has no header to change stays as it is.
  const of_result<verdict> same = l.judge.packet_out(one, {act::pop_vlan{}, output(2)}, 0);
  EXPECT_EQ(same->outputs[0].bytes, one.bytes);
}

TEST(trace, tells_the_way) {
  lab l;
  instructions zero = apply({act::dec_ip_ttl{}});
  zero.goto_table = 1;
  l(add_rule(0, 10, where({test::ipv4()}), zero));
  l(add_group(1, group_type::indirect, {to({act::pop_vlan{}, output(9)})}));
  l(add_rule(1, 5, {}, write({act::group{1}})));
  EXPECT_EQ(l.receive(tcp_packet()).trace_text(),
            "table=0,priority=10,dl_type=0x800 -> dec_ttl,goto_table:1\n"
            "  dec_ttl\n"
            "table=1,priority=5,any -> write_actions(group:1)\n"
            "action set: group:1\n"
            "  group 1, indirect\n"
            "    bucket 0: pop_vlan,output:9\n"
            "      pop_vlan: has no such header: unchanged\n"
            "      output:9: there is no such port: not sent\n");
  EXPECT_TRUE(l.judge.receive(tcp_packet(), 0).trace.empty());
}

}  // namespace
}  // namespace coua::pipeline
