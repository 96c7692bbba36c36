// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/field.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace coua::pipeline {
namespace {

TEST(field, every_name_leads_to_its_field) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < n_fields; ++i) {
    const auto which = static_cast<field>(i);
    for (const char* name : {info(which).name, info(which).other, info(which).oxm_name}) {
      if (name == nullptr) continue;
      EXPECT_TRUE(names.insert(name).second) << name;
      EXPECT_EQ(find_field(name), which) << name;
    }
  }
  EXPECT_EQ(find_field("nothing"), std::nullopt);
}

// OpenFlow 1.3.5, table 13, and ovs-fields(7) for the others.
TEST(field, widths_are_those_of_the_specification) {
  const auto bits = [](const char* name) { return int{info(*find_field(name)).n_bits}; };
  EXPECT_EQ(bits("in_port"), 32);
  EXPECT_EQ(bits("metadata"), 64);
  EXPECT_EQ(bits("eth_dst"), 48);
  EXPECT_EQ(bits("eth_type"), 16);
  EXPECT_EQ(bits("vlan_vid"), 13);
  EXPECT_EQ(bits("vlan_pcp"), 3);
  EXPECT_EQ(bits("ip_dscp"), 6);
  EXPECT_EQ(bits("ip_ecn"), 2);
  EXPECT_EQ(bits("ip_proto"), 8);
  EXPECT_EQ(bits("ipv4_src"), 32);
  EXPECT_EQ(bits("tcp_dst"), 16);
  EXPECT_EQ(bits("icmpv4_code"), 8);
  EXPECT_EQ(bits("arp_op"), 16);
  EXPECT_EQ(bits("arp_tha"), 48);
  EXPECT_EQ(bits("ipv6_dst"), 128);
  EXPECT_EQ(bits("ipv6_flabel"), 20);
  EXPECT_EQ(bits("mpls_label"), 20);
  EXPECT_EQ(bits("mpls_tc"), 3);
  EXPECT_EQ(bits("mpls_bos"), 1);
  EXPECT_EQ(bits("tunnel_id"), 64);
  EXPECT_EQ(bits("ipv6_exthdr"), 9);
  EXPECT_EQ(bits("tcp_flags"), 12);
  EXPECT_EQ(bits("reg15"), 32);
}

TEST(field, the_specification_says_which_take_masks) {
  for (const char* name :
       {"metadata", "eth_dst", "eth_src", "vlan_vid", "ipv4_src", "ipv4_dst", "arp_spa", "arp_tpa",
        "arp_sha", "arp_tha", "ipv6_src", "ipv6_dst", "ipv6_flabel", "tunnel_id", "ipv6_exthdr"}) {
    EXPECT_TRUE(info(*find_field(name)).maskable) << name;
  }
  for (const char* name : {"in_port", "in_phy_port", "eth_type", "vlan_pcp", "ip_dscp", "ip_ecn",
                           "ip_proto", "icmpv4_type", "icmpv6_code", "arp_op", "mpls_label",
                           "mpls_tc", "mpls_bos", "ipv6_nd_sll", "ipv6_nd_tll"}) {
    EXPECT_FALSE(info(*find_field(name)).maskable) << name;
  }
}

TEST(field, what_says_what_a_packet_is_cannot_be_written) {
  for (const char* name : {"in_port", "in_phy_port", "metadata", "eth_type", "ip_proto", "ip_frag",
                           "mpls_bos", "ipv6_exthdr", "tcp_flags"}) {
    EXPECT_FALSE(info(*find_field(name)).writable) << name;
  }
}

TEST(field, values_are_written_as_ovs_ofctl_reads_them) {
  const auto whole = [](field which, value128 value) {
    return format_value(which, value, full_mask(which));
  };
  EXPECT_EQ(whole(field::ipv4_src, 0x0a000001), "10.0.0.1");
  EXPECT_EQ(format_value(field::ipv4_src, 0x0a000000, 0xff000000), "10.0.0.0/255.0.0.0");
  EXPECT_EQ(whole(field::eth_dst, 0x0200'0000'00ff), "02:00:00:00:00:ff");
  EXPECT_EQ(whole(field::ipv6_dst, value128{0x2001'0db8} << 96 | 1), "2001:db8::1");
  EXPECT_EQ(whole(field::tcp_dst, 80), "80");
  EXPECT_EQ(format_value(field::tcp_dst, 0x50, 0xfff0), "0x50/0xfff0");
  EXPECT_EQ(whole(field::ip_frag, 0), "no");
  EXPECT_EQ(format_value(field::ip_frag, 1, 1), "yes");
  EXPECT_EQ(whole(field::ip_frag, 1), "first");
  EXPECT_EQ(whole(field::ip_frag, 3), "later");
  EXPECT_EQ(format_value(field::ip_frag, 0, 2), "not_later");
}

}  // namespace
}  // namespace coua::pipeline
