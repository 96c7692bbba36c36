// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/flow_text.h"

#include <gtest/gtest.h>

#include "ctl/ofp/test_flow_text.h"

namespace coua::ofp {
namespace {

using pipeline::rule_command;
using test::must;
using test::read_actions;
using test::said_and_meant;

TEST(action_text, has_every_action) {
  const said_and_meant cases[] = {
      {"drop", "drop"},
      {"", "drop"},
      {"output:2", "output:2"},
      {"2", "output:2"},
      {"65279", "output:65279"},
      {"IN_PORT,ALL,FLOOD,NORMAL,LOCAL", "IN_PORT,ALL,FLOOD,NORMAL,LOCAL"},
      {"in_port,all,flood,normal,local", "IN_PORT,ALL,FLOOD,NORMAL,LOCAL"},
      {"output:IN_PORT", "IN_PORT"},
      {"CONTROLLER", "CONTROLLER:65535"},
      {"output:CONTROLLER", "CONTROLLER:65535"},
      {"controller:128", "CONTROLLER:128"},
      {"controller(max_len=77)", "CONTROLLER:77"},
      {"group:5", "group:5"},
      {"set_queue:7,1", "set_queue:7,output:1"},
      {"push_vlan:0x8100", "push_vlan:0x8100"},
      {"push_vlan:0x88a8", "push_vlan:0x88a8"},
      {"mod_vlan_vid:7", "push_vlan:0x8100,set_field:0x1007->vlan_vid"},
      {"mod_vlan_pcp:2", "push_vlan:0x8100,set_field:2->vlan_pcp"},
      {"mod_dl_src:00:00:00:00:00:01", "set_field:00:00:00:00:00:01->dl_src"},
      {"mod_dl_dst:00:00:00:00:00:02", "set_field:00:00:00:00:00:02->dl_dst"},
      {"set_field:01:00:00:00:00:00/01:00:00:00:00:00->eth_dst",
       "set_field:01:00:00:00:00:00/01:00:00:00:00:00->dl_dst"},
      {"set_tunnel:4", "set_field:0x4->tun_id"},
      {"set_tunnel64:0x100000000", "set_field:0x100000000->tun_id"},
      {"set_field:9->tun_id", "set_field:0x9->tun_id"},
      {"load:5->NXM_NX_REG0[0..15]", "set_field:0x5/0xffff->reg0"},
      {"set_field:0x12/0xff->reg1", "set_field:0x12/0xff->reg1"},
      {"set_field:0x123456789abcdef0->xreg0",
       "set_field:0x12345678->reg0,set_field:0x9abcdef0->reg1"},
      {"set_field:0x1->xxreg1",
       "set_field:0x0->reg4,set_field:0x0->reg5,set_field:0x0->reg6,"
       "set_field:0x1->reg7"},
      {"move:NXM_NX_REG0[]->NXM_NX_REG1[]", "move:reg0[]->reg1[]"},
      {"move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[]", "move:dl_src[]->dl_dst[]"},
      {"move:reg0[4..7]->reg1[28..31]", "move:reg0[4..7]->reg1[28..31]"},
      {"move:NXM_OF_IN_PORT[]->NXM_NX_REG3[0..15]", "move:in_port[0..15]->reg3[0..15]"},
      {"move:NXM_OF_VLAN_TCI[0..11]->reg2[0..11]", "move:vlan_vid[0..11]->reg2[0..11]"},
      {"move:xreg0[]->xreg2[]", "move:reg1[]->reg5[],move:reg0[]->reg4[]"},
      {"move:xxreg0[0..63]->xxreg0[16..79]",
       "move:reg2[16..31]->reg1[0..15],move:reg2[0..15]->reg2[16..31],"
       "move:reg3[16..31]->reg2[0..15],move:reg3[0..15]->reg3[16..31]"},
      {"move:xxreg0[16..79]->xxreg0[0..63]",
       "move:reg3[16..31]->reg3[0..15],move:reg2[0..15]->reg3[16..31],"
       "move:reg2[16..31]->reg2[0..15],move:reg1[0..15]->reg2[16..31]"},
      {"move:reg4[]->OXM_OF_METADATA[32..63]", "move:reg4[]->metadata[32..63]"},
      {"output:NXM_NX_REG0[]", "output:reg0[]"},
      {"resubmit(,1)", "resubmit(,1)"},
      {"conjunction(1,1/2),conjunction(4294967295,64/64)",
       "conjunction(1,1/2),conjunction(4294967295,64/64)"},
      {"resubmit(3,254),2", "resubmit(3,254),output:2"},
      {"resubmit:7", "resubmit:7"},
      {"resubmit(IN_PORT,9)", "resubmit(,9)"},
      {"resubmit:LOCAL", "resubmit:LOCAL"},
      {"output:reg7[16..31]", "output:reg7[16..31]"},
      {"output:xxreg1[0..15]", "output:reg7[0..15]"},
      {"push_mpls:0x8847,set_mpls_label:7,set_mpls_tc:2,set_mpls_ttl:9,dec_mpls_ttl",
       "push_mpls:0x8847,set_field:7->mpls_label,set_field:2->mpls_tc,set_mpls_ttl(9),"
       "dec_mpls_ttl"},
      {"pop_vlan,pop_vlan", "pop_vlan,pop_vlan"},
      {"push_vlan:0x8100,push_vlan:0x8100,push_vlan:0x88a8",
       "push_vlan:0x8100,push_vlan:0x8100,push_vlan:0x88a8"},
      {"set_field:1->tcp_dst", "set_field:1->tcp_dst"},
      {"push_mpls:0x8848,set_field:10->mpls_label", "push_mpls:0x8848,set_field:10->mpls_label"},
  };
  for (const said_and_meant& one : cases) EXPECT_EQ(read_actions(one.said), one.meant) << one.said;
}

TEST(action_text, has_every_action_that_needs_a_match) {
  const struct {
    const char* match;
    const char* said;
    const char* meant;
  } cases[] = {
      {"dl_vlan=5", "strip_vlan", "pop_vlan"},
      {"dl_vlan=5", "pop_vlan", "pop_vlan"},
      {"dl_vlan=5", "mod_vlan_vid:7", "set_field:0x1007->vlan_vid"},
      {"dl_vlan=5", "strip_vlan,mod_vlan_vid:7,mod_vlan_pcp:1",
       "pop_vlan,push_vlan:0x8100,set_field:0x1007->vlan_vid,set_field:1->vlan_pcp"},
      {"dl_vlan=5", "set_field:4103->vlan_vid", "set_field:0x1007->vlan_vid"},
      {"dl_vlan=5", "set_vlan_pcp:3", "set_field:3->vlan_pcp"},
      {"dl_vlan=5", "set_field:3->vlan_pcp", "set_field:3->vlan_pcp"},
      {"ipv6", "move:xxreg0[]->ipv6_dst[]",
       "move:reg3[]->ipv6_dst[0..31],move:reg2[]->ipv6_dst[32..63],"
       "move:reg1[]->ipv6_dst[64..95],move:reg0[]->ipv6_dst[96..127]"},
      {"ip", "move:NXM_OF_IP_TOS[2..7]->reg0[0..5]", "move:ip_dscp[]->reg0[0..5]"},
      {"dl_vlan=5", "load:7->NXM_OF_VLAN_TCI[0..11]", "set_field:0x1007->vlan_vid"},
      {"dl_vlan=5", "load:3->NXM_OF_VLAN_TCI[13..15]", "set_field:3->vlan_pcp"},
      {"dl_vlan=5", "load:0x7005->NXM_OF_VLAN_TCI[]",
       "set_field:0x1005->vlan_vid,set_field:3->vlan_pcp"},
      {"dl_vlan=5", "load:0->NXM_OF_VLAN_TCI[]", "pop_vlan"},
      {"dl_vlan=5", "load:3->OXM_OF_VLAN_VID[2..5]", "set_field:0x100c/0x103c->vlan_vid"},
      {"", "load:0x7005->NXM_OF_VLAN_TCI[]",
       "push_vlan:0x8100,set_field:0x1005->vlan_vid,set_field:3->vlan_pcp"},
      {"", "load:1->NXM_OF_VLAN_TCI[12]", "push_vlan:0x8100"},
      {"dl_vlan=5", "move:reg0[0..11]->OXM_OF_VLAN_VID[0..11]",
       "move:reg0[0..11]->vlan_vid[0..11]"},
      {"dl_vlan=5", "move:NXM_OF_VLAN_TCI[]->reg0[0..15]",
       "move:vlan_vid[]->reg0[0..12],move:vlan_pcp[]->reg0[13..15]"},
      {"ip", "mod_nw_src:1.2.3.4,mod_nw_dst:5.6.7.8",
       "set_field:1.2.3.4->nw_src,set_field:5.6.7.8->nw_dst"},
      {"ip", "set_field:10.0.0.0/255.0.0.0->ip_dst", "set_field:10.0.0.0/255.0.0.0->nw_dst"},
      {"ip", "mod_nw_tos:32,mod_nw_ecn:1,mod_nw_ttl:9,dec_ttl",
       "set_field:8->ip_dscp,set_field:1->nw_ecn,mod_nw_ttl:9,dec_ttl"},
      {"ipv6", "set_field:3->ip_dscp,set_field:2->nw_ecn,set_field:7->nw_ttl",
       "set_field:3->ip_dscp,set_field:2->nw_ecn,set_field:7->nw_ttl"},
      {"ipv6", "set_field:fe80::2->ipv6_dst,set_field:fe80::/ffff::->ipv6_src",
       "set_field:fe80::2->ipv6_dst,set_field:fe80::/ffff::->ipv6_src"},
      {"ipv6", "set_field:0x12345->ipv6_label", "set_field:0x12345->ipv6_label"},
      {"tcp", "mod_tp_src:5,mod_tp_dst:6", "set_field:5->tcp_src,set_field:6->tcp_dst"},
      {"udp6", "mod_tp_src:5,set_field:53->udp_dst", "set_field:5->udp_src,set_field:53->udp_dst"},
      {"sctp", "mod_tp_dst:6,set_field:7->sctp_src", "set_field:6->sctp_dst,set_field:7->sctp_src"},
      {"icmp", "set_field:8->icmp_type,set_field:1->icmp_code",
       "set_field:8->icmp_type,set_field:1->icmp_code"},
      {"icmp6,icmp_type=135", "set_field:fe80::9->nd_target,set_field:00:00:00:00:00:01->nd_sll",
       "set_field:fe80::9->nd_target,set_field:00:00:00:00:00:01->nd_sll"},
      {"icmp6,icmp_type=136", "set_field:00:00:00:00:00:01->nd_tll",
       "set_field:00:00:00:00:00:01->nd_tll"},
      {"arp",
       "set_field:2->arp_op,set_field:1.2.3.4->arp_spa,set_field:1.2.3.5->arp_tpa,"
       "set_field:00:00:00:00:00:01->arp_sha,set_field:00:00:00:00:00:02->arp_tha",
       "set_field:2->arp_op,set_field:1.2.3.4->arp_spa,set_field:1.2.3.5->arp_tpa,"
       "set_field:00:00:00:00:00:01->arp_sha,set_field:00:00:00:00:00:02->arp_tha"},
      {"mpls", "pop_mpls:0x0800,dec_ttl", "pop_mpls:0x0800,dec_ttl"},
      {"mpls", "set_field:9->mpls_ttl", "set_field:9->mpls_ttl"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(read_actions(one.said, one.match), one.meant) << one.match << " " << one.said;
  }
}

TEST(action_text, learns) {
  const struct {
    const char* match;
    const char* said;
    const char* meant;
  } cases[] = {
      {"",
       "learn(table=10,hard_timeout=300,NXM_OF_VLAN_TCI[0..11],NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],"
       "output:NXM_OF_IN_PORT[])",
       "learn(table=10,hard_timeout=300,vlan_vid[0..11]=vlan_vid[0..11],dl_dst[]=dl_src[],"
       "output:in_port[0..15])"},
      // Neutron's: a tag is taken away where there is one.
      {"",
       "learn(table=20,priority=1,hard_timeout=300,NXM_OF_VLAN_TCI[0..11],"
       "NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],load:0->NXM_OF_VLAN_TCI[],"
       "load:NXM_NX_TUN_ID[]->NXM_NX_TUN_ID[],output:NXM_OF_IN_PORT[])",
       "learn(table=20,hard_timeout=300,priority=1,vlan_vid[0..11]=vlan_vid[0..11],"
       "dl_dst[]=dl_src[],load:0x0->vlan_tci[],load:tun_id[]->tun_id[],output:in_port[0..15])"},
      {"", "learn(load:0xe005->NXM_OF_VLAN_TCI[])", "learn(table=1,load:0x0->vlan_tci[])"},
      {"", "learn(load:0->NXM_OF_VLAN_TCI[0..12])", "learn(table=1,load:0x0->vlan_tci[])"},
      {"", "learn(idle_timeout=5,priority=7,cookie=0x1f,send_flow_rem,delete_learned,limit=8)",
       "learn(table=1,idle_timeout=5,priority=7,send_flow_rem,delete_learned,cookie=0x1f,limit=8)"},
      {"tcp",
       "learn(table=2,eth_type=0x800,nw_proto=6,NXM_OF_IP_SRC[]=NXM_OF_IP_DST[],"
       "tcp_src=tcp_dst,load:0x5->NXM_NX_REG0[4..7],load:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[])",
       "learn(table=2,dl_type=0x800,nw_proto=6,nw_src[]=nw_dst[],tcp_src[]=tcp_dst[],"
       "load:0x5->reg0[4..7],load:dl_src[]->dl_dst[])"},
      {"", "learn(table=2,in_port=5,reg1[0..3]=reg2[4..7],load:0x123456789->xreg1[0..35])",
       "learn(table=2,in_port=5,reg1[0..3]=reg2[4..7],load:0x23456789->reg3[],load:0x1->reg2[0..3]"
       ")"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(read_actions(one.said, one.match), one.meant) << one.said;
    // What it is shown as is read as the same.
    EXPECT_EQ(read_actions(one.meant, one.match), one.meant) << one.meant;
  }
}

TEST(action_text, refuses_what_cannot_be_learned) {
  const said_and_meant cases[] = {
      {"learn(fin_idle_timeout=5)", "error: learn: time-outs after a FIN are not there"},
      {"learn(fin_hard_timeout=5)", "error: learn: time-outs after a FIN are not there"},
      {"learn(limit=5,result_dst=reg0[0])",
       "error: learn: result_dst is not there: a packet goes on before its rule is made"},
      {"learn(load:pkt_mark[]->reg0[])",
       "error: pkt_mark: the switch has no field with these bits"},
  };
  for (const said_and_meant& one : cases) EXPECT_EQ(read_actions(one.said), one.meant) << one.said;
}

TEST(action_text, has_every_instruction) {
  EXPECT_EQ(read_actions("meter:3,1,clear_actions,write_actions(group:1,set_queue:2,output:3),"
                         "write_metadata:0x5/0xf,goto_table:9"),
            "meter:3,output:1,clear_actions,write_actions(group:1,set_queue:2,output:3),"
            "write_metadata:0x5/0xf,goto_table:9");
  EXPECT_EQ(read_actions("write_metadata:0x5"), "write_metadata:0x5");
  EXPECT_EQ(read_actions("write_actions(drop)"), "write_actions()");
}

TEST(action_text, refuses_by_name) {
  for (const char* name :
       {"ct(commit)", "multipath(eth_src,50,modulo_n,1,0,NXM_NX_REG0[])",
        "bundle(eth_src,0,hrw,ofport,members:1,2)", "note:12", "exit", "clone(1)", "push:reg0",
        "pop:reg0", "fin_timeout(idle_timeout=1)", "sample(probability=1)", "nat", "ct_clear",
        "pop_queue", "decap", "encap(nsh)", "check_pkt_larger(1)->reg0[0]", "delete_field:reg0",
        "bundle_load(eth_src,0,hrw,ofport,reg0[],members:1,2)", "unroll_xlate"}) {
    const std::string action(name);
    const std::string plain = action.substr(0, action.find_first_of(":("));
    EXPECT_EQ(read_actions(action), "error: " + plain + ": the switch has no such action");
    EXPECT_EQ(read_actions("write_actions(" + action + ")"),
              "error: " + plain + ": the switch has no such action");
  }
  const said_and_meant cases[] = {
      {"foo", "error: unknown action foo"},
      {"copy_ttl_in", "error: unknown action copy_ttl_in"},
      {"enqueue:1:2", "error: enqueue: OpenFlow 1.3 has no such action: use set_queue and output"},
      {"resubmit(,1,ct)", "error: resubmit: connections are not tracked"},
      {"output:xxreg1[]", "error: xxreg1: the switch has no field with these bits"},
      {"move:pkt_mark[]->reg0[]", "error: pkt_mark: the switch has no field with these bits"},
      {"output(port=1,max_len=100)", "error: output_trunc: the switch has no such action"},
      {"controller(id=5)", "error: controller: max_len is the only option"},
      {"controller(reason=no_match)", "error: controller: max_len is the only option"},
      {"controller(userdata=01.02)", "error: controller: max_len is the only option"},
      {"controller(pause)", "error: controller: max_len is the only option"},
      {"dec_ttl(1,2)", "error: dec_ttl: controllers cannot be chosen"},
      {"set_field:1->metadata", "error: set_field to metadata: the switch cannot write this field"},
      {"set_field:1->ct_mark", "error: cannot set CT fields outside of ct action"},
      {"set_field:1->tun_flags",
       "error: set_field to tun_flags: the switch cannot write this field"},
      {"write_actions(write_actions(1))",
       "error: write_actions: write_actions cannot be within write_actions"},
      {"drop,1", "error: \"drop\" must not be accompanied by any other action or instruction"},
      {"goto_table:300", "error: goto_table: \"300\" is not a number from 0 to 254"},
      {"65280", "error: output:65280: no packet can be sent there"},
  };
  for (const said_and_meant& one : cases) EXPECT_EQ(read_actions(one.said), one.meant) << one.said;
}

TEST(action_text, may_have_a_thousand_actions_but_no_more) {
  std::string list = "1";
  for (std::size_t i = 1; i < text_actions_max; ++i) list += ",1";
  EXPECT_TRUE(parse_rule("actions=" + list, rule_command::add).has_value());
  EXPECT_EQ(read_actions(list + ",1"), "error: actions: there are more than 1000");
  EXPECT_EQ(read_actions("write_actions(" + list + ")"),
            "error: actions: there are more than 1000");
}

}  // namespace
}  // namespace coua::ofp
