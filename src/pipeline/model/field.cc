// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/field.h"

#include <arpa/inet.h>

#include <array>
#include <cstdio>

#include "net/mac.h"

namespace coua::pipeline {
namespace {

using f = field_format;
using p = prerequisite;

constexpr field_info reg_info(const char* name) {
  return {name, nullptr, nullptr, 32, f::hex, true, true, p::none};
}

}  // namespace

// In the order of `field`. Masks and prerequisites are those of OpenFlow 1.3.5; masks of ports of
// TCP, UDP and SCTP and of nd_target are allowed besides, as ovs-ofctl users expect.
constexpr std::array<field_info, n_fields> field_infos = {{
    {"in_port", nullptr, nullptr, 32, f::decimal, false, false, p::none},
    {"in_phy_port", nullptr, nullptr, 32, f::decimal, false, false, p::in_port},
    {"metadata", nullptr, nullptr, 64, f::hex, true, false, p::none},
    {"tun_id", "tunnel_id", nullptr, 64, f::hex, true, true, p::none},
    reg_info("reg0"),
    reg_info("reg1"),
    reg_info("reg2"),
    reg_info("reg3"),
    reg_info("reg4"),
    reg_info("reg5"),
    reg_info("reg6"),
    reg_info("reg7"),
    reg_info("reg8"),
    reg_info("reg9"),
    reg_info("reg10"),
    reg_info("reg11"),
    reg_info("reg12"),
    reg_info("reg13"),
    reg_info("reg14"),
    reg_info("reg15"),
    {"conj_id", nullptr, nullptr, 32, f::decimal, false, false, p::none},
    {"dl_dst", "eth_dst", nullptr, 48, f::mac, true, true, p::none},
    {"dl_src", "eth_src", nullptr, 48, f::mac, true, true, p::none},
    {"dl_type", "eth_type", nullptr, 16, f::hex, false, false, p::none},
    {"vlan_vid", nullptr, nullptr, 13, f::hex, true, true, p::none},
    {"vlan_pcp", "dl_vlan_pcp", nullptr, 3, f::decimal, false, true, p::vlan},
    {"mpls_label", nullptr, nullptr, 20, f::decimal, false, true, p::mpls},
    {"mpls_tc", nullptr, nullptr, 3, f::decimal, false, true, p::mpls},
    {"mpls_bos", nullptr, nullptr, 1, f::decimal, false, false, p::mpls},
    {"mpls_ttl", nullptr, nullptr, 8, f::decimal, false, true, p::mpls},
    {"ip_dscp", nullptr, nullptr, 6, f::decimal, false, true, p::ip},
    {"nw_ecn", "ip_ecn", nullptr, 2, f::decimal, false, true, p::ip},
    {"nw_proto", "ip_proto", nullptr, 8, f::decimal, false, false, p::ip},
    {"nw_ttl", nullptr, nullptr, 8, f::decimal, false, true, p::ip},
    {"nw_frag", "ip_frag", nullptr, 2, f::frag, true, false, p::ip},
    {"nw_src", "ip_src", "ipv4_src", 32, f::ipv4, true, true, p::ipv4},
    {"nw_dst", "ip_dst", "ipv4_dst", 32, f::ipv4, true, true, p::ipv4},
    {"ipv6_src", nullptr, nullptr, 128, f::ipv6, true, true, p::ipv6},
    {"ipv6_dst", nullptr, nullptr, 128, f::ipv6, true, true, p::ipv6},
    {"ipv6_label", "ipv6_flabel", nullptr, 20, f::hex, true, true, p::ipv6},
    {"ipv6_exthdr", nullptr, nullptr, 9, f::hex, true, false, p::ipv6},
    {"arp_op", nullptr, nullptr, 16, f::decimal, false, true, p::arp},
    {"arp_spa", nullptr, nullptr, 32, f::ipv4, true, true, p::arp},
    {"arp_tpa", nullptr, nullptr, 32, f::ipv4, true, true, p::arp},
    {"arp_sha", nullptr, nullptr, 48, f::mac, true, true, p::arp},
    {"arp_tha", nullptr, nullptr, 48, f::mac, true, true, p::arp},
    {"tcp_src", nullptr, nullptr, 16, f::decimal, true, true, p::tcp},
    {"tcp_dst", nullptr, nullptr, 16, f::decimal, true, true, p::tcp},
    {"tcp_flags", nullptr, nullptr, 12, f::hex, true, false, p::tcp},
    {"udp_src", nullptr, nullptr, 16, f::decimal, true, true, p::udp},
    {"udp_dst", nullptr, nullptr, 16, f::decimal, true, true, p::udp},
    {"sctp_src", nullptr, nullptr, 16, f::decimal, true, true, p::sctp},
    {"sctp_dst", nullptr, nullptr, 16, f::decimal, true, true, p::sctp},
    {"icmp_type", "icmpv4_type", nullptr, 8, f::decimal, false, true, p::icmpv4},
    {"icmp_code", "icmpv4_code", nullptr, 8, f::decimal, false, true, p::icmpv4},
    {"icmpv6_type", nullptr, nullptr, 8, f::decimal, false, true, p::icmpv6},
    {"icmpv6_code", nullptr, nullptr, 8, f::decimal, false, true, p::icmpv6},
    {"nd_target", "ipv6_nd_target", nullptr, 128, f::ipv6, true, true, p::nd},
    {"nd_sll", "ipv6_nd_sll", nullptr, 48, f::mac, false, true, p::nd_sol},
    {"nd_tll", "ipv6_nd_tll", nullptr, 48, f::mac, false, true, p::nd_adv},
}};

constexpr std::array<value128, n_fields> full_masks = [] {
  std::array<value128, n_fields> made{};
  for (std::size_t i = 0; i < n_fields; ++i) made[i] = ones(field_infos[i].n_bits);
  return made;
}();

namespace {

std::string format_number(value128 value, const char* format) {
  char text[24];
  std::snprintf(text, sizeof text, format, static_cast<unsigned long long>(value));
  return text;
}

std::string format_ipv6(value128 value) {
  in6_addr address;
  for (int i = 0; i < 16; ++i) {
    address.s6_addr[i] = static_cast<std::uint8_t>(value >> (120 - 8 * i));
  }
  char text[INET6_ADDRSTRLEN];
  return inet_ntop(AF_INET6, &address, text, sizeof text) != nullptr ? text : "?";
}

std::string format_ipv4(value128 value) {
  const auto word = static_cast<std::uint32_t>(value);
  char text[16];
  std::snprintf(text, sizeof text, "%u.%u.%u.%u", word >> 24, word >> 16 & 255, word >> 8 & 255,
                word & 255);
  return text;
}

std::string format_frag(value128 value, value128 mask) {
  const bool any = (value & frag_any) != 0;
  const bool later = (value & frag_later) != 0;
  if (mask == (frag_any | frag_later)) return later ? "later" : any ? "first" : "no";
  if (mask == frag_any) return any ? "yes" : "no";
  return later ? "later" : "not_later";
}

std::string format_one(field which, value128 value) {
  switch (info(which).format) {
    case f::decimal: return format_number(value, "%llu");
    case f::mac: return net::format_mac(static_cast<std::uint64_t>(value));
    case f::ipv4: return format_ipv4(value);
    case f::ipv6: return format_ipv6(value);
    default: return format_number(value, "0x%llx");
  }
}

}  // namespace

const char* to_string(prerequisite needed) {
  switch (needed) {
    case p::none: return "nothing";
    case p::in_port: return "in_port";
    case p::vlan: return "a VLAN tag";
    case p::mpls: return "MPLS";
    case p::ip: return "IPv4 or IPv6";
    case p::ipv4: return "IPv4";
    case p::ipv6: return "IPv6";
    case p::arp: return "ARP";
    case p::tcp: return "TCP";
    case p::udp: return "UDP";
    case p::sctp: return "SCTP";
    case p::icmpv4: return "ICMP";
    case p::icmpv6: return "ICMPv6";
    case p::nd: return "a neighbour solicitation or advertisement";
    case p::nd_sol: return "a neighbour solicitation";
    case p::nd_adv: return "a neighbour advertisement";
  }
  return "?";
}

std::optional<field> find_field(std::string_view name) {
  for (std::size_t i = 0; i < n_fields; ++i) {
    for (const char* known : {field_infos[i].name, field_infos[i].other, field_infos[i].oxm_name}) {
      if (known != nullptr && name == known) return static_cast<field>(i);
    }
  }
  return std::nullopt;
}

bool is_within(const field_bits& part) {
  return part.n_bits != 0 && part.first + part.n_bits <= info(part.which).n_bits;
}

std::string to_string(const field_bits& part) {
  std::string text = std::string(info(part.which).name) + "[";
  if (part.first != 0 || part.n_bits != info(part.which).n_bits) {
    text += std::to_string(part.first);
    if (part.n_bits != 1) text += ".." + std::to_string(part.first + part.n_bits - 1);
  }
  return text + "]";
}

std::string format_value(field which, value128 value, value128 mask) {
  if (info(which).format == f::frag) return format_frag(value, mask);
  std::string text = format_one(which, value);
  if (mask == full_mask(which)) return text;
  // A mask of numbers reads better in hexadecimal.
  const bool number = info(which).format == f::decimal;
  if (number) text = format_number(value, "0x%llx");
  return text + "/" + (number ? format_number(mask, "0x%llx") : format_one(which, mask));
}

}  // namespace coua::pipeline
