// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/match.h"

#include <gtest/gtest.h>

#include "pipeline/model/test_model.h"

namespace coua::pipeline {
namespace {

using test::ipv4;
using test::ipv6;
using test::tagged;
using test::where;

of_error error_of(std::vector<match_term> terms) {
  const of_result<match> made = match::make(std::move(terms));
  COUA_CHECK(!made.has_value());
  return made.error().code;
}
bool taken(std::vector<match_term> terms) { return match::make(std::move(terms)).has_value(); }

TEST(match, refuses_values_and_masks_wider_than_the_field) {
  EXPECT_EQ(error_of({exact(field::eth_dst, value128{1} << 48)}), of_error::bad_match_value);
  EXPECT_EQ(error_of({{field::eth_dst, 0, value128{1} << 48}}), of_error::bad_match_mask);
  EXPECT_TRUE(taken({exact(field::eth_dst, ones(48))}));
}

TEST(match, refuses_value_bits_outside_the_mask) {
  EXPECT_EQ(error_of({ipv4(), {field::ipv4_dst, 0x0a000001, 0xffffff00}}),
            of_error::bad_match_wildcards);
  EXPECT_TRUE(taken({ipv4(), {field::ipv4_dst, 0x0a000000, 0xffffff00}}));
}

TEST(match, refuses_masks_on_fields_that_take_none) {
  EXPECT_EQ(error_of({{field::eth_type, 0x0800, 0xff00}}), of_error::bad_match_mask);
  EXPECT_EQ(error_of({{field::in_port, 0, 1}}), of_error::bad_match_mask);
}

TEST(match, refuses_a_field_given_twice) {
  EXPECT_EQ(error_of({exact(field::eth_dst, 1), exact(field::eth_dst, 1)}),
            of_error::bad_match_dup_field);
}

TEST(match, refuses_a_vlan_number_without_the_present_bit) {
  EXPECT_EQ(error_of({exact(field::vlan_vid, 5)}), of_error::bad_match_value);
  EXPECT_TRUE(taken({exact(field::vlan_vid, vlan_present | 5)}));
  EXPECT_TRUE(taken({exact(field::vlan_vid, 0)}));
}

TEST(match, asks_for_the_prerequisites_of_each_field) {
  const auto proto = [](unsigned n) { return exact(field::ip_proto, n); };
  const struct {
    match_term term;
    std::vector<match_term> needed;
  } cases[] = {
      {exact(field::in_phy_port, 1), {exact(field::in_port, 1)}},
      {exact(field::vlan_pcp, 1), {tagged()}},
      {exact(field::ip_dscp, 1), {ipv4()}},
      {exact(field::ip_ecn, 1), {ipv6()}},
      {exact(field::ip_proto, 1), {ipv6()}},
      {exact(field::ip_ttl, 1), {ipv4()}},
      {exact(field::ip_frag, 1), {ipv6()}},
      {exact(field::ipv4_src, 1), {ipv4()}},
      {exact(field::ipv4_dst, 1), {ipv4()}},
      {exact(field::ipv6_src, 1), {ipv6()}},
      {exact(field::ipv6_dst, 1), {ipv6()}},
      {exact(field::ipv6_flabel, 1), {ipv6()}},
      {exact(field::ipv6_exthdr, 1), {ipv6()}},
      {exact(field::tcp_src, 1), {ipv4(), proto(6)}},
      {exact(field::tcp_dst, 1), {ipv6(), proto(6)}},
      {exact(field::tcp_flags, 1), {ipv4(), proto(6)}},
      {exact(field::udp_src, 1), {ipv4(), proto(17)}},
      {exact(field::udp_dst, 1), {ipv6(), proto(17)}},
      {exact(field::sctp_src, 1), {ipv4(), proto(132)}},
      {exact(field::sctp_dst, 1), {ipv6(), proto(132)}},
      {exact(field::icmpv4_type, 1), {ipv4(), proto(1)}},
      {exact(field::icmpv4_code, 1), {ipv4(), proto(1)}},
      {exact(field::icmpv6_type, 1), {ipv6(), proto(58)}},
      {exact(field::icmpv6_code, 1), {ipv6(), proto(58)}},
      {exact(field::nd_target, 1), {ipv6(), proto(58), exact(field::icmpv6_type, 136)}},
      {exact(field::nd_sll, 1), {ipv6(), proto(58), exact(field::icmpv6_type, 135)}},
      {exact(field::nd_tll, 1), {ipv6(), proto(58), exact(field::icmpv6_type, 136)}},
      {exact(field::arp_op, 1), {exact(field::eth_type, 0x0806)}},
      {exact(field::arp_spa, 1), {exact(field::eth_type, 0x0806)}},
      {exact(field::arp_tpa, 1), {exact(field::eth_type, 0x0806)}},
      {exact(field::arp_sha, 1), {exact(field::eth_type, 0x0806)}},
      {exact(field::arp_tha, 1), {exact(field::eth_type, 0x0806)}},
      {exact(field::mpls_label, 1), {exact(field::eth_type, 0x8847)}},
      {exact(field::mpls_tc, 1), {exact(field::eth_type, 0x8848)}},
      {exact(field::mpls_bos, 1), {exact(field::eth_type, 0x8847)}},
      {exact(field::mpls_ttl, 1), {exact(field::eth_type, 0x8847)}},
  };
  for (const auto& one : cases) {
    std::vector<match_term> terms = one.needed;
    terms.push_back(one.term);
    EXPECT_TRUE(taken(terms)) << info(one.term.which).name;
    for (std::size_t leave = 0; leave < one.needed.size(); ++leave) {
      std::vector<match_term> fewer = terms;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(leave));
      EXPECT_EQ(error_of(fewer), of_error::bad_match_prereq) << info(one.term.which).name;
    }
  }
}

TEST(match, wrong_prerequisites_do_not_do) {
  EXPECT_EQ(error_of({ipv6(), exact(field::ipv4_src, 1)}), of_error::bad_match_prereq);
  EXPECT_EQ(error_of({exact(field::vlan_vid, 0), exact(field::vlan_pcp, 1)}),
            of_error::bad_match_prereq);
  EXPECT_EQ(error_of({ipv6(), exact(field::ip_proto, 58), exact(field::icmpv6_type, 135),
                      exact(field::nd_tll, 1)}),
            of_error::bad_match_prereq);
}

TEST(match, order_and_empty_masks_make_no_difference) {
  const match one = where({ipv4(), {field::ipv4_dst, 0x0a000000, 0xff000000}});
  const match same =
      where({{field::ipv4_dst, 0x0a000000, 0xff000000}, {field::eth_src, 0, 0}, ipv4()});
  EXPECT_EQ(one, same);
  EXPECT_EQ(one.hash(), same.hash());
  EXPECT_NE(one, where({ipv4(), {field::ipv4_dst, 0x0a000000, 0xffff0000}}));
  EXPECT_TRUE(where({{field::eth_src, 0, 0}}).is_any());
}

TEST(match, hash_is_the_sum_of_its_terms) {
  const match_term dst{field::ipv4_dst, 0x0a000000, 0xff000000};
  EXPECT_EQ(where({ipv4(), dst}).hash(), where({ipv4()}).hash() + hash_of(dst));
  EXPECT_NE(where({ipv4(), dst}).hash(), where({ipv4()}).hash());
  EXPECT_EQ(match().hash(), where({}).hash());
}

TEST(match, holds_when_every_term_does_and_never_for_an_absent_field) {
  field_values packet;
  packet.set(field::eth_type, 0x0800);
  packet.set(field::ipv4_dst, 0x0a010203);
  const match prefix = where({ipv4(), {field::ipv4_dst, 0x0a000000, 0xff000000}});
  EXPECT_TRUE(prefix.matches(packet));
  EXPECT_TRUE(match().matches(packet));
  packet.set(field::ipv4_dst, 0x0b010203);
  EXPECT_FALSE(prefix.matches(packet));
  const match no_ports = where({ipv4(), exact(field::ip_proto, 6), exact(field::tcp_dst, 0)});
  packet.set(field::ip_proto, 6);
  EXPECT_FALSE(no_ports.matches(packet));  // its value would be 0, but it is not there
  packet.set(field::tcp_dst, 0);
  EXPECT_TRUE(no_ports.matches(packet));
}

TEST(match, covers_what_is_equal_or_narrower) {
  const match wide = where({ipv4(), {field::ipv4_dst, 0x0a000000, 0xff000000}});
  const match narrow = where({ipv4(), {field::ipv4_dst, 0x0a010000, 0xffff0000}});
  const match beside = where({ipv4(), {field::ipv4_dst, 0x0b010000, 0xffff0000}});
  EXPECT_TRUE(wide.covers(wide));
  EXPECT_TRUE(wide.covers(narrow));
  EXPECT_FALSE(narrow.covers(wide));
  EXPECT_FALSE(wide.covers(beside));
  EXPECT_TRUE(match().covers(wide));
  EXPECT_FALSE(wide.covers(match()));
}

TEST(match, overlaps_what_some_packet_matches_too) {
  const match a = where({ipv4(), {field::ipv4_dst, 0x0a000000, 0xff000000}});
  const match b = where({exact(field::eth_dst, 5)});
  const match c = where({ipv4(), exact(field::ipv4_dst, 0x0b000001)});
  EXPECT_TRUE(a.overlaps(b));
  EXPECT_TRUE(b.overlaps(c));
  EXPECT_FALSE(a.overlaps(c));
  EXPECT_FALSE(where({ipv6()}).overlaps(a));
  EXPECT_TRUE(match().overlaps(a));
}

TEST(match, reads_like_ovs_ofctl) {
  EXPECT_EQ(where({ipv4(), {field::ipv4_dst, 0x0a000000, 0xff000000}}).to_string(),
            "dl_type=0x800,nw_dst=10.0.0.0/255.0.0.0");
  EXPECT_EQ(match().to_string(), "any");
}

}  // namespace
}  // namespace coua::pipeline
