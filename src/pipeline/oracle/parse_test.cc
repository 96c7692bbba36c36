// SPDX-License-Identifier: Apache-2.0
#include "pipeline/oracle/parse.h"

#include <gtest/gtest.h>

#include <bitset>

#include "pipeline/oracle/test_packet.h"

namespace coua::pipeline {
namespace {

using namespace test;

parsed parse_frame(const bytes& frame) {
  packet one;
  one.bytes = frame;
  return parse(one);
}
/// All of these are there with these values.
void expect(const parsed& got, std::initializer_list<std::pair<field, value128>> wanted) {
  for (const auto& [which, value] : wanted) {
    EXPECT_TRUE(got.has(which)) << info(which).name;
    EXPECT_EQ(format_value(which, got.get(which), full_mask(which)),
              format_value(which, value, full_mask(which)))
        << info(which).name;
  }
}
void expect_absent(const parsed& got, std::initializer_list<field> absent) {
  for (const field which : absent) EXPECT_FALSE(got.has(which)) << info(which).name;
}
constexpr value128 v6(std::uint64_t last) { return value128{0x2001'0db8'0000'0000} << 64 | last; }

TEST(parse, knows_where_a_packet_is_in_the_pipeline) {
  packet one;
  one.in_port = 7;
  one.metadata = 5;
  one.tunnel_id = 6;
  one.reg[15] = 9;
  expect(parse(one), {{field::in_port, 7},
                      {field::in_phy_port, 7},
                      {field::metadata, 5},
                      {field::tunnel_id, 6},
                      {field::reg0, 0},
                      {field::reg15, 9}});
  expect_absent(parse(one), {field::eth_dst, field::eth_type, field::vlan_vid});
  one.in_phy_port = 3;
  expect(parse(one), {{field::in_phy_port, 3}});
}

TEST(parse, ethernet_without_tag) {
  const parsed got = parse_frame(ethernet(0x1234));
  expect(got, {{field::eth_dst, 0x0200'0000'0002},
               {field::eth_src, 0x0200'0000'0001},
               {field::eth_type, 0x1234},
               {field::vlan_vid, 0}});
  expect_absent(got, {field::vlan_pcp, field::ip_proto, field::mpls_label, field::arp_op});
}

TEST(parse, a_length_is_no_type) {
  expect(parse_frame(ethernet(0x05dc)), {{field::eth_type, eth_type_none}});
  expect(parse_frame(ethernet(0x05ff)), {{field::eth_type, eth_type_none}});
  expect(parse_frame(ethernet(0x0600)), {{field::eth_type, 0x0600}});
}

TEST(parse, the_outermost_tag_counts_and_the_type_behind_all) {
  expect(parse_frame(ethernet(0x8100) + tag(0xa00a, 0x0800)),
         {{field::vlan_vid, vlan_present | 10}, {field::vlan_pcp, 5}, {field::eth_type, 0x0800}});
  const parsed two =
      parse_frame(ethernet(0x88a8) + tag(0x0001, 0x8100) + tag(0xe002, 0x0806) + arp());
  expect(two, {{field::vlan_vid, vlan_present | 1},
               {field::vlan_pcp, 0},
               {field::eth_type, 0x0806},
               {field::arp_op, 1}});
  EXPECT_EQ(two.type_at, 20U);
}

TEST(parse, looks_behind_four_tags_only) {
  bytes frame = ethernet(0x8100);
  for (int i = 0; i < 3; ++i) frame = frame + tag(1, 0x8100);
  expect(parse_frame(frame + tag(1, 0x0806) + arp()), {{field::arp_op, 1}});
  const parsed five = parse_frame(frame + tag(1, 0x8100) + tag(1, 0x0806) + arp());
  expect(five, {{field::eth_type, 0x8100}});
  expect_absent(five, {field::arp_op});
}

TEST(parse, mpls) {
  const parsed got = parse_frame(ethernet(0x8847) + mpls_entry(0xabcde, 5, false, 77) +
                                 mpls_entry(1, 0, true, 1) + ipv4(6, {}));
  expect(got, {{field::mpls_label, 0xabcde},
               {field::mpls_tc, 5},
               {field::mpls_bos, 0},
               {field::mpls_ttl, 77}});
  expect_absent(got, {field::ipv4_src, field::ip_proto});
  expect(parse_frame(ethernet(0x8848) + mpls_entry(1, 0, true, 1)), {{field::mpls_bos, 1}});
}

TEST(parse, arp) {
  const bytes frame = ethernet(0x0806) + arp();
  expect(parse_frame(frame), {{field::arp_op, 1},
                              {field::arp_spa, 0x0a000001},
                              {field::arp_tpa, 0x0a000002},
                              {field::arp_sha, 0x0200'0000'0001},
                              {field::arp_tha, 0}});
  for (const std::size_t at : {15U, 16U, 18U, 19U}) {  // other networks than IPv4 over Ethernet
    bytes other = frame;
    other[at] ^= 1;
    expect_absent(parse_frame(other), {field::arp_op, field::arp_spa});
  }
}

TEST(parse, ipv4_and_tcp) {
  const bytes frame = ethernet(0x0800) + ipv4(6, tcp(1000, 80), {}, 0, 0xb9);
  const parsed got = parse_frame(frame);
  expect(got, {{field::ip_dscp, 46},
               {field::ip_ecn, 1},
               {field::ip_proto, 6},
               {field::ip_ttl, 64},
               {field::ip_frag, 0},
               {field::ipv4_src, 0x0a000001},
               {field::ipv4_dst, 0x0a000002},
               {field::tcp_src, 1000},
               {field::tcp_dst, 80},
               {field::tcp_flags, 0x012}});
  expect_absent(got, {field::udp_src, field::ipv6_src, field::icmpv4_type});
}

TEST(parse, ipv4_options_are_skipped) {
  expect(parse_frame(ethernet(0x0800) + ipv4(17, udp(53, 54), hex("01010101 94040000"))),
         {{field::udp_src, 53}, {field::udp_dst, 54}});
}

TEST(parse, padding_behind_ip_is_no_header) {
  expect_absent(parse_frame(ethernet(0x0800) + ipv4(17, {}) + udp(1, 2)), {field::udp_src});
  expect_absent(parse_frame(ethernet(0x86dd) + ipv6(17, {}) + udp(1, 2)), {field::udp_src});
}

TEST(parse, malformed_ipv4_has_no_fields) {
  const bytes good = ethernet(0x0800) + ipv4(17, udp(1, 2));
  const auto with = [&](std::size_t at, std::uint8_t value) {
    bytes frame = good;
    frame[at] = value;
    return parse_frame(frame);
  };
  expect(with(14, 0x45), {{field::ip_proto, 17}});
  expect_absent(with(14, 0x55), {field::ip_proto, field::ipv4_src, field::ip_frag});  // version
  expect_absent(with(14, 0x44), {field::ip_proto, field::ipv4_src});  // header too short
  expect_absent(with(14, 0x4f), {field::ip_proto, field::ipv4_src});  // and too long
  expect_absent(with(17, 19), {field::ip_proto, field::ipv4_src});    // total length
  expect(with(17, 0xff), {{field::udp_dst, 2}});  // cut off further behind: what is there counts
}

TEST(parse, fragments_of_ipv4) {
  const auto frag = [](std::uint16_t word) {
    return parse_frame(ethernet(0x0800) + ipv4(17, udp(1, 2), {}, word));
  };
  expect(frag(0x4000), {{field::ip_frag, 0}, {field::udp_src, 1}});  // don't fragment
  expect(frag(0x2000), {{field::ip_frag, frag_any}, {field::udp_src, 1}});
  expect(frag(0x2001), {{field::ip_frag, frag_any | frag_later}, {field::ip_proto, 17}});
  expect(frag(0x0001), {{field::ip_frag, frag_any | frag_later}});
  expect_absent(frag(0x2001), {field::udp_src});
  expect_absent(frag(0x0001), {field::udp_src});
}

TEST(parse, other_transports) {
  expect(parse_frame(ethernet(0x0800) + ipv4(132, sctp(7, 8))),
         {{field::sctp_src, 7}, {field::sctp_dst, 8}});
  expect(parse_frame(ethernet(0x0800) + ipv4(1, icmp(8, 3))),
         {{field::icmpv4_type, 8}, {field::icmpv4_code, 3}});
  expect(parse_frame(ethernet(0x86dd) + ipv6(58, icmp(128, 1))),
         {{field::icmpv6_type, 128}, {field::icmpv6_code, 1}});
  // Each of the two in the other IP is none.
  expect_absent(parse_frame(ethernet(0x0800) + ipv4(58, icmp(128, 1))), {field::icmpv6_type});
  expect_absent(parse_frame(ethernet(0x86dd) + ipv6(1, icmp(8, 1))), {field::icmpv4_type});
}

TEST(parse, ipv6_and_udp) {
  bytes frame = ethernet(0x86dd) + ipv6(17, udp(1, 2));
  frame[14] = 0x6b;  // version 6, traffic class 0xb9, label 0xabcde
  frame[15] = 0x9a;
  frame[16] = 0xbc;
  frame[17] = 0xde;
  expect(parse_frame(frame), {{field::ip_dscp, 46},
                              {field::ip_ecn, 1},
                              {field::ipv6_flabel, 0xabcde},
                              {field::ip_ttl, 64},
                              {field::ip_proto, 17},
                              {field::ip_frag, 0},
                              {field::ipv6_exthdr, 0},
                              {field::ipv6_src, v6(1)},
                              {field::ipv6_dst, v6(2)},
                              {field::udp_src, 1},
                              {field::udp_dst, 2}});
  frame[14] = 0x4b;
  expect_absent(parse_frame(frame), {field::ipv6_src, field::ip_proto, field::ip_frag});
}

/// An extension header of 8 bytes, after which `next` comes.
bytes ext(std::uint8_t next) { return bytes{next, 0} + zeros(6); }

TEST(parse, ipv6_extension_headers_are_skipped_and_told) {
  const auto chain = [](std::uint8_t first, const bytes& rest) {
    return parse_frame(ethernet(0x86dd) + ipv6(first, rest));
  };
  expect(chain(0, ext(60) + ext(43) + ext(44) + hex("1100000000000000") + udp(1, 2)),
         {{field::ip_proto, 17},
          {field::ipv6_exthdr, exthdr_hop | exthdr_dest | exthdr_router | exthdr_frag},
          {field::udp_dst, 2},
          {field::ip_frag, 0}});
  // Authentication counts in words of four bytes: this one has 12.
  expect(chain(51, hex("11010000 00000000 00000000") + udp(1, 2)),
         {{field::ipv6_exthdr, exthdr_auth}, {field::udp_dst, 2}});
  expect(chain(60, hex("3c01") + zeros(14) + ext(17) + udp(1, 2)),  // destination options twice
         {{field::ipv6_exthdr, exthdr_dest}, {field::udp_dst, 2}});
  expect(chain(60, ext(60) + ext(60) + ext(17) + udp(1, 2)),
         {{field::ipv6_exthdr, exthdr_dest | exthdr_unrep}});
  expect(chain(43, ext(43) + ext(17) + udp(1, 2)),
         {{field::ipv6_exthdr, exthdr_router | exthdr_unrep}});
  expect(chain(43, ext(0) + ext(17) + udp(1, 2)),
         {{field::ipv6_exthdr, exthdr_router | exthdr_hop | exthdr_unseq}});
  expect(chain(59, zeros(8)), {{field::ip_proto, 59}, {field::ipv6_exthdr, exthdr_no_next}});
  const parsed esp = chain(0, ext(50) + zeros(20));
  expect(esp, {{field::ip_proto, 50}, {field::ipv6_exthdr, exthdr_hop | exthdr_esp}});
}

TEST(parse, fragments_of_ipv6) {
  const auto frag = [](const char* header) {
    return parse_frame(ethernet(0x86dd) + ipv6(44, hex(header) + udp(1, 2)));
  };
  expect(frag("1100 0001 00000000"),
         {{field::ip_frag, frag_any}, {field::udp_src, 1}, {field::ipv6_exthdr, exthdr_frag}});
  expect(frag("1100 0000 00000000"), {{field::ip_frag, 0}, {field::udp_src, 1}});  // atomic
  expect(frag("1100 0006 00000000"), {{field::ip_frag, 0}, {field::udp_src, 1}});  // reserved bits
  const parsed later = frag("1100 0008 00000000");
  expect(later, {{field::ip_frag, frag_any | frag_later}, {field::ip_proto, 17}});
  expect_absent(later, {field::udp_src});
  // What stands in a later fragment is no extension header.
  expect(frag("3c00 0009 00000000"), {{field::ip_proto, 60}, {field::ipv6_exthdr, exthdr_frag}});
}

TEST(parse, a_chain_that_does_not_end_says_nothing) {
  const auto gone = {field::ip_proto, field::ip_frag, field::ipv6_exthdr, field::udp_src};
  expect_absent(parse_frame(ethernet(0x86dd) + ipv6(0, bytes{17, 1} + zeros(6))), gone);
  expect_absent(parse_frame(ethernet(0x86dd) + ipv6(60, bytes{17, 0} + zeros(5))), gone);
  bytes eight, nine = ext(60);
  for (int i = 0; i < 7; ++i) eight = eight + ext(60);
  nine = nine + eight;
  expect(parse_frame(ethernet(0x86dd) + ipv6(60, eight + ext(17) + udp(1, 2))),
         {{field::udp_dst, 2}});
  const parsed long_one = parse_frame(ethernet(0x86dd) + ipv6(60, nine + ext(17) + udp(1, 2)));
  expect_absent(long_one, gone);
  expect(long_one, {{field::ipv6_src, v6(1)}});
}

TEST(parse, neighbour_discovery) {
  const bytes sll = hex("0101 0a0b0c0d0e0f"), tll = hex("0201 1a1b1c1d1e1f");
  const auto nd = [](std::uint8_t type, const bytes& options) {
    return parse_frame(ethernet(0x86dd) + ipv6(58, neighbour(type, options)));
  };
  expect(nd(135, sll), {{field::nd_target, v6(0x99)}, {field::nd_sll, 0x0a0b'0c0d'0e0f}});
  expect_absent(nd(135, sll + tll), {field::nd_tll});
  expect(nd(136, sll + tll), {{field::nd_target, v6(0x99)}, {field::nd_tll, 0x1a1b'1c1d'1e1f}});
  expect_absent(nd(136, sll + tll), {field::nd_sll});
  const bytes longer = hex("0102") + zeros(14);  // of another length: not of Ethernet
  expect(nd(135, longer + sll), {{field::nd_sll, 0x0a0b'0c0d'0e0f}});
  expect(nd(135, sll + hex("0101 ffffffffffff")), {{field::nd_sll, 0x0a0b'0c0d'0e0f}});
  expect_absent(nd(135, hex("0500 000000000000") + sll), {field::nd_sll});  // length 0
  expect_absent(nd(135, hex("0505 000000000000") + sll), {field::nd_sll});  // beyond the end
  expect_absent(nd(133, sll), {field::nd_target, field::nd_sll});
}

// Whatever is cut off, what is left reads as before or is not there; never beyond the end.
TEST(parse, cut_packets_lose_headers_from_the_end) {
  const bytes frames[] = {
      ethernet(0x8100) + tag(1, 0x0800) + ipv4(6, tcp(1, 2), hex("01010101")),
      ethernet(0x86dd) +
          ipv6(0, ext(44) + hex("3a00000000000000") + neighbour(135, hex("0101 0a0b0c0d0e0f"))),
      ethernet(0x8847) + mpls_entry(5, 1, true, 3),
      ethernet(0x0806) + arp(),
      ethernet(0x0800) + ipv4(132, sctp(1, 2)),
  };
  for (const bytes& whole : frames) {
    const parsed all = parse_frame(whole);
    std::size_t n_before = 0;
    for (std::size_t n = 0; n <= whole.size(); ++n) {
      const parsed got =
          parse_frame(bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)));
      std::size_t n_now = 0;
      for (std::size_t i = 0; i < n_fields; ++i) {
        const auto which = static_cast<field>(i);
        if (!got.has(which)) continue;
        ++n_now;
        EXPECT_TRUE(all.has(which)) << info(which).name << " at " << n;
        EXPECT_TRUE(all.get(which) == got.get(which)) << info(which).name << " at " << n;
      }
      EXPECT_GE(n_now, n_before) << n;
      n_before = n_now;
    }
  }
}

TEST(parse, a_header_is_there_with_its_last_byte) {
  const auto cut = [](const bytes& frame, std::size_t n) {
    return parse_frame(bytes(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(n)));
  };
  const bytes frame = ethernet(0x0800) + ipv4(6, tcp(1, 2));
  expect_absent(cut(frame, 13), {field::eth_dst, field::vlan_vid});
  expect(cut(frame, 14), {{field::eth_type, 0x0800}});
  expect_absent(cut(frame, 33), {field::ip_proto});
  expect(cut(frame, 34), {{field::ip_proto, 6}});
  expect_absent(cut(frame, 53), {field::tcp_src});
  expect(cut(frame, 54), {{field::tcp_src, 1}});
  const bytes tagged = ethernet(0x8100) + tag(1, 0x1234);
  expect_absent(cut(tagged, 17), {field::vlan_vid, field::vlan_pcp, field::eth_type});
  expect(cut(tagged, 18), {{field::vlan_vid, vlan_present | 1}});
}

}  // namespace
}  // namespace coua::pipeline
