// SPDX-License-Identifier: Apache-2.0
//
// A parser for the frames that nearly all are: untagged or with one tag, IPv4 without options and
// not in fragments, TCP or UDP. It keeps what it finds in registers and stores it once. What is
// anything else it leaves to parse(), which does all that layers.h says; of the others it says the
// same.
#pragma once

#include <algorithm>

#include "net/ip_protocol.h"
#include "net/layers.h"

namespace coua::net {

/// False: the frame is another one, and `out` is as it was.
template <parse_depth Depth>
[[gnu::always_inline]] inline bool parse_usual(const packet& p, layers& out) noexcept {
  // Single variables, not a `layers`: gcc would build that in memory and load it again as a whole,
  // which has to wait for all of its parts.
  const std::uint8_t* const bytes = p.bytes;
  const std::size_t there = p.contiguous;
  if (there < ethernet_header_bytes) return false;
  layer::bits present = layer::ethernet | layer::eth_type;
  std::uint32_t network = ethernet_header_bytes, ip_end = 0;
  std::uint32_t type = load_be16(bytes + ethertype_offset), tci = 0, transport = 0;
  std::uint8_t proto = 0;
  if (is_vlan_type(static_cast<std::uint16_t>(type))) {
    if (there < ethernet_header_bytes + vlan_tag_bytes) return false;
    network = ethernet_header_bytes + vlan_tag_bytes;
    present |= layer::vlan;
    tci = load_be16(bytes + ethertype_offset + 2) | tci_present;
    type = load_be16(bytes + ethertype_offset + vlan_tag_bytes);
    if (is_vlan_type(static_cast<std::uint16_t>(type))) return false;
  }
  if constexpr (Depth == parse_depth::link) {
    if (type < ethertype_min) type = eth_type_none;
  } else {
    constexpr std::uint8_t without_options = 0x45;  // version 4, and five words
    constexpr std::uint16_t fragmented = wire::ipv4::more_fragments | wire::ipv4::offset_mask;
    const std::uint8_t* const header = bytes + network;
    transport = network + wire::ipv4::header_bytes;
    if (type != ethertype_ipv4 || there < transport) return false;
    const std::uint32_t total = load_be16(header + wire::ipv4::total_length);
    if (header[0] != without_options || total < wire::ipv4::header_bytes) return false;
    if ((load_be16(header + wire::ipv4::fragment) & fragmented) != 0) return false;
    present |= layer::ipv4 | layer::ip_proto;
    ip_end = network + total;
    proto = header[wire::ipv4::protocol];
    if constexpr (Depth == parse_depth::transport) {
      const std::size_t left = std::min<std::size_t>(ip_end, there) - transport;
      if (proto == ip_proto_udp && left >= wire::udp::header_bytes) {
        present |= layer::udp;
      } else if (proto == ip_proto_tcp && left >= wire::tcp::header_bytes) {
        present |= layer::tcp;
      } else {
        return false;
      }
    }
  }
  out.present = present;
  out.ip_end = ip_end;
  out.eth_type = static_cast<std::uint16_t>(type);
  out.vlan_tci = static_cast<std::uint16_t>(tci);
  out.network = static_cast<std::uint16_t>(network);
  out.transport = static_cast<std::uint16_t>(transport);
  out.nd_option = 0;
  out.ipv6_exthdr = 0;
  out.ip_proto = proto;
  return true;
}

}  // namespace coua::net
