// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/flow_text.h"

#include <gtest/gtest.h>

#include "ctl/ofp/test_flow_text.h"
#include "ctl/ofp/test_round_trip.h"
#include "pipeline/model/test_model.h"

namespace coua::ofp {
namespace {

using pipeline::rule_command;
using test::must;
using test::read_rule;

TEST(rule_text, has_every_key) {
  const auto made = must(
      "table=3,priority=7,cookie=0x1f,idle_timeout=10,hard_timeout=20,send_flow_rem,check_overlap,"
      "reset_counts,no_packet_counts,no_byte_counts actions=1");
  EXPECT_EQ(made.command, rule_command::add);
  EXPECT_EQ(made.table, 3);
  EXPECT_EQ(made.priority, 7);
  EXPECT_EQ(made.cookie, 0x1f);
  EXPECT_EQ(made.idle_timeout_s, 10);
  EXPECT_EQ(made.hard_timeout_s, 20);
  EXPECT_EQ(made.flags, pipeline::rule_send_removed | pipeline::rule_check_overlap |
                            pipeline::rule_reset_counts | pipeline::rule_no_packet_counts |
                            pipeline::rule_no_byte_counts);
  EXPECT_EQ(must("send_flow_rem actions=1").flags, pipeline::rule_send_removed);
  EXPECT_EQ(must("check_overlap actions=1").flags, pipeline::rule_check_overlap);
  EXPECT_EQ(must("reset_counts actions=1").flags, pipeline::rule_reset_counts);
  EXPECT_EQ(must("no_packet_counts actions=1").flags, pipeline::rule_no_packet_counts);
  EXPECT_EQ(must("no_byte_counts actions=1").flags, pipeline::rule_no_byte_counts);
  EXPECT_EQ(must("actions=1").priority, 0x8000);
}

TEST(rule_text, chooses_the_table_as_the_command_does) {
  EXPECT_EQ(must("actions=1").table, 0);
  EXPECT_EQ(must("actions=1", rule_command::modify).table, 0);
  EXPECT_EQ(must("actions=1", rule_command::modify_strict).table, 0);
  EXPECT_EQ(must("", rule_command::remove).table, pipeline::table_all);
  EXPECT_EQ(must("table=4", rule_command::remove).table, 4);
}

TEST(rule_text, looks_for_cookies_and_ports) {
  const auto gone = must("tcp,cookie=0x15/0xf,out_port=3,out_group=7", rule_command::remove);
  EXPECT_EQ(gone.cookie, 5);
  EXPECT_EQ(gone.cookie_mask, 0xf);
  EXPECT_EQ(gone.out_port, 3);
  EXPECT_EQ(gone.out_group, 7);
  EXPECT_EQ(must("out_port=LOCAL", rule_command::remove).out_port, pipeline::port_local);
  EXPECT_EQ(must("", rule_command::remove).out_port, pipeline::port_any);
  EXPECT_EQ(must("", rule_command::remove).out_group, pipeline::group_any);
  const auto changed = must("cookie=5/-1 actions=1", rule_command::modify);
  EXPECT_EQ(changed.cookie, 5);
  EXPECT_EQ(changed.cookie_mask, ~std::uint64_t{0});
}

TEST(rule_text, refuses_what_the_command_does_not_take) {
  EXPECT_EQ(read_rule("cookie=5/-1 actions=1"), "error: flow additions cannot use a cookie mask");
  EXPECT_EQ(read_rule("cookie=5 actions=1", rule_command::modify).substr(0, 36),
            "error: cookie: OpenFlow 1.3 cannot c");
  EXPECT_EQ(read_rule("cookie=5", rule_command::remove).substr(0, 26),
            "error: cannot set cookie (");
  EXPECT_EQ(read_rule("priority=5", rule_command::remove), "error: unknown keyword priority");
  EXPECT_EQ(read_rule("out_port=5 actions=1"), "error: unknown keyword out_port");
  EXPECT_EQ(read_rule("importance=5 actions=1"),
            "error: importance: OpenFlow 1.3 has no such thing");
  EXPECT_EQ(read_rule("tcp actions=1", rule_command::remove), "error: unknown keyword actions");
}

TEST(rule_text, is_no_longer_than_it_may_be_and_a_text) {
  EXPECT_EQ(read_rule(std::string("a\0b", 3)), "error: there is a character of code 0 in it");
  EXPECT_EQ(read_rule(std::string(text_max + 1, ' ')), "error: longer than 65536 characters");
}

TEST(rule_text, knows_ports_by_name) {
  const port_names names{{1, "p0"}, {2, "up:link"}};
  const auto made = must("in_port=p0 actions=output:\"up:link\"", rule_command::add, names);
  EXPECT_EQ(made.match.to_string(), "in_port=1");
  EXPECT_EQ(to_string(made.instructions), "output:2");
  EXPECT_EQ(print_rule(pipeline::to_rule(made), names), "in_port=p0 actions=output:\"up:link\"");
  EXPECT_EQ(must("out_port=p0", rule_command::remove, names).out_port, 1);
}

TEST(rule_text, is_printed_as_ovs_ofctl_does) {
  const auto made = must(
      "table=1,priority=10,cookie=0x5,idle_timeout=60,send_flow_rem,tcp,nw_dst=10.0.0.0/8,tp_dst=80"
      " actions=dec_ttl,output:2,goto_table:2");
  const pipeline::rule one = pipeline::to_rule(made);
  EXPECT_EQ(print_rule(one, {{3, 180}, 0}, 3'250'000'000),
            "cookie=0x5, duration=3.250s, table=1, n_packets=3, n_bytes=180, idle_timeout=60, "
            "send_flow_rem priority=10,tcp,nw_dst=10.0.0.0/8,tp_dst=80 "
            "actions=dec_ttl,output:2,goto_table:2");
  pipeline::rule later = one;
  later.added = 2 * pipeline::ns_per_s;
  EXPECT_NE(print_rule(later, {}, 12 * pipeline::ns_per_s).find("duration=10s"), std::string::npos);
  EXPECT_NE(print_rule(later, {}, 0).find("duration=0s"), std::string::npos);
}

TEST(rule_text, is_printed_also_when_the_library_lacks_the_words) {
  pipeline::rule one;
  one.priority = 5;
  one.match = pipeline::test::where(
      {exact(pipeline::field::eth_type, 0x86dd), exact(pipeline::field::ipv6_exthdr, 1)});
  one.instructions.apply = {pipeline::act::copy_ttl_in{}};
  EXPECT_EQ(print_rule(one, {{1, 60}, 0}, 0),
            "cookie=0x0, duration=0s, table=0, n_packets=1, n_bytes=60, "
            "priority=5,dl_type=0x86dd,ipv6_exthdr=0x1 actions=copy_ttl_in");
}

TEST(rule_text, can_be_read_again_whichever_bits_it_sets) {
  for (const char* text : {
           "dl_vlan=5 actions=load:1->OXM_OF_VLAN_PCP[1]",
           "dl_vlan=5 actions=load:3->OXM_OF_VLAN_VID[2..5]",
           "ip actions=load:5->OXM_OF_IP_DSCP[1..3],load:1->NXM_NX_IP_ECN[0]",
           "ip actions=load:5->NXM_OF_IP_SRC[1..8]",
           "ipv6 actions=load:3->OXM_OF_IPV6_FLABEL[4..7]",
           "ipv6 actions=load:3->NXM_NX_IPV6_DST[4..7]",
           "ipv6 actions=load:3->NXM_NX_IPV6_DST[124..125]",
           "ipv6 actions=load:3->NXM_NX_IPV6_DST[60..68]",
           "ipv6 actions=load:0x123456->NXM_NX_IPV6_DST[64..120]",
           "ipv6 actions=load:0x123456->NXM_NX_IPV6_SRC[64..127]",
           "icmp6,icmp_type=135 actions=load:7->NXM_NX_ND_TARGET[100..109]",
           "icmp6,icmp_type=135 actions=load:7->NXM_NX_ND_SLL[3..9]",
           "icmp actions=load:1->NXM_OF_ICMP_TYPE[3],load:1->NXM_OF_ICMP_CODE[1]",
           "tcp actions=load:1->NXM_OF_TCP_DST[3]",
           "udp6 actions=load:1->NXM_OF_UDP_SRC[3..5]",
           "arp actions=load:1->NXM_OF_ARP_OP[1]",
           "arp actions=load:1->NXM_OF_ARP_SPA[1],load:1->NXM_NX_ARP_SHA[1..2]",
           "mpls actions=load:1->OXM_OF_MPLS_LABEL[1],load:1->OXM_OF_MPLS_TC[2]",
           "actions=load:1->NXM_NX_TUN_ID[3..8]",
           "ip actions=write_actions(load:5->OXM_OF_IP_DSCP[1..3],output:1)",
       }) {
    const pipeline::rule once = pipeline::to_rule(must(text));
    for (const std::string& said : {print_rule(once), print_rule(once, {{1, 60}, 0}, 0)}) {
      EXPECT_TRUE(test::same(pipeline::to_rule(must(said)), once)) << said;
    }
  }
}

TEST(rule_text, refuses_bits_that_the_library_does_not_know) {
  for (const char* load : {"load:256->NXM_OF_ARP_OP[]", "load:1->NXM_OF_ARP_OP[8]"}) {
    EXPECT_EQ(read_rule(std::string("arp actions=") + load),
              "error: set_field to arp_op: libopenvswitch does not take this value");
  }
  EXPECT_EQ(read_rule("arp actions=load:0->NXM_OF_ARP_OP[]"),
            "dl_type=0x806 | set_field:0->arp_op");
}

TEST(filter_text, takes_the_rules_that_it_says) {
  pipeline::rule one = pipeline::to_rule(
      must("table=1,cookie=0x15,tcp,tp_dst=80 actions=2,write_actions(group:7,output:3)"));
  const auto takes = [&one](const std::string& text) {
    const auto filter = parse_filter(text);
    EXPECT_TRUE(filter.has_value()) << text << ": " << filter.error().message();
    return filter.has_value() && filter->takes(one);
  };
  for (const char* text : {"", "table=1", "tcp", "table=1,ip", "cookie=0x5/0xf", "out_port=2",
                           "out_port=3", "out_group=7", "tcp,tp_dst=80,out_port=2"}) {
    EXPECT_TRUE(takes(text)) << text;
  }
  for (const char* text : {"table=2", "udp", "tcp,tp_dst=81", "in_port=1", "cookie=0x6/0xf",
                           "out_port=4", "out_group=8"}) {
    EXPECT_FALSE(takes(text)) << text;
  }
  EXPECT_EQ(parse_filter("foo=1").error().message(), "unknown keyword foo");
  EXPECT_EQ(parse_filter("actions=1").error().message(), "unknown keyword actions");
}

}  // namespace
}  // namespace coua::ofp
