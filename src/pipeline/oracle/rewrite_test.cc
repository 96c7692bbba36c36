// SPDX-License-Identifier: Apache-2.0
#include "pipeline/oracle/rewrite.h"

#include <gtest/gtest.h>

#include <random>

#include "net/ethernet.h"
#include "pipeline/oracle/parse.h"
#include "pipeline/oracle/test_packet.h"

namespace coua::pipeline {
namespace {

using namespace test;

packet after(packet one, const action& what, rewrite_result expected = rewrite_result::done) {
  const packet before = one;
  EXPECT_EQ(rewrite(one, what), expected) << to_string(what);
  if (expected != rewrite_result::done) {
    EXPECT_EQ(one, before) << to_string(what);
  }
  return one;
}
value128 get(const packet& one, field which) {
  EXPECT_TRUE(parse(one).has(which)) << info(which).name;
  return parse(one).get(which);
}

const bytes payload = hex("61626364656667");  // an odd number

/// Packets that have each writable header between them.
std::vector<packet> samples() {
  std::vector<packet> made;
  for (const bytes& frame :
       {ethernet(0x8100) + tag(0x6005, 0x0800) + ipv4(6, tcp(1000, 80, payload)),
        ethernet(0x0800) + ipv4(17, udp(53, 54, payload), hex("01010101")),
        ethernet(0x0800) + ipv4(132, sctp(7, 8, payload)),
        ethernet(0x0800) + ipv4(1, icmp(8, 0, payload)),
        ethernet(0x86dd) + ipv6(6, tcp(1000, 80, payload)),
        ethernet(0x86dd) + ipv6(17, udp(53, 54, payload)),
        ethernet(0x86dd) + ipv6(132, sctp(7, 8, payload)),
        ethernet(0x86dd) + ipv6(58, neighbour(135, hex("0101 0a0b0c0d0e0f"))),
        ethernet(0x86dd) + ipv6(58, neighbour(136, hex("0201 0a0b0c0d0e0f"))),
        ethernet(0x0806) + arp(), ethernet(0x8847) + mpls_entry(5, 1, true, 3)}) {
    made.push_back(from_port_1(frame));
  }
  return made;
}

TEST(set_field, writes_every_field_that_can_be_written_and_only_it) {
  std::mt19937_64 random(3);
  for (std::size_t i = 0; i < n_fields; ++i) {
    const auto which = static_cast<field>(i);
    if (!info(which).writable) continue;
    unsigned n_written = 0;
    for (const packet& one : samples()) {
      const parsed before = parse(one);
      if (!before.has(which) || (which == field::vlan_vid && !before.tagged)) {
        after(one, act::set(which, which == field::vlan_vid ? vlan_present : 0),
              rewrite_result::no_header);
        continue;
      }
      ++n_written;
      for (int run = 0; run < 20; ++run) {
        value128 value = (value128{random()} << 64 | random()) & full_mask(which);
        if (run == 0) value = 0;
        if (run == 1) value = full_mask(which);
        if (which == field::vlan_vid) value |= vlan_present;
        if (which == field::icmpv6_type) value = before.get(which);  // what follows depends on it
        const packet changed = after(one, act::set(which, value));
        EXPECT_TRUE(checksums_right(changed)) << info(which).name;
        const parsed now = parse(changed);
        field_values wanted = before.values;
        wanted.set(which, value);
        EXPECT_TRUE(now.values == wanted) << info(which).name;
        EXPECT_EQ(changed.bytes.size(), one.bytes.size());
      }
    }
    EXPECT_GE(n_written, 1U) << info(which).name;
  }
}

TEST(set_field, under_a_mask_leaves_the_other_bits) {
  packet one = from_port_1(ethernet(0x0800) + ipv4(17, udp(0x1234, 54)));
  one = after(one, act::set_field{field::udp_src, 0x0f00, 0xff00});
  EXPECT_TRUE(get(one, field::udp_src) == 0x0f34);
  one = after(one, act::set_field{field::ipv4_dst, 0x01000000, 0xff000000});
  EXPECT_TRUE(get(one, field::ipv4_dst) == 0x01000002);
  EXPECT_TRUE(checksums_right(one));
  one.reg[3] = 0xffff'ffff;
  one = after(one, act::set_field{reg(3), 0x10, 0xff});
  EXPECT_EQ(one.reg[3], 0xffff'ff10U);
  one.tunnel_id = ~std::uint64_t{0};
  one = after(one, act::set_field{field::tunnel_id, 0, 0xff});
  EXPECT_EQ(one.tunnel_id, ~std::uint64_t{0xff});
}

TEST(move, copies_bits_and_leaves_the_others) {
  packet one = from_port_1(ethernet(0x0800) + ipv4(6, tcp(0x1234, 80)));
  one.reg[2] = 0xffff'ffff;
  one = after(one, act::move{{field::tcp_src, 4, 8}, {reg(2), 8, 8}});
  EXPECT_EQ(one.reg[2], 0xffff'23ffU);
  one = after(one, act::move{{reg(2), 8, 8}, {field::ipv4_dst, 24, 8}});
  EXPECT_TRUE(get(one, field::ipv4_dst) == 0x2300'0002);
  EXPECT_TRUE(checksums_right(one));
  one = after(one, act::move{{field::eth_src, 0, 48}, {field::eth_dst, 0, 48}});
  EXPECT_TRUE(get(one, field::eth_dst) == get(one, field::eth_src));
  one.metadata = ~std::uint64_t{0};
  one = after(one, act::move{{reg(0), 0, 32}, {field::metadata, 16, 32}});
  EXPECT_EQ(one.metadata, 0xffff'0000'0000'ffffU);
}

TEST(move, without_one_of_the_fields_changes_nothing) {
  packet one = from_port_1(ethernet(0x0800) + ipv4(6, tcp(0x1234, 80)));
  one.reg[1] = 5;
  const packet before = one;
  EXPECT_EQ(rewrite(one, act::move{{field::udp_src, 0, 16}, {reg(1), 0, 16}}),
            rewrite_result::no_header);
  EXPECT_EQ(rewrite(one, act::move{{reg(1), 0, 16}, {field::udp_src, 0, 16}}),
            rewrite_result::no_header);
  EXPECT_EQ(one, before);
}

TEST(set_field, no_udp_checksum_stays_none) {
  packet one = from_port_1(ethernet(0x0800) + ipv4(17, udp(1, 2, payload)));
  net::store_be16(&one.bytes[14 + 20 + 6], 0);
  const packet changed =
      after(after(one, act::set(field::udp_dst, 99)), act::set(field::ipv4_src, 0x01020304));
  EXPECT_EQ(net::load_be16(&changed.bytes[14 + 20 + 6]), 0);
}

TEST(set_field, a_udp_checksum_that_becomes_0_is_sent_as_ffff) {
  packet one = from_port_1(ethernet(0x0800) + ipv4(17, udp(1, 2, payload)));
  const std::uint16_t old = net::load_be16(&one.bytes[14 + 20 + 6]);
  // The checksum falls by what the port rises.
  const packet changed = after(one, act::set(field::udp_src, value128{1U} + old));
  EXPECT_EQ(net::load_be16(&changed.bytes[14 + 20 + 6]), 0xffff);
  EXPECT_TRUE(checksums_right(changed));
}

TEST(set_field, wrong_checksums_stay_wrong_and_come_right_with_what_was_wrong) {
  for (const packet& right : samples()) {
    for (const field which :
         {field::ipv4_dst, field::ipv6_dst, field::tcp_dst, field::udp_dst, field::sctp_dst,
          field::icmpv4_code, field::icmpv6_code, field::nd_target}) {
      if (!parse(right).has(which)) continue;
      packet damaged = right;
      damaged.bytes.back() ^= 0x10;
      ASSERT_FALSE(checksums_right(damaged));
      packet changed = after(damaged, act::set(which, 77));
      EXPECT_FALSE(checksums_right(changed)) << info(which).name;
      changed.bytes.back() ^= 0x10;
      EXPECT_TRUE(checksums_right(changed)) << info(which).name;
    }
  }
  packet header = from_port_1(ethernet(0x0800) + ipv4(17, udp(1, 2)));
  header.bytes[14 + 4] ^= 1;  // the identification
  packet changed = after(header, act::dec_ip_ttl{});
  EXPECT_FALSE(checksums_right(changed));
  changed.bytes[14 + 4] ^= 1;
  EXPECT_TRUE(checksums_right(changed));
}

TEST(set_field, fragments_change_where_their_headers_are) {
  const packet later = from_port_1(ethernet(0x0800) + ipv4(17, udp(1, 2, payload), {}, 0x0010));
  packet changed = after(later, act::set(field::ipv4_dst, 0x0b000001));
  EXPECT_TRUE(checksums_right(changed));  // of the IP header
  EXPECT_TRUE(
      std::equal(changed.bytes.begin() + 34, changed.bytes.end(), later.bytes.begin() + 34));
  after(later, act::set(field::udp_dst, 5), rewrite_result::no_header);
  // Of a first fragment, the checksum of UDP changes with the address: it is there.
  const packet whole = from_port_1(ethernet(0x0800) + ipv4(17, udp(1, 2, payload)));
  packet first = whole;
  first.bytes[14 + 6] = 0x20;
  const packet first_changed = after(first, act::set(field::ipv4_dst, 0x0b000001));
  const packet whole_changed = after(whole, act::set(field::ipv4_dst, 0x0b000001));
  EXPECT_EQ(net::load_be16(&first_changed.bytes[40]), net::load_be16(&whole_changed.bytes[40]));
  EXPECT_NE(net::load_be16(&first_changed.bytes[40]), net::load_be16(&first.bytes[40]));
  // The CRC of SCTP is over bytes of other fragments.
  packet sctp_first = from_port_1(ethernet(0x0800) + ipv4(132, sctp(1, 2, payload)));
  sctp_first.bytes[14 + 6] = 0x20;
  const packet sctp_changed = after(sctp_first, act::set(field::sctp_dst, 9));
  EXPECT_TRUE(std::equal(sctp_changed.bytes.begin() + 38, sctp_changed.bytes.end(),
                         sctp_first.bytes.begin() + 38));
}

TEST(set_field, a_source_route_hides_the_destination_from_checksums) {
  for (const std::uint8_t left : {0, 1}) {
    bytes routing = bytes{6, 2, 0, left} + zeros(4) + hex("20010db8 00000000 00000000 000000ff");
    packet one = from_port_1(ethernet(0x86dd) + ipv6(43, routing + tcp(1, 2, payload)));
    ASSERT_TRUE(checksums_right(one));
    one = after(one, act::set(field::ipv6_dst, 7));
    EXPECT_TRUE(checksums_right(one)) << int{left};
    one = after(one, act::set(field::ipv6_src, 8));
    EXPECT_TRUE(checksums_right(one)) << int{left};
  }
}

TEST(set_field, cut_packets_keep_the_difference) {
  // The end of the message is missing; whoever has it finds the checksum right.
  for (const std::uint8_t proto : {6, 17, 132}) {
    const bytes l4 = proto == 6    ? tcp(1, 2, payload)
                     : proto == 17 ? udp(1, 2, payload)
                                   : sctp(1, 2, payload);
    const packet whole = from_port_1(ethernet(0x0800) + ipv4(proto, l4));
    packet cut = whole;
    cut.bytes.resize(cut.bytes.size() - 3);
    const field port = proto == 6 ? field::tcp_dst : proto == 17 ? field::udp_dst : field::sctp_dst;
    packet changed = after(cut, act::set(port, 4242));
    changed.bytes.insert(changed.bytes.end(), whole.bytes.end() - 3, whole.bytes.end());
    EXPECT_TRUE(checksums_right(changed)) << int{proto};
  }
}

TEST(ttl, is_set_and_decremented_in_ip) {
  for (const bytes& l3 :
       {ethernet(0x0800) + ipv4(6, tcp(1, 2)), ethernet(0x86dd) + ipv6(6, tcp(1, 2))}) {
    packet one = from_port_1(l3);
    one = after(one, act::dec_ip_ttl{});
    EXPECT_TRUE(get(one, field::ip_ttl) == 63);
    EXPECT_TRUE(checksums_right(one));
    one = after(one, act::set_ip_ttl{2});
    EXPECT_TRUE(checksums_right(one));
    one = after(one, act::dec_ip_ttl{});
    EXPECT_TRUE(get(one, field::ip_ttl) == 1);
    after(one, act::dec_ip_ttl{}, rewrite_result::invalid_ttl);
    one = after(one, act::set_ip_ttl{0});
    after(one, act::dec_ip_ttl{}, rewrite_result::invalid_ttl);
  }
  after(from_port_1(ethernet(0x0806) + arp()), act::dec_ip_ttl{}, rewrite_result::no_header);
}

TEST(ttl, is_set_and_decremented_in_mpls) {
  packet one = from_port_1(ethernet(0x8847) + mpls_entry(5, 1, true, 3) + ipv4(6, tcp(1, 2)));
  one = after(one, act::dec_mpls_ttl{});
  EXPECT_TRUE(get(one, field::mpls_ttl) == 2);
  one = after(one, act::set_mpls_ttl{1});
  after(one, act::dec_mpls_ttl{}, rewrite_result::invalid_ttl);
  after(one, act::dec_ip_ttl{}, rewrite_result::no_header);  // IP is under a label
}

TEST(ttl, moves_between_layers) {
  const bytes below = ipv4(17, udp(1, 2)), below6 = ipv6(6, tcp(1, 2));
  packet one = from_port_1(ethernet(0x8847) + mpls_entry(5, 1, true, 3) + below);
  EXPECT_TRUE(get(after(one, act::copy_ttl_out{}), field::mpls_ttl) == 64);
  one = after(after(one, act::copy_ttl_in{}), act::pop_mpls{0x0800});
  EXPECT_TRUE(get(one, field::ip_ttl) == 3);
  EXPECT_TRUE(checksums_right(one));
  one = from_port_1(ethernet(0x8847) + mpls_entry(5, 1, true, 3) + below6);
  one = after(after(one, act::copy_ttl_in{}), act::pop_mpls{0x86dd});
  EXPECT_TRUE(get(one, field::ip_ttl) == 3);
  one = from_port_1(ethernet(0x8847) + mpls_entry(5, 1, false, 3) + mpls_entry(6, 1, true, 9));
  EXPECT_TRUE(get(after(one, act::copy_ttl_out{}), field::mpls_ttl) == 9);
  one = after(after(one, act::copy_ttl_in{}), act::pop_mpls{0x8847});
  EXPECT_TRUE(get(one, field::mpls_ttl) == 3);
  for (const bytes& nothing :
       {bytes{}, hex("00112233"), bytes(below.begin(), below.begin() + 19)}) {
    one = from_port_1(ethernet(0x8847) + mpls_entry(5, 1, true, 3) + nothing);
    after(one, act::copy_ttl_in{}, rewrite_result::no_header);
    after(one, act::copy_ttl_out{}, rewrite_result::no_header);
  }
  after(from_port_1(ethernet(0x0800) + below), act::copy_ttl_in{}, rewrite_result::no_header);
}

// OpenFlow 1.3.5, section 5.12: what a new tag takes over.
TEST(tags, a_pushed_vlan_tag_is_the_outermost_and_copies_number_and_priority) {
  packet one = from_port_1(ethernet(0x0800) + ipv4(6, tcp(1, 2)));
  const packet untagged = one;
  one = after(one, act::push_vlan{0x8100});
  EXPECT_EQ(one.bytes.size(), untagged.bytes.size() + 4);
  EXPECT_EQ(net::load_be16(&one.bytes[12]), 0x8100);
  EXPECT_EQ(net::load_be16(&one.bytes[14]), 0);
  EXPECT_TRUE(get(one, field::vlan_vid) == vlan_present);
  EXPECT_TRUE(get(one, field::tcp_dst) == 2);
  one.bytes[14] = 0xb0;  // priority 5, drop eligible
  one.bytes[15] = 0x07;
  one = after(one, act::push_vlan{0x88a8});
  EXPECT_EQ(net::load_be16(&one.bytes[12]), 0x88a8);
  EXPECT_EQ(net::load_be16(&one.bytes[14]), 0xa007);
  EXPECT_EQ(net::load_be16(&one.bytes[16]), 0x8100);
  one = after(one, act::set(field::vlan_vid, vlan_present | 9));
  one = after(one, act::pop_vlan{});
  EXPECT_TRUE(get(one, field::vlan_vid) == (vlan_present | 7));
  EXPECT_EQ(after(one, act::pop_vlan{}), untagged);
  after(untagged, act::pop_vlan{}, rewrite_result::no_header);
}

TEST(tags, a_pushed_label_stands_behind_vlan_tags_and_copies_label_class_and_ttl) {
  const packet ip = from_port_1(ethernet(0x8100) + tag(5, 0x0800) + ipv4(6, tcp(1, 2)));
  packet one = after(ip, act::push_mpls{0x8847});
  EXPECT_EQ(bytes(one.bytes.begin() + 12, one.bytes.begin() + 22),
            hex("8100 0005 8847") + mpls_entry(0, 0, true, 64));
  EXPECT_FALSE(parse(one).has(field::ip_proto));
  one = after(one, act::set(field::mpls_label, 1000));
  one = after(one, act::set(field::mpls_tc, 3));
  one = after(one, act::push_mpls{0x8848});
  EXPECT_EQ(bytes(one.bytes.begin() + 16, one.bytes.begin() + 26),
            hex("8848") + mpls_entry(1000, 3, false, 64) + mpls_entry(1000, 3, true, 64));
  one = after(one, act::pop_mpls{0x8847});
  EXPECT_EQ(after(one, act::pop_mpls{0x0800}), ip);
  after(ip, act::pop_mpls{0x0800}, rewrite_result::no_header);
  // What has no TTL gives 0.
  one = after(from_port_1(ethernet(0x0806) + arp()), act::push_mpls{0x8847});
  EXPECT_TRUE(get(one, field::mpls_ttl) == 0);
}

TEST(tags, frames_without_an_ethernet_header_are_left_alone) {
  packet one;
  one.bytes = zeros(13);
  after(one, act::push_vlan{}, rewrite_result::no_header);
  after(one, act::push_mpls{}, rewrite_result::no_header);
  after(one, act::pop_vlan{}, rewrite_result::no_header);
}

}  // namespace
}  // namespace coua::pipeline
