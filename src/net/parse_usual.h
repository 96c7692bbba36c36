// SPDX-License-Identifier: Apache-2.0
//
// A parser for the frames that nearly all are: untagged or with one tag, IPv4 without options and
// not in fragments, TCP or UDP. It keeps what it finds in registers and stores it once. What is
// anything else it leaves to parse(), which does all that layers.h says; of the others it says the
// same.
#pragma once

#include <array>
#include <bit>
#include <cstring>

#include "net/ip_protocol.h"
#include "net/layers.h"

namespace coua::net {

namespace detail {

constexpr std::uint64_t number_of(const std::uint8_t (&bytes)[8]) {
  std::uint64_t made = 0;
  for (unsigned i = 0; i < 8; ++i) made |= std::uint64_t{bytes[i]} << 8 * i;
  return made;
}
/// Eight bytes of a frame as a number, the first of them lowest.
inline std::uint64_t load_le64(const std::uint8_t* bytes) noexcept {
  std::uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
  return value;
}
constexpr std::uint32_t swap16(std::uint64_t value) noexcept {
  return __builtin_bswap16(static_cast<std::uint16_t>(value));
}

/// Of protocols that have ports, what a whole header of them says. Of others no header is whole.
struct usual_transport {
  layer::bits present;
  std::uint32_t header_bytes;
};
inline constexpr auto usual_transports = [] {
  std::array<usual_transport, 256> made;
  made.fill({0, UINT32_MAX});  // gcc 12 loses initial values of members that differ from 0
  made[ip_proto_tcp] = {layer::tcp, wire::tcp::header_bytes};
  made[ip_proto_udp] = {layer::udp, wire::udp::header_bytes};
  return made;
}();

}  // namespace detail

/// Kinds of frames with IPv4 without options, by what stands before it.
enum class usual_kind : std::uint8_t { untagged, tagged, tagged_qinq };

/// False: the frame is of another kind, or is not parsed here at all; `out` is as it was. Frames of
/// one kind go through it without a branch that differs.
template <parse_depth Depth, usual_kind Kind>
[[gnu::always_inline]] inline bool parse_usual_kind(const packet& p, layers& out) noexcept {
  static_assert(Depth != parse_depth::link);
  using detail::number_of;
  constexpr bool is_tagged = Kind != usual_kind::untagged;
  constexpr std::uint32_t network = ethernet_header_bytes + (is_tagged ? vlan_tag_bytes : 0);
  constexpr std::uint32_t transport = network + wire::ipv4::header_bytes;
  // From the Ethernet type to the length of the IP header, but for the tag itself.
  constexpr std::uint64_t start_mask =
      is_tagged ? number_of({0xff, 0xff, 0, 0, 0xff, 0xff, 0xff}) : number_of({0xff, 0xff, 0xff});
  constexpr std::uint64_t start_value = Kind == usual_kind::untagged ? number_of({8, 0, 0x45})
                                        : Kind == usual_kind::tagged
                                            ? number_of({0x81, 0, 0, 0, 8, 0, 0x45})
                                            : number_of({0x88, 0xa8, 0, 0, 8, 0, 0x45});
  // From the total length to the protocol.
  constexpr std::uint64_t fragmented =
      number_of({0, 0, 0, 0, (wire::ipv4::more_fragments | wire::ipv4::offset_mask) >> 8,
                 (wire::ipv4::more_fragments | wire::ipv4::offset_mask) & 0xff});
  static_assert(wire::ipv4::protocol == wire::ipv4::total_length + 7);
  static_assert(wire::ipv4::fragment == wire::ipv4::total_length + 4);

  // Few loads, each of many fields.
  const std::uint8_t* const bytes = p.bytes;
  const std::size_t there = p.contiguous;
  if (there < transport) return false;
  const std::uint64_t start = detail::load_le64(bytes + ethertype_offset);
  const std::uint64_t rest = detail::load_le64(bytes + network + wire::ipv4::total_length);
  if ((((start ^ start_value) & start_mask) | (rest & fragmented)) != 0) return false;
  const std::uint32_t total = detail::swap16(rest);
  const std::uint32_t ip_end = network + total;
  const std::uint32_t proto = static_cast<std::uint32_t>(rest >> 56);
  layer::bits present = layer::ethernet | layer::eth_type | (is_tagged ? layer::vlan : 0) |
                        layer::ipv4 | layer::ip_proto;
  if constexpr (Depth == parse_depth::transport) {
    const detail::usual_transport& ports = detail::usual_transports[proto];
    const std::size_t needed = std::size_t{transport} + ports.header_bytes;
    if (there < needed || ip_end < needed) return false;
    present |= ports.present;
  } else if (total < wire::ipv4::header_bytes) {
    return false;
  }
  // What is the same for all of a kind is one store.
  out.present = present;
  out.ip_end = ip_end;
  out.network = static_cast<std::uint16_t>(network);
  out.transport = static_cast<std::uint16_t>(transport);
  out.nd_option = 0;
  out.ipv6_exthdr = 0;
  out.ip_proto = static_cast<std::uint8_t>(proto);
  out.eth_type = ethertype_ipv4;
  out.vlan_tci = is_tagged ? static_cast<std::uint16_t>(detail::swap16(start >> 16) | tci_present)
                           : std::uint16_t{0};
  return true;
}

/// The same of a frame whose headers above Ethernet do not matter.
[[gnu::always_inline]] inline bool parse_usual_link(const packet& p, layers& out) noexcept {
  const std::uint8_t* const bytes = p.bytes;
  const std::size_t there = p.contiguous;
  if (there < ethernet_header_bytes) return false;
  std::uint32_t network = ethernet_header_bytes, tci = 0;
  std::uint32_t type = load_be16(bytes + ethertype_offset);
  layer::bits present = layer::ethernet | layer::eth_type;
  if (is_vlan_type(static_cast<std::uint16_t>(type))) {
    if (there < ethernet_header_bytes + vlan_tag_bytes) return false;
    network = ethernet_header_bytes + vlan_tag_bytes;
    present |= layer::vlan;
    tci = load_be16(bytes + ethertype_offset + 2) | tci_present;
    type = load_be16(bytes + ethertype_offset + vlan_tag_bytes);
    if (is_vlan_type(static_cast<std::uint16_t>(type))) return false;
  }
  if (type < ethertype_min) type = eth_type_none;
  out = {};
  out.present = present;
  out.network = static_cast<std::uint16_t>(network);
  out.eth_type = static_cast<std::uint16_t>(type);
  out.vlan_tci = static_cast<std::uint16_t>(tci);
  return true;
}

}  // namespace coua::net
