// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/packet_text.h"

#include <gtest/gtest.h>

#include "pipeline/oracle/parse.h"

namespace coua::ofp {
namespace {

using pipeline::field;

pipeline::packet read_frame(const std::string& text, const port_names& names = {}) {
  auto made = parse_packet(text, names);
  EXPECT_TRUE(made.has_value()) << text << ": " << made.error().message();
  return made.value_or(pipeline::packet{});
}
std::string wrong_frame(const std::string& text) {
  const auto made = parse_packet(text);
  return made ? "taken" : made.error().message();
}

TEST(packet_text, makes_bytes_with_the_fields_that_it_says) {
  for (const char* text : {
           "in_port=1,tcp,nw_src=10.0.0.1,nw_dst=10.0.0.2,tp_src=5,tp_dst=80,tcp_flags=0x12",
           "in_port=1,udp,nw_src=10.0.0.1,nw_dst=10.0.0.2,tp_src=5,tp_dst=53",
           "in_port=1,sctp,sctp_src=5,sctp_dst=53",
           "in_port=1,icmp,icmp_type=8,icmp_code=0",
           "in_port=1,tcp6,ipv6_src=fe80::1,ipv6_dst=fe80::2,tp_dst=80,ipv6_label=0x12345",
           "in_port=1,icmp6,ipv6_src=fe80::1,icmp_type=128,icmp_code=0",
           "in_port=1,icmp6,icmp_type=135,icmp_code=0,nd_target=fe80::1,nd_sll=00:00:00:00:00:07",
           "in_port=1,icmp6,icmp_type=136,icmp_code=0,nd_target=fe80::1,nd_tll=00:00:00:00:00:07",
           "in_port=1,arp,arp_op=1,arp_spa=1.2.3.4,arp_tpa=1.2.3.5,arp_sha=00:00:00:00:00:01",
           "in_port=1,mpls,mpls_label=5,mpls_tc=3,mpls_bos=1,mpls_ttl=9",
           "in_port=1,dl_vlan=5,dl_vlan_pcp=3,ip,nw_proto=99,nw_tos=184,nw_ecn=1,nw_ttl=3",
           "in_port=1,dl_src=00:00:00:00:00:01,dl_dst=ff:ff:ff:ff:ff:ff,dl_type=0x1234",
           "in_port=LOCAL,ip,nw_proto=17,nw_frag=later",
           "in_port=1,dl_type=0x05ff",
           "metadata=0x5,tun_id=0x7,reg3=0x9,in_port=1,tcp",
       }) {
    const pipeline::packet made = read_frame(text);
    // It reads back as what it said, and more.
    const auto again = read_frame(print_packet(made));
    EXPECT_EQ(again.bytes, made.bytes) << text << "\n" << print_packet(made);
    EXPECT_EQ(again, made) << text;
  }
}

TEST(packet_text, fills_in_what_is_not_said) {
  const pipeline::packet made = read_frame("tcp,tp_dst=80");
  EXPECT_EQ(made.in_port, pipeline::port_any);
  EXPECT_EQ(made.bytes.size(), 54U);
  const auto values = parse(made).values;
  EXPECT_EQ(values.get(field::ip_ttl), 64);
  EXPECT_EQ(values.get(field::tcp_dst), 80);
  EXPECT_EQ(values.get(field::tcp_src), 0);
  EXPECT_EQ(parse(read_frame("mpls,mpls_label=7")).values.get(field::mpls_bos), 1);
  const auto ipv6 = parse(read_frame("ipv6,ipv6_src=fe80::1")).values;
  EXPECT_EQ(ipv6.get(field::ip_proto), 59);
  EXPECT_TRUE(ipv6.has(field::ip_frag));
  EXPECT_EQ(parse(read_frame("ip")).values.get(field::ip_proto), 0);
}

TEST(packet_text, keeps_what_belongs_to_the_pipeline) {
  const pipeline::packet made = read_frame("in_port=3,metadata=0x5,tun_id=0x7,reg3=0x9,arp");
  EXPECT_EQ(made.in_port, 3);
  EXPECT_EQ(made.metadata, 5);
  EXPECT_EQ(made.tunnel_id, 7);
  EXPECT_EQ(made.reg[3], 9);
  EXPECT_EQ(read_frame("in_port=p0,arp", {{4, "p0"}}).in_port, 4);
  EXPECT_EQ(print_packet(read_frame("in_port=4,dl_type=0x1234"), {{4, "p0"}}),
            "in_port=p0,vlan_tci=0x0000/0x1fff,dl_src=00:00:00:00:00:00,dl_dst=00:00:00:00:00:00,"
            "dl_type=0x1234");
}

TEST(packet_text, takes_bytes) {
  const std::string frame = "ffffffffffff0000000000011234";
  const pipeline::packet made = read_frame("in_port=2 " + frame + "aBcD\n");
  EXPECT_EQ(made.in_port, 2);
  ASSERT_EQ(made.bytes.size(), 16U);
  EXPECT_EQ(made.bytes[0], 0xff);
  EXPECT_EQ(made.bytes[11], 1);
  EXPECT_EQ(made.bytes[14], 0xab);
  EXPECT_EQ(made.bytes[15], 0xcd);
  EXPECT_EQ(read_frame(frame).in_port, pipeline::port_any);
  EXPECT_EQ(read_frame("in_port=2," + frame).in_port, 2);
  for (const char* shorter : {"ff", "in_port=2 ffffffff", "in_port=2,0000"})
    EXPECT_EQ(wrong_frame(shorter), "packet: a frame has 14 to 16384 bytes") << shorter;
  EXPECT_EQ(wrong_frame("dl_vlan 5"), "dl_vlan: it has no value");
  EXPECT_EQ(wrong_frame(frame + "a"), "packet: half a byte at the end");
  EXPECT_EQ(wrong_frame("ffffffffffff00000000000112"), "packet: a frame has 14 to 16384 bytes");
}

TEST(packet_text, refuses_what_no_packet_has) {
  EXPECT_EQ(wrong_frame("tcp,foo=1"), "unknown keyword foo");
  EXPECT_EQ(wrong_frame("tp_dst=80"),
            "tp_dst: the match must also say that the packet is, or has, TCP or UDP or SCTP or "
            "ICMP or ICMPv6");
  EXPECT_EQ(wrong_frame("table=3,tcp"),
            "packet: a packet has no table, cookie, out_port or out_group");
  EXPECT_EQ(wrong_frame("ipv6,nw_proto=6,nw_frag=first"),
            "nw_frag: no packet could be made that has this and the other fields: give its bytes");
  EXPECT_EQ(wrong_frame("tcp ffffffffffff0000000000011234"),
            "dl_type: no packet could be made that has this and the other fields: give its bytes");
}

}  // namespace
}  // namespace coua::ofp
