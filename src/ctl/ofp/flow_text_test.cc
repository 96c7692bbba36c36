// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/flow_text.h"

#include <gtest/gtest.h>

#include "ctl/ofp/test_round_trip.h"
#include "pipeline/model/test_model.h"

namespace coua::ofp {
namespace {

using pipeline::mod_command;
using pipeline::rule_command;

/// "match | instructions" in the words of the model, or the error.
std::string read_rule(const std::string& text, rule_command command = rule_command::add) {
  const auto made = parse_rule(text, command);
  if (!made) return "error: " + made.error().message();
  return made->match.to_string() + " | " + to_string(made->instructions);
}
std::string read_match(const std::string& text) {
  const std::string both = read_rule(text + " actions=drop");
  const std::size_t end = both.find(" | ");
  return end == std::string::npos ? both : both.substr(0, end);
}
std::string read_actions(const std::string& text, const std::string& match = "") {
  const std::string both = read_rule(match + " actions=" + text);
  const std::size_t start = both.find(" | ");
  return start == std::string::npos ? both : both.substr(start + 3);
}
pipeline::rule_mod must(const std::string& text, rule_command command = rule_command::add,
                        const port_names& names = {}) {
  auto made = parse_rule(text, command, names);
  EXPECT_TRUE(made.has_value()) << text << ": " << made.error().message();
  return made.value_or(pipeline::rule_mod{});
}

struct said_and_meant {
  const char* said;
  const char* meant;
};

TEST(match_text, has_every_field) {
  const said_and_meant cases[] = {
      {"", "any"},
      {"in_port=1", "in_port=1"},
      {"in_port=LOCAL", "in_port=4294967294"},
      {"metadata=0x5", "metadata=0x5"},
      {"metadata=0x5/0xff", "metadata=0x5/0xff"},
      {"tun_id=7", "tun_id=0x7"},
      {"tunnel_id=0x1/0xf", "tun_id=0x1/0xf"},
      {"reg0=3,reg15=0x1/0xff", "reg0=0x3,reg15=0x1/0xff"},
      {"conj_id=7,tcp", "conj_id=7,dl_type=0x800,nw_proto=6"},
      {"xreg0=0x123456789abcdef0", "reg0=0x12345678,reg1=0x9abcdef0"},
      {"dl_dst=01:02:03:04:05:06", "dl_dst=01:02:03:04:05:06"},
      {"eth_src=01:00:00:00:00:00/01:00:00:00:00:00", "dl_src=01:00:00:00:00:00/01:00:00:00:00:00"},
      {"dl_type=0x1234", "dl_type=0x1234"},
      {"eth_type=0x05ff", "dl_type=0x5ff"},
      {"ip,nw_proto=6", "dl_type=0x800,nw_proto=6"},
      {"ipv6,ip_proto=6", "dl_type=0x86dd,nw_proto=6"},
      {"ip,ip_dscp=46", "dl_type=0x800,ip_dscp=46"},
      {"ip,nw_tos=184", "dl_type=0x800,ip_dscp=46"},
      {"ipv6,nw_ecn=2", "dl_type=0x86dd,nw_ecn=2"},
      {"ip,ip_ecn=3", "dl_type=0x800,nw_ecn=3"},
      {"ip,nw_ttl=5", "dl_type=0x800,nw_ttl=5"},
      {"ip,nw_frag=no", "dl_type=0x800,nw_frag=no"},
      {"ip,nw_frag=yes", "dl_type=0x800,nw_frag=yes"},
      {"ip,nw_frag=first", "dl_type=0x800,nw_frag=first"},
      {"ip,ip_frag=later", "dl_type=0x800,nw_frag=later"},
      {"ipv6,nw_frag=not_later", "dl_type=0x86dd,nw_frag=not_later"},
      {"ip,nw_src=10.0.0.0/8", "dl_type=0x800,nw_src=10.0.0.0/255.0.0.0"},
      {"ip,ip_dst=10.0.0.1/255.0.0.255", "dl_type=0x800,nw_dst=10.0.0.1/255.0.0.255"},
      {"ipv6,ipv6_src=fe80::/10", "dl_type=0x86dd,ipv6_src=fe80::/ffc0::"},
      {"ipv6,ipv6_dst=2001:db8::1", "dl_type=0x86dd,ipv6_dst=2001:db8::1"},
      {"ipv6,ipv6_label=0x12345", "dl_type=0x86dd,ipv6_label=0x12345"},
      {"ipv6,ipv6_label=0x1/0xf", "dl_type=0x86dd,ipv6_label=0x1/0xf"},
      {"arp,arp_op=2", "dl_type=0x806,arp_op=2"},
      {"arp,arp_spa=1.2.3.4,arp_tpa=5.6.7.0/24",
       "dl_type=0x806,arp_spa=1.2.3.4,arp_tpa=5.6.7.0/255.255.255.0"},
      {"arp,nw_src=1.2.3.4,nw_proto=1", "dl_type=0x806,arp_op=1,arp_spa=1.2.3.4"},
      {"arp,nw_dst=1.2.3.4", "dl_type=0x806,arp_tpa=1.2.3.4"},
      {"arp,arp_sha=00:11:22:33:44:55,arp_tha=00:00:00:00:00:01",
       "dl_type=0x806,arp_sha=00:11:22:33:44:55,arp_tha=00:00:00:00:00:01"},
      {"tcp,tcp_src=5,tp_dst=80", "dl_type=0x800,nw_proto=6,tcp_src=5,tcp_dst=80"},
      {"tcp6,tp_src=0x400/0xfc00", "dl_type=0x86dd,nw_proto=6,tcp_src=0x400/0xfc00"},
      {"tcp,tcp_flags=+syn-ack", "dl_type=0x800,nw_proto=6,tcp_flags=0x2/0x12"},
      {"tcp,tcp_flags=0x2", "dl_type=0x800,nw_proto=6,tcp_flags=0x2"},
      {"udp,udp_src=1,udp_dst=2", "dl_type=0x800,nw_proto=17,udp_src=1,udp_dst=2"},
      {"sctp6,sctp_src=1,sctp_dst=2", "dl_type=0x86dd,nw_proto=132,sctp_src=1,sctp_dst=2"},
      {"icmp,icmp_type=8,icmp_code=0", "dl_type=0x800,nw_proto=1,icmp_type=8,icmp_code=0"},
      {"icmp6,icmp_type=1,icmp_code=2", "dl_type=0x86dd,nw_proto=58,icmpv6_type=1,icmpv6_code=2"},
      {"icmp6,icmp_type=135,nd_target=fe80::1,nd_sll=00:01:02:03:04:05",
       "dl_type=0x86dd,nw_proto=58,icmpv6_type=135,nd_target=fe80::1,nd_sll=00:01:02:03:04:05"},
      {"icmp6,icmpv6_type=136,nd_tll=00:01:02:03:04:05",
       "dl_type=0x86dd,nw_proto=58,icmpv6_type=136,nd_tll=00:01:02:03:04:05"},
      {"mpls,mpls_label=5,mpls_tc=1,mpls_bos=1,mpls_ttl=9",
       "dl_type=0x8847,mpls_label=5,mpls_tc=1,mpls_bos=1,mpls_ttl=9"},
      {"mplsm,mpls_label=5", "dl_type=0x8848,mpls_label=5"},
  };
  for (const said_and_meant& one : cases) EXPECT_EQ(read_match(one.said), one.meant) << one.said;
}

TEST(match_text, has_every_way_to_name_a_tag) {
  const said_and_meant cases[] = {
      {"dl_vlan=5", "vlan_vid=0x1005"},
      {"dl_vlan=0xffff", "vlan_vid=0x0"},
      {"vlan_vid=0x1005/0x1fff", "vlan_vid=0x1005"},
      {"vlan_vid=0x1000/0x1000", "vlan_vid=0x1000/0x1000"},
      {"vlan_vid=0", "vlan_vid=0x0"},
      {"vlan_tci=0x1005", "vlan_vid=0x1005,vlan_pcp=0"},
      {"vlan_tci=0x7005/0xffff", "vlan_vid=0x1005,vlan_pcp=3"},
      {"vlan_tci=0x1005/0x1fff", "vlan_vid=0x1005"},
      {"vlan_tci=0x1000/0x1000", "vlan_vid=0x1000/0x1000"},
      {"vlan_tci=0", "vlan_vid=0x0"},
      {"vlan_tci=0/0x1000", "vlan_vid=0x0/0x1000"},
      {"dl_vlan=5,dl_vlan_pcp=3", "vlan_vid=0x1005,vlan_pcp=3"},
      {"dl_vlan_pcp=3", "vlan_vid=0x1000/0x1000,vlan_pcp=3"},
      {"dl_vlan=5,vlan_pcp=1", "vlan_vid=0x1005,vlan_pcp=1"},
      {"vlan_tci=0x2000/0xe000", "error: vlan_tci: a priority needs the present bit (0x1000)"},
      {"vlan_tci=0x7000/0x3000", "error: vlan_pcp: the field takes no mask"},
      {"vlan_tci=0x0005/0x1fff",
       "error: vlan_tci: a number or priority without a tag: no packet could match"},
  };
  for (const said_and_meant& one : cases) EXPECT_EQ(read_match(one.said), one.meant) << one.said;
}

TEST(match_text, refuses_by_name) {
  const said_and_meant cases[] = {
      {"foo=1", "error: unknown keyword foo"},
      {"in_phy_port=1", "error: unknown keyword in_phy_port"},
      {"tp_dst=80", "error: tcp_dst: the match must also say that the packet is, or has, TCP"},
      {"nw_src=1.2.3.4", "error: ip_src: the match must also say that the packet is, or has, IPv4"},
      {"ct_state=+trk", "error: ct_state: the switch has no such field"},
      {"ct_mark=1", "error: ct_mark: the switch has no such field"},
      {"tun_src=1.2.3.4", "error: tun_src: the switch has no such field"},
      {"packet_type=(1,0x800)", "error: packet_type: the switch has Ethernet packets only"},
      {"dl_src=nonsense", "error: nonsense: invalid Ethernet address"},
      {"meter=1", "error: unknown keyword meter"},
      {"priority=65536", "error: invalid priority \"65536\""},
      {"table=300", "error: unknown table \"300\""},
  };
  for (const said_and_meant& one : cases) EXPECT_EQ(read_match(one.said), one.meant) << one.said;
  EXPECT_EQ(read_rule("tcp"), "error: must specify an action");
}

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
      {"goto_table:300", "error: unknown table \"300\""},
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
  EXPECT_EQ(print_rule(test::rule_of(made), names), "in_port=p0 actions=output:\"up:link\"");
  EXPECT_EQ(must("out_port=p0", rule_command::remove, names).out_port, 1);
}

TEST(rule_text, is_printed_as_ovs_ofctl_does) {
  const auto made = must(
      "table=1,priority=10,cookie=0x5,idle_timeout=60,send_flow_rem,tcp,nw_dst=10.0.0.0/8,tp_dst=80"
      " actions=dec_ttl,output:2,goto_table:2");
  const pipeline::rule one = test::rule_of(made);
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

TEST(filter_text, takes_the_rules_that_it_says) {
  pipeline::rule one = test::rule_of(
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

TEST(group_text, is_read_and_printed) {
  const said_and_meant cases[] = {
      {"group_id=1,type=all", "group_id=1,type=all"},
      {"group_id=1,type=all,bucket=output:1,bucket=output:2",
       "group_id=1,type=all,bucket=actions=output:1,bucket=actions=output:2"},
      {"group_id=2,type=select,bucket=output:1,bucket=weight:2,output:2",
       "group_id=2,type=select,bucket=actions=output:1,bucket=weight:2,actions=output:2"},
      {"group_id=3 type=indirect bucket=actions=mod_dl_src:00:00:00:00:00:01,group:4",
       "group_id=3,type=indirect,bucket=actions=set_field:00:00:00:00:00:01->eth_src,group:4"},
      {"group_id=4,type=ff,bucket=watch_port:1,actions=output:1,bucket=watch_group:2,output:2",
       "group_id=4,type=ff,bucket=watch_port:1,actions=output:1,bucket=watch_group:2,"
       "actions=output:2"},
      {"group_id=4,type=fast_failover,bucket=watch_port:1,output:1",
       "group_id=4,type=ff,bucket=watch_port:1,actions=output:1"},
  };
  for (const said_and_meant& one : cases) {
    const auto made = parse_group(one.said, mod_command::add);
    ASSERT_TRUE(made.has_value()) << one.said << ": " << made.error().message();
    EXPECT_EQ(print_group(made->what), one.meant);
    EXPECT_EQ(made->command, mod_command::add);
  }
  EXPECT_EQ(parse_group("", mod_command::remove)->what.id, pipeline::group_all);
  EXPECT_EQ(parse_group("group_id=all", mod_command::remove)->what.id, pipeline::group_all);
  EXPECT_EQ(parse_group("group_id=9", mod_command::remove)->what.id, 9);
  EXPECT_EQ(parse_group("group_id=9,type=all", mod_command::modify)->command, mod_command::modify);
}

TEST(group_text, refuses_by_name) {
  const said_and_meant cases[] = {
      {"type=all", "must specify a group_id"},
      {"group_id=1,bucket=1", "must specify a type"},
      {"group_id=1,type=some", "invalid group type some"},
      {"group_id=4294967041,type=all", "invalid group id 4294967041"},
      {"group_id=1,type=all,foo=1", "unknown keyword foo"},
      {"group_id=1,type=all,bucket=", "bucket must specify actions"},
      {"group_id=1,type=all,bucket=ct(commit)", "ct: the switch has no such action"},
      {"group_id=1,type=all,bucket=actions=1,ct(commit)", "ct: the switch has no such action"},
      {"group_id=1,type=all,bucket=goto_table:1", "goto_table"},
      {"group_id=1,type=all,bucket=mod_tp_src:5",
       "mod_tp_src: of which protocol? use set_field:5->tcp_src or the like"},
      {"group_id=1,type=all,bucket=bucket_id:1,1",
       "bucket_id: OpenFlow 1.3 gives buckets no numbers"},
      {"group_id=1,type=select,selection_method=hash",
       "selection_method: OpenFlow 1.3 cannot choose the method of selection"},
      {"group_id=1,type=select,fields(eth_src)",
       "fields: OpenFlow 1.3 cannot choose the method of selection"},
      {"group_id=1,type=all,command_bucket_id=1", "command bucket id is not needed"},
  };
  for (const said_and_meant& one : cases) {
    const auto made = parse_group(one.said, mod_command::add);
    ASSERT_FALSE(made.has_value()) << one.said;
    EXPECT_NE(made.error().message().find(one.meant), std::string::npos) << made.error().message();
  }
}

TEST(group_text, prints_what_was_counted) {
  pipeline::group_state state;
  state.counted = {3, 180};
  state.buckets = {{1, 60}, {2, 120}};
  state.n_rules = 2;
  EXPECT_EQ(print_group_stats({.id = 5}, state, 1'500'000'000),
            "group_id=5,duration=1.500s,ref_count=2,packet_count=3,byte_count=180,"
            "bucket0:packet_count=1,byte_count=60,bucket1:packet_count=2,byte_count=120");
}

TEST(meter_text, is_read_and_printed) {
  const said_and_meant cases[] = {
      {"meter=1,kbps,burst,band=type=drop,rate=1000,burst_size=100",
       "meter=1 kbps burst bands= type=drop rate=1000 burst_size=100"},
      {"meter=2,pktps,stats,bands=type=drop,rate=1000,type=dscp_remark,rate=5,prec_level=1",
       "meter=2 pktps stats bands= type=drop rate=1000 type=dscp_remark rate=5 prec_level=1"},
      {"meter=1 kbps bands= type=drop rate=7", "meter=1 kbps bands= type=drop rate=7"},
  };
  for (const said_and_meant& one : cases) {
    const auto made = parse_meter(one.said, mod_command::add);
    ASSERT_TRUE(made.has_value()) << one.said << ": " << made.error().message();
    EXPECT_EQ(print_meter(made->what), one.meant);
  }
  EXPECT_EQ(parse_meter("", mod_command::remove)->what.id, pipeline::meter_all);
  EXPECT_EQ(parse_meter("meter=all", mod_command::remove)->what.id, pipeline::meter_all);
  EXPECT_EQ(parse_meter("meter=3", mod_command::remove)->what.id, 3);
}

TEST(meter_text, refuses_by_name) {
  const said_and_meant cases[] = {
      {"meter=1", "must specify bands"},
      {"kbps,band=type=drop,rate=1", "must specify 'meter'"},
      {"meter=1,band=type=drop,rate=1", "meter must specify either 'kbps' or 'pktps'"},
      {"meter=1,kbps,pktps,band=type=drop,rate=1", "meter 1: either kbps or pktps"},
      {"meter=1,kbps,band=type=drop", "band must have 'rate'"},
      {"meter=1,kbps,band=type=foo,rate=1", "field type unknown value foo"},
      {"meter=1,kbps,band=type=dscp_remark,rate=1", "'dscp_remark' band must have 'prec_level'"},
      {"meter=1,kbps,burst,band=type=drop,rate=1",
       "band must have 'burst_size' when 'burst' flag is set"},
      {"meter=1,foo=2,kbps,band=type=drop,rate=1", "unknown keyword foo"},
  };
  for (const said_and_meant& one : cases) {
    const auto made = parse_meter(one.said, mod_command::add);
    ASSERT_FALSE(made.has_value()) << one.said;
    EXPECT_EQ(made.error().message(), one.meant) << one.said;
  }
}

TEST(meter_text, prints_what_was_counted) {
  pipeline::meter_state state;
  state.counted = {3, 180};
  state.bands = {{1, 60}};
  state.n_rules = 2;
  EXPECT_EQ(print_meter_stats({.id = 5}, state, pipeline::ns_per_s),
            "meter:5 flow_count:2 packet_in_count:3 byte_in_count:180 duration:1s bands: "
            "0: packet_count:1 byte_count:60");
}

TEST(line_text, has_an_operation_per_line) {
  const auto made = parse_lines(
      "# a comment\n"
      "tcp actions=1   # another\n"
      "\n"
      "delete udp\r\n"
      "modify_strict priority=3 actions=2\n"
      "flow add priority=4,actions=3\n"
      "group group_id=1,type=all\n"
      "group modify group_id=1,type=all\n"
      "meter delete meter=3\n"
      "  delete_strict priority=9",
      {});
  ASSERT_TRUE(made.has_value()) << made.error().message();
  ASSERT_EQ(made->operations.size(), 8U);
  EXPECT_EQ(made->places.front(), "line 2");
  EXPECT_EQ(made->places.back(), "line 10");
  const auto command = [&made](std::size_t i) {
    return std::get<pipeline::rule_mod>(made->operations[i]).command;
  };
  EXPECT_EQ(command(0), rule_command::add);
  EXPECT_EQ(command(1), rule_command::remove);
  EXPECT_EQ(command(2), rule_command::modify_strict);
  EXPECT_EQ(command(3), rule_command::add);
  EXPECT_EQ(std::get<pipeline::group_mod>(made->operations[4]).command, mod_command::add);
  EXPECT_EQ(std::get<pipeline::group_mod>(made->operations[5]).command, mod_command::modify);
  EXPECT_EQ(std::get<pipeline::meter_mod>(made->operations[6]).command, mod_command::remove);
  EXPECT_EQ(command(7), rule_command::remove_strict);
}

TEST(line_text, follows_the_defaults) {
  const line_defaults groups{line_defaults::kind::group, {}, mod_command::remove};
  const auto made = parse_lines("group_id=3\nflow tcp", groups);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().message(), "line 2: must specify an action");
  const auto one = parse_lines("group_id=3", groups);
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(std::get<pipeline::group_mod>(one->operations.front()).command, mod_command::remove);
}

TEST(line_text, names_the_line) {
  EXPECT_EQ(parse_lines("foo=1 actions=2", {}).error().message(), "unknown keyword foo");
  EXPECT_EQ(parse_lines("actions=1\n\nfoo=1 actions=2", {}).error().message(),
            "line 3: unknown keyword foo");
  EXPECT_EQ(parse_lines("actions=1\nactions=ct(commit)\n", {}).error().message(),
            "line 2: ct: the switch has no such action");
}

}  // namespace
}  // namespace coua::ofp
