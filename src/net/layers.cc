// SPDX-License-Identifier: Apache-2.0
#include "net/layers.h"

#include "net/ip_protocol.h"
#include "net/ipv6_extensions.h"
#include "net/wire.h"

namespace coua::net {
namespace {

/// The tags from offset 12 on. False: one of them is cut off.
bool parse_tags(const packet& p, layers& l, std::uint16_t& type) noexcept {
  for (unsigned n = 0; n < max_vlan_tags && is_vlan_type(type); ++n) {
    if (p.contiguous - l.network < vlan_tag_bytes) return false;
    if (n == 0) {
      l.vlan_tci = load_be16(p.bytes + l.network) | tci_present;
      l.present |= layer::vlan;
    }
    if (n == 1) l.present |= layer::second_vlan;
    type = load_be16(p.bytes + l.network + 2);
    l.network += vlan_tag_bytes;
  }
  return true;
}

void parse_arp(const packet& p, layers& l) noexcept {
  if (p.contiguous - l.network < wire::arp::header_bytes) return;
  if (load_be64(p.bytes + l.network) >> 16 != wire::arp::ethernet_ipv4) return;
  l.present |= layer::arp;
}

bool parse_ipv4(const packet& p, layers& l) noexcept {
  const std::uint8_t* header = p.bytes + l.network;
  if (!is_ipv4_header(header, p.contiguous - l.network)) return false;
  l.present |= layer::ipv4 | layer::ip_proto;
  l.ip_end = l.network + load_be16(header + wire::ipv4::total_length);
  l.ip_proto = header[wire::ipv4::protocol];
  const std::uint16_t word = load_be16(header + wire::ipv4::fragment);
  if ((word & (wire::ipv4::more_fragments | wire::ipv4::offset_mask)) != 0) [[unlikely]] {
    l.present |= layer::fragment;
    if ((word & wire::ipv4::offset_mask) != 0) {
      l.present |= layer::later_fragment;
      return false;
    }
  }
  l.transport = static_cast<std::uint16_t>(l.network + (header[0] & 0xfU) * 4);
  return true;
}

bool parse_ipv6(const packet& p, layers& l) noexcept {
  const std::uint8_t* header = p.bytes + l.network;
  if (!is_ipv6_header(header, p.contiguous - l.network)) return false;
  l.present |= layer::ipv6;
  l.ip_end = l.network + static_cast<std::uint32_t>(wire::ipv6::header_bytes) +
             load_be16(header + wire::ipv6::payload_length);
  const ipv6_chain chain =
      follow_ipv6_extensions(p.bytes, l.network + wire::ipv6::header_bytes, transport_limit(p, l),
                             header[wire::ipv6::next_header]);
  if (!chain.known) return false;
  l.present |= layer::ip_proto;
  l.ip_proto = chain.next;
  l.ipv6_exthdr = chain.seen;
  if (chain.fragment) l.present |= layer::fragment;
  if (chain.later_fragment) l.present |= layer::later_fragment;
  if (chain.routed) l.present |= layer::routed;
  l.transport = static_cast<std::uint16_t>(chain.offset);
  return chain.offset != 0;
}

void parse_transport(const packet& p, layers& l) noexcept {
  const std::size_t there = transport_limit(p, l) - l.transport;
  switch (l.ip_proto) {
    case ip_proto_tcp:
      if (there >= wire::tcp::header_bytes) l.present |= layer::tcp;
      return;
    case ip_proto_udp:
      if (there >= wire::udp::header_bytes) l.present |= layer::udp;
      return;
    case ip_proto_sctp:
      if (there >= wire::sctp::header_bytes) l.present |= layer::sctp;
      return;
    case ip_proto_icmp:
      if (there >= wire::icmp::header_bytes && l.has(layer::ipv4)) l.present |= layer::icmpv4;
      return;
    case ip_proto_icmpv6:
      if (there < wire::icmp::header_bytes_v6 || !l.has(layer::ipv6)) return;
      l.present |= layer::icmpv6;
      parse_nd(p, l);
      return;
    default: return;
  }
}

template <parse_depth Depth>
inline layers parse_one(const packet& p) noexcept {
  layers l;
  if (p.contiguous < ethernet_header_bytes) [[unlikely]]
    return l;
  l.present = layer::ethernet;
  l.network = ethernet_header_bytes;
  std::uint16_t type = load_be16(p.bytes + ethertype_offset);
  if (is_vlan_type(type) && !parse_tags(p, l, type)) return l;
  l.present |= layer::eth_type;
  l.eth_type = type < ethertype_min ? eth_type_none : type;
  if constexpr (Depth == parse_depth::link) return l;

  bool more = false;
  switch (type) {
    case ethertype_ipv4: more = parse_ipv4(p, l); break;
    case ethertype_ipv6: more = parse_ipv6(p, l); break;
    case ethertype_arp: parse_arp(p, l); break;
    case ethertype_mpls:
    case ethertype_mpls_multicast:
      if (p.contiguous - l.network >= wire::mpls::entry_bytes) l.present |= layer::mpls;
      break;
    default: break;
  }
  if constexpr (Depth == parse_depth::transport) {
    if (more) parse_transport(p, l);
  }
  return l;
}

template <parse_depth Depth>
void parse_all(const packet* packets, layers* out, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) out[i] = parse_one<Depth>(packets[i]);
}

}  // namespace

layers parse(const packet& p, parse_depth depth) noexcept {
  layers l;
  parse_burst(&p, &l, 1, depth);
  return l;
}

void parse_burst(const packet* packets, layers* out, std::size_t n, parse_depth depth) noexcept {
  switch (depth) {
    case parse_depth::link: return parse_all<parse_depth::link>(packets, out, n);
    case parse_depth::network: return parse_all<parse_depth::network>(packets, out, n);
    case parse_depth::transport: return parse_all<parse_depth::transport>(packets, out, n);
  }
}

void parse_nd(const packet& p, layers& l) noexcept {
  l.present &= ~(layer::nd_sol | layer::nd_adv | layer::nd_sll | layer::nd_tll);
  l.nd_option = 0;
  const std::size_t limit = transport_limit(p, l);
  const std::uint8_t type = p.bytes[l.transport + wire::icmp::type];
  const bool solicitation = type == icmpv6_neighbour_solicitation;
  if (!solicitation && type != icmpv6_neighbour_advertisement) return;
  if (limit - l.transport < wire::nd::header_bytes) return;
  l.present |= solicitation ? layer::nd_sol : layer::nd_adv;

  constexpr std::size_t wanted_bytes = 8;
  const std::uint8_t wanted =
      solicitation ? nd_option_source_link_layer : nd_option_target_link_layer;
  std::size_t at = l.transport + wire::nd::header_bytes;
  while (limit - at >= wanted_bytes) {
    const std::size_t option_bytes = std::size_t{p.bytes[at + 1]} * 8;
    if (option_bytes == 0 || option_bytes > limit - at) return;
    if (p.bytes[at] == wanted && option_bytes == wanted_bytes) {
      l.nd_option = static_cast<std::uint16_t>(at);
      l.present |= solicitation ? layer::nd_sll : layer::nd_tll;
      return;
    }
    at += option_bytes;
  }
}

}  // namespace coua::net
