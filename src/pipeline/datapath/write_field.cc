// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/write_field.h"

#include "net/rewrite_arp.h"
#include "net/rewrite_ip.h"
#include "net/rewrite_link.h"
#include "net/rewrite_mpls.h"
#include "net/rewrite_transport.h"
#include "pipeline/datapath/field_place.h"
#include "pipeline/semantics/dscp_remark.h"

namespace coua::pipeline {

namespace layer = net::layer;
using net::port_side;
using net::rewrite_result;

net::rewrite_result write_field(packet_state& to, field which, value128 value,
                                value128 mask) noexcept {
  net::packet& p = to.buffer;
  net::layers& l = to.layers;
  if (mask != full_mask(which) && !info(which).maskable) {
    // It can only be written as a whole.
    const std::optional<value128> before = read_field(to, which);
    if (!before) return rewrite_result::no_header;
    value |= *before & ~mask;
    mask = full_mask(which);
  }
  const auto u64 = static_cast<std::uint64_t>(value);
  const auto mask64 = static_cast<std::uint64_t>(mask);
  const auto u32 = static_cast<std::uint32_t>(value);
  const auto mask32 = static_cast<std::uint32_t>(mask);
  const auto u16 = static_cast<std::uint16_t>(value);
  const auto mask16 = static_cast<std::uint16_t>(mask);
  const auto u8 = static_cast<std::uint8_t>(value);
  if (is_reg(which)) {
    std::uint32_t& word = to.reg[index_of(which) - index_of(field::reg0)];
    word = net::merge(word, u32, mask32);
    return rewrite_result::done;
  }
  switch (which) {
    case field::metadata:
      to.metadata = net::merge(to.metadata, u64, mask64);
      return rewrite_result::done;
    case field::tunnel_id:
      to.tunnel_id = net::merge(to.tunnel_id, u64, mask64);
      return rewrite_result::done;
    case field::eth_dst: return set_eth_dst(p, l, u64, mask64);
    case field::eth_src: return set_eth_src(p, l, u64, mask64);
    case field::vlan_vid: return set_vlan_vid(p, l, u16, mask16);
    case field::vlan_pcp: return set_vlan_pcp(p, l, u8);
    case field::mpls_label: return set_mpls_label(p, l, u32);
    case field::mpls_tc: return set_mpls_tc(p, l, u8);
    case field::mpls_ttl: return set_mpls_ttl(p, l, u8);
    case field::ip_dscp: return set_ip_dscp(p, l, u8);
    case field::ip_ecn: return set_ip_ecn(p, l, u8);
    case field::ip_ttl: return set_ip_ttl(p, l, u8);
    case field::ipv4_src: return set_ipv4_src(p, l, u32, mask32);
    case field::ipv4_dst: return set_ipv4_dst(p, l, u32, mask32);
    case field::ipv6_src: return set_ipv6_src(p, l, value, mask);
    case field::ipv6_dst: return set_ipv6_dst(p, l, value, mask);
    case field::ipv6_flabel: return set_ipv6_flabel(p, l, u32, mask32);
    case field::arp_op: return set_arp_op(p, l, u16);
    case field::arp_spa: return set_arp_spa(p, l, u32, mask32);
    case field::arp_tpa: return set_arp_tpa(p, l, u32, mask32);
    case field::arp_sha: return set_arp_sha(p, l, u64, mask64);
    case field::arp_tha: return set_arp_tha(p, l, u64, mask64);
    case field::tcp_src: return set_port(p, l, layer::tcp, port_side::source, u16, mask16);
    case field::tcp_dst: return set_port(p, l, layer::tcp, port_side::destination, u16, mask16);
    case field::udp_src: return set_port(p, l, layer::udp, port_side::source, u16, mask16);
    case field::udp_dst: return set_port(p, l, layer::udp, port_side::destination, u16, mask16);
    case field::sctp_src: return set_port(p, l, layer::sctp, port_side::source, u16, mask16);
    case field::sctp_dst: return set_port(p, l, layer::sctp, port_side::destination, u16, mask16);
    case field::icmpv4_type: return set_icmp_type(p, l, layer::icmpv4, u8);
    case field::icmpv4_code: return set_icmp_code(p, l, layer::icmpv4, u8);
    case field::icmpv6_type: return set_icmp_type(p, l, layer::icmpv6, u8);
    case field::icmpv6_code: return set_icmp_code(p, l, layer::icmpv6, u8);
    case field::nd_target: return set_nd_target(p, l, value, mask);
    case field::nd_sll: return set_nd_sll(p, l, u64);
    case field::nd_tll: return set_nd_tll(p, l, u64);
    default: return rewrite_result::no_header;  // the model refuses others
  }
}

net::rewrite_result move_bits(packet_state& in, const field_bits& from, field to,
                              unsigned first) noexcept {
  const std::optional<value128> there = read_field(in, from.which);
  if (!there) return rewrite_result::no_header;
  const value128 mask = ones(from.n_bits) << first;
  return write_field(in, to, *there >> from.first << first & mask, mask);
}

void remark(packet_state& to, std::uint8_t steps) noexcept {
  const std::optional<value128> dscp = read_field(to, field::ip_dscp);
  if (!dscp || !is_assured_forwarding(static_cast<std::uint8_t>(*dscp))) return;
  net::set_ip_dscp(to.buffer, to.layers, remark_dscp(static_cast<std::uint8_t>(*dscp), steps));
}

}  // namespace coua::pipeline
