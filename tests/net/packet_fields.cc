// SPDX-License-Identifier: Apache-2.0
#include "packet_fields.h"

#include "net/headers.h"
#include "net/wire.h"

namespace coua::test {
namespace {

namespace layer = net::layer;
using f = pipeline::field;

void add_link(pipeline::field_values& out, const net::packet& p, const net::layers& l) {
  if (!l.has(layer::ethernet)) return;
  out.set(f::eth_dst, net::load_mac(p.bytes));
  out.set(f::eth_src, net::load_mac(p.bytes + 6));
  if (l.has(layer::eth_type)) out.set(f::eth_type, l.eth_type);
  if (l.has_any(layer::eth_type | layer::vlan)) out.set(f::vlan_vid, l.vlan_tci & 0x1fff);
  if (l.has(layer::vlan)) out.set(f::vlan_pcp, l.vlan_tci >> 13);
}

void add_network(pipeline::field_values& out, const net::packet& p, const net::layers& l) {
  const std::uint8_t* at = p.bytes + l.network;
  if (l.has(layer::mpls)) {
    const std::uint32_t entry = net::load_be32(at);
    out.set(f::mpls_label, entry >> 12);
    out.set(f::mpls_tc, entry >> 9 & 7);
    out.set(f::mpls_bos, entry >> 8 & 1);
    out.set(f::mpls_ttl, entry & 255);
  }
  if (l.has(layer::arp)) {
    out.set(f::arp_op, net::load_be16(at + net::wire::arp::op));
    out.set(f::arp_sha, net::load_mac(at + net::wire::arp::sender_mac));
    out.set(f::arp_spa, net::load_be32(at + net::wire::arp::sender_ip));
    out.set(f::arp_tha, net::load_mac(at + net::wire::arp::target_mac));
    out.set(f::arp_tpa, net::load_be32(at + net::wire::arp::target_ip));
  }
  if (l.has(layer::ipv4)) {
    out.set(f::ip_dscp, at[net::wire::ipv4::tos] >> 2);
    out.set(f::ip_ecn, at[net::wire::ipv4::tos] & 3);
    out.set(f::ip_ttl, at[net::wire::ipv4::ttl]);
    out.set(f::ipv4_src, net::load_be32(at + net::wire::ipv4::source));
    out.set(f::ipv4_dst, net::load_be32(at + net::wire::ipv4::destination));
  }
  if (l.has(layer::ipv6)) {
    const std::uint32_t word = net::load_be32(at);
    out.set(f::ip_dscp, word >> 22 & 63);
    out.set(f::ip_ecn, word >> 20 & 3);
    out.set(f::ipv6_flabel, word & 0xf'ffff);
    out.set(f::ip_ttl, at[net::wire::ipv6::hop_limit]);
    out.set(f::ipv6_src, net::load_be128(at + net::wire::ipv6::source));
    out.set(f::ipv6_dst, net::load_be128(at + net::wire::ipv6::destination));
  }
  if (l.has(layer::ip_proto)) {
    out.set(f::ip_proto, l.ip_proto);
    out.set(f::ip_frag, (l.has(layer::fragment) ? pipeline::frag_any : 0U) |
                            (l.has(layer::later_fragment) ? pipeline::frag_later : 0U));
    if (l.has(layer::ipv6)) out.set(f::ipv6_exthdr, l.ipv6_exthdr);
  }
}

void add_transport(pipeline::field_values& out, const net::packet& p, const net::layers& l) {
  const std::uint8_t* at = p.bytes + l.transport;
  const auto ports = [&](f source, f destination) {
    out.set(source, net::load_be16(at));
    out.set(destination, net::load_be16(at + 2));
  };
  if (l.has(layer::tcp)) {
    ports(f::tcp_src, f::tcp_dst);
    out.set(f::tcp_flags, net::load_be16(at + 12) & 0xfff);
  }
  if (l.has(layer::udp)) ports(f::udp_src, f::udp_dst);
  if (l.has(layer::sctp)) ports(f::sctp_src, f::sctp_dst);
  if (l.has(layer::icmpv4)) {
    out.set(f::icmpv4_type, at[net::wire::icmp::type]);
    out.set(f::icmpv4_code, at[net::wire::icmp::code]);
  }
  if (l.has(layer::icmpv6)) {
    out.set(f::icmpv6_type, at[net::wire::icmp::type]);
    out.set(f::icmpv6_code, at[net::wire::icmp::code]);
  }
  if (l.has_any(layer::nd_sol | layer::nd_adv)) {
    out.set(f::nd_target, net::load_be128(at + net::wire::nd::target));
  }
  const std::uint8_t* option = p.bytes + l.nd_option + net::wire::nd::option_address;
  if (l.has(layer::nd_sll)) out.set(f::nd_sll, net::load_mac(option));
  if (l.has(layer::nd_tll)) out.set(f::nd_tll, net::load_mac(option));
}

}  // namespace

pipeline::field_values fields_of(const net::packet& p, const net::layers& l) {
  pipeline::field_values out;
  add_link(out, p, l);
  add_network(out, p, l);
  add_transport(out, p, l);
  return out;
}

}  // namespace coua::test
