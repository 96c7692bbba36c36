// SPDX-License-Identifier: Apache-2.0
//
// Copies that buckets work on go to tables alone, while packets of their burst wait at the same
// tables, or have come back: neither may take the other one's place.
#include <gtest/gtest.h>

#include "checked_pipeline.h"
#include "mac_rules.h"
#include "net/headers.h"

namespace coua::test {
namespace {

using namespace pipeline;
using pipeline::test::add_group;
using pipeline::test::add_rule;
using pipeline::test::output;
using pipeline::test::to;
using pipeline::test::where;

constexpr table_id meeting = 10;  // packets of the burst and copies come there
constexpr unsigned n_macs = 20;

action resubmit(table_id table, port_no in_port = port_in_port) {
  return act::resubmit{in_port, table};
}

class copies : public ::testing::Test {
 protected:
  void SetUp() override {
    for (port_no i = 1; i <= 5; ++i) must(pipeline::test::add_port(i));
    for (unsigned i = 0; i < n_macs; ++i) must(mac_rule(meeting, i, 3 + i % 3));
    // Where packets with no hops left end: they do not come back.
    const match of_ip = where({pipeline::test::ipv4(), exact(field::eth_dst, first_mac + n_macs)});
    rule(meeting, of_ip, {act::dec_ip_ttl{}, output(5)});
  }
  void must(const operation& one) { ASSERT_TRUE(in_.apply({one})); }
  void rule(table_id table, const match& of, action_list does, std::optional<table_id> next = {}) {
    instructions then = pipeline::test::apply(std::move(does));
    then.goto_table = next;
    must(add_rule(table, 5, of, then));
  }
  static packet to_send(unsigned i, port_no from) {
    packet one = packet_to(i % 2 == 0 ? n_macs : i % (n_macs + 3), from);
    if (i % 3 != 0) one.bytes[net::ethernet_header_bytes + net::wire::ipv4::ttl] = 1;
    return one;
  }
  /// Bursts of all sizes, from ports in turns.
  void see() {
    for (unsigned n = 1; n <= executor::burst_max; ++n) {
      for (const std::vector<port_no>& from :
           {std::vector<port_no>{1}, {1, 2}, {2, 1}, {3, 1, 2}, {1, 3}}) {
        std::vector<packet> burst;
        for (unsigned i = 0; i < n; ++i) burst.push_back(to_send(i, from[i % from.size()]));
        in_.receive(burst);
      }
    }
    in_.check_counters();
  }

  checked_pipeline in_{1 << 16, {}, n_tables_max};
};

const action other_mac = act::set(field::eth_src, 0x0200'0000'7777);

TEST_F(copies, come_where_packets_of_the_burst_wait) {
  must(add_group(1, group_type::all, {to({other_mac, resubmit(meeting), output(2)})}));
  rule(0, from_port(1), {act::group{1}, output(2)}, meeting);
  rule(0, from_port(2), {}, meeting);
  see();
}

TEST_F(copies, have_copies) {
  must(add_group(2, group_type::all,
                 {to({act::push_vlan{}, resubmit(meeting), output(4)}),
                  to({other_mac, resubmit(9), output(3)})}));
  must(add_group(1, group_type::all, {to({other_mac, resubmit(7), output(2)})}));
  rule(7, {}, {act::group{2}, resubmit(meeting)}, 8);
  rule(8, {}, {output(5)}, meeting);
  rule(0, from_port(1), {act::group{1}}, meeting);
  rule(0, from_port(2), {act::group{2}}, 8);
  see();
}

TEST_F(copies, go_while_packets_of_the_burst_have_come_back) {
  must(add_group(1, group_type::all, {to({other_mac, resubmit(6), output(2)})}));
  rule(5, to_mac(1), {resubmit(6)});
  rule(5, {}, {output(4)});
  rule(6, from_port(2), {resubmit(meeting), other_mac}, 8);  // table 8 has no rules: it comes back
  rule(0, from_port(1), {resubmit(5), act::group{1}, resubmit(5)}, meeting);
  rule(0, from_port(2), {resubmit(6), output(4)}, 5);
  see();
}

TEST_F(copies, are_looked_up_as_if_from_another_port) {
  must(add_group(1, group_type::all, {to({other_mac, resubmit(6, 2), output(2)})}));
  rule(6, from_port(1), {output(3)}, meeting);
  rule(6, from_port(2), {output(4)});
  rule(0, from_port(1), {act::group{1}, resubmit(6, 2)}, 6);
  rule(0, from_port(2), {resubmit(6, 1)}, 6);
  // These do not get the port of a packet that was in their place before.
  rule(0, from_port(3), {}, 6);
  rule(6, from_port(3), {output(1), output(2)});
  see();
}

TEST_F(copies, have_action_sets) {
  must(add_group(1, group_type::all, {to({other_mac, resubmit(6), output(2)})}));
  must(add_group(3, group_type::all, {to({act::push_vlan{}, output(4)}), to({resubmit(meeting)})}));
  instructions writes = pipeline::test::write({act::group{3}});
  writes.goto_table = meeting;
  must(add_rule(6, 5, from_port(1), writes));
  must(add_rule(6, 5, from_port(2), pipeline::test::write({output(3)})));
  rule(0, from_port(1), {act::group{1}, resubmit(6)}, 6);
  rule(0, from_port(2), {act::group{1}}, 6);
  see();
}

TEST_F(copies, are_of_the_bucket_that_is_chosen) {
  must(add_group(1, group_type::select,
                 {to({other_mac, resubmit(meeting)}, 1), to({resubmit(6), output(4)}, 1)}));
  must(add_group(2, group_type::fast_failover, {to({other_mac, resubmit(6)}, 0, 3)}));
  rule(6, {}, {other_mac, output(5)}, meeting);
  rule(0, from_port(1), {act::group{1}, act::group{2}}, meeting);
  rule(0, from_port(2), {act::group{2}}, meeting);
  see();
}

TEST_F(copies, meet_meters) {
  must(add_group(1, group_type::all, {to({other_mac, resubmit(6), output(2)})}));
  must(pipeline::test::add_policer(1, 1, 300));
  rule_mod metered = add_rule(6, 5, {}, pipeline::test::apply({output(4)}));
  metered.instructions.meter = 1;
  metered.instructions.goto_table = meeting;
  must(metered);
  rule(0, {}, {act::group{1}}, meeting);
  see();
}

TEST_F(copies, are_as_deep_within_one_another_as_groups_may_be) {
  for (group_id id = group_depth_max; id > 0; --id) {
    const action last = id == group_depth_max ? resubmit(meeting) : action{act::group{id + 1}};
    const action own_mac = act::set(field::eth_src, 0x0200'0000'8000 + id);
    must(add_group(id, group_type::indirect, {to({own_mac, last, output(2 + id % 4)})}));
  }
  rule(0, from_port(1), {act::group{1}}, meeting);
  rule(0, from_port(2), {}, meeting);
  see();
}

TEST_F(copies, of_a_packet_out_go_through_all_tables) {
  must(add_group(1, group_type::all, {to({other_mac, resubmit(meeting), output(2)})}));
  rule(0, {}, {act::group{1}, resubmit(6)}, meeting);
  rule(6, {}, {other_mac}, 8);
  for (unsigned i = 0; i < n_macs + 3; ++i) {
    in_.packet_out(to_send(i, 1), {output(port_table), other_mac, act::group{1}, output(4)});
    in_.packet_out(to_send(i, 1), {act::group{1}, output(port_table)});
  }
  in_.check_counters();
}

}  // namespace
}  // namespace coua::test
