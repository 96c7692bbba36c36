// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/flow_text.h"

#include <gtest/gtest.h>

#include "ctl/ofp/test_flow_text.h"

namespace coua::ofp {
namespace {

using test::must;
using test::read_match;
using test::read_rule;
using test::said_and_meant;

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
      {"tp_dst=80",
       "error: tp_dst: the match must also say that the packet is, or has, TCP or UDP or SCTP or "
       "ICMP or ICMPv6"},
      {"nw_src=1.2.3.4",
       "error: nw_src: the match must also say that the packet is, or has, IPv4 or ARP"},
      {"ct_state=+trk", "error: ct_state: the switch has no such field"},
      {"ct_mark=1", "error: ct_mark: the switch has no such field"},
      {"tun_src=1.2.3.4", "error: tun_src: the switch has no such field"},
      {"packet_type=(1,0x800)", "error: packet_type: the switch has Ethernet packets only"},
      {"dl_src=nonsense",
       "error: dl_src: \"nonsense\" is not an Ethernet address (01:23:45:67:89:ab)"},
      {"meter=1", "error: unknown keyword meter"},
      {"priority=65536", "error: priority: \"65536\" is not a number from 0 to 65535"},
      {"table=300", "error: table: \"300\" is not a number from 0 to 254"},
  };
  for (const said_and_meant& one : cases) EXPECT_EQ(read_match(one.said), one.meant) << one.said;
  EXPECT_EQ(read_rule("tcp"), "error: must specify an action");
}

TEST(match_text, keeps_all_that_its_words_say) {
  const said_and_meant cases[] = {
      {"tcp,udp", "error: tcp: what comes later says something else"},
      {"tcp,tp_dst=80,tp_dst=81", "error: tp_dst=80: what comes later says something else"},
      {"tcp,tp_dst=80,tcp_dst=81", "error: tp_dst=80: what comes later says something else"},
      {"ip,nw_tos=4,ip_dscp=5", "error: nw_tos=4: what comes later says something else"},
      {"in_port=1,in_port=2", "error: in_port=1: what comes later says something else"},
      {"xreg0=1,reg0=5", "error: xreg0=1: what comes later says something else"},
      {"reg0[0..3]=1,reg0=0x12", "error: reg0[0..3]=1: what comes later says something else"},
      {"ip,nw_src=1.2.3.4,nw_src=1.0.0.0/8",
       "error: nw_src=1.2.3.4: what comes later says something else"},
      {"dl_type=0x800,arp", "error: dl_type=0x800: what comes later says something else"},
      {"tcp,tcp,ip,nw_proto=6,tp_dst=80,tcp_dst=80", "dl_type=0x800,nw_proto=6,tcp_dst=80"},
      {"reg0[0..3]=1,reg0[4..7]=2", "reg0=0x21/0xff"},
  };
  for (const said_and_meant& one : cases) EXPECT_EQ(read_match(one.said), one.meant) << one.said;
  EXPECT_EQ(parse_filter("tcp,udp").error().message(), "tcp: what comes later says something else");
}

TEST(match_text, takes_a_field_by_its_name) {
  const std::string must = ": the match must also say that the packet is, or has, ";
  const struct {
    const char* said;
    std::string meant;
  } cases[] = {
      {"udp,tcp_dst=5", "tcp_dst" + must + "TCP"},
      {"ip,arp_op=1", "arp_op" + must + "ARP"},
      {"ip,arp_spa=1.2.3.4", "arp_spa" + must + "ARP"},
      {"icmp6,icmp_type=135,nd_tll=00:00:00:00:00:01",
       "nd_tll" + must + "a neighbour advertisement"},
      {"udp,nw_frag=later,tp_dst=5", "tp_dst: a later fragment does not have it"},
      {"ip,icmp_type=5", "icmp_type" + must + "ICMP or ICMPv6"},
  };
  for (const auto& one : cases) EXPECT_EQ(read_match(one.said), "error: " + one.meant) << one.said;
}

}  // namespace
}  // namespace coua::ofp
