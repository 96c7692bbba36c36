// SPDX-License-Identifier: Apache-2.0
//
// A parser for the frames that nearly all are: untagged or with one tag, IPv4 without options and
// not in fragments, TCP or UDP. It keeps what it finds in registers and stores it once. What is
// anything else it leaves to parse(), which does all that layers.h says; of the others it says the
// same.
#pragma once

#include <algorithm>
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

/// The bytes from offset 12 on of a frame with IPv4 without options, with and without a tag.
struct usual_start {
  std::uint64_t mask, value;
  bool is(std::uint64_t bytes) const noexcept { return (bytes & mask) == value; }
};
inline constexpr usual_start untagged{number_of({0xff, 0xff, 0xff}), number_of({8, 0, 0x45})};
inline constexpr usual_start tagged{number_of({0xff, 0xff, 0, 0, 0xff, 0xff, 0xff}),
                                    number_of({0x81, 0, 0, 0, 8, 0, 0x45})};
inline constexpr usual_start tagged_qinq{tagged.mask, number_of({0x88, 0xa8, 0, 0, 8, 0, 0x45})};

}  // namespace detail

/// False: the frame is another one, and `out` is as it was.
template <parse_depth Depth>
[[gnu::always_inline]] inline bool parse_usual(const packet& p, layers& out) noexcept {
  // Few loads, each of many fields, and single variables instead of a `layers`, which gcc would
  // build in memory and load again as a whole; that has to wait for all of its parts.
  const std::uint8_t* const bytes = p.bytes;
  const std::size_t there = p.contiguous;
  layer::bits present = layer::ethernet | layer::eth_type;
  std::uint32_t network = ethernet_header_bytes, type = 0, tci = 0, transport = 0, ip_end = 0;
  std::uint32_t proto = 0;
  if constexpr (Depth == parse_depth::link) {
    if (there < ethernet_header_bytes) return false;
    type = load_be16(bytes + ethertype_offset);
    if (is_vlan_type(static_cast<std::uint16_t>(type))) {
      if (there < ethernet_header_bytes + vlan_tag_bytes) return false;
      network = ethernet_header_bytes + vlan_tag_bytes;
      present |= layer::vlan;
      tci = load_be16(bytes + ethertype_offset + 2) | tci_present;
      type = load_be16(bytes + ethertype_offset + vlan_tag_bytes);
      if (is_vlan_type(static_cast<std::uint16_t>(type))) return false;
    }
    if (type < ethertype_min) type = eth_type_none;
  } else {
    if (there < ethernet_header_bytes + wire::ipv4::header_bytes) return false;
    type = ethertype_ipv4;
    present |= layer::ipv4 | layer::ip_proto;
    const std::uint64_t start = detail::load_le64(bytes + ethertype_offset);
    if (!detail::untagged.is(start)) {
      if (!detail::tagged.is(start) && !detail::tagged_qinq.is(start)) return false;
      network += vlan_tag_bytes;
      present |= layer::vlan;
      tci = detail::swap16(start >> 16) | tci_present;
    }
    transport = network + wire::ipv4::header_bytes;
    // From the total length to the protocol.
    constexpr std::uint64_t fragmented =
        detail::number_of({0, 0, 0, 0, (wire::ipv4::more_fragments | wire::ipv4::offset_mask) >> 8,
                           (wire::ipv4::more_fragments | wire::ipv4::offset_mask) & 0xff});
    static_assert(wire::ipv4::protocol == wire::ipv4::total_length + 7);
    static_assert(wire::ipv4::fragment == wire::ipv4::total_length + 4);
    const std::uint64_t rest = detail::load_le64(bytes + network + wire::ipv4::total_length);
    const std::uint32_t total = detail::swap16(rest);
    if ((rest & fragmented) != 0 || total < wire::ipv4::header_bytes || there < transport)
      return false;
    ip_end = network + total;
    proto = static_cast<std::uint32_t>(rest >> 56);
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
  out.network = static_cast<std::uint16_t>(network);
  out.transport = static_cast<std::uint16_t>(transport);
  out.nd_option = 0;
  out.ipv6_exthdr = 0;
  out.ip_proto = static_cast<std::uint8_t>(proto);
  out.eth_type = static_cast<std::uint16_t>(type);
  out.vlan_tci = static_cast<std::uint16_t>(tci);
  return true;
}

}  // namespace coua::net
