// SPDX-License-Identifier: Apache-2.0
//
// Which headers a packet has and where they stand: all that a match on its fields needs to know.
// Fields at a fixed place in a header are read from the packet; those that are not (the Ethernet
// type behind the tags, the protocol behind IPv6 extension headers) are here.
//
//   Ethernet | tags ... | MPLS entry ...                             mpls
//                       | ARP                                        arp
//                       | IPv4 + options | TCP, UDP, SCTP, ICMP      ipv4, ...
//                       | IPv6 + extension headers | ..., ICMPv6     ipv6, ...
//            ^12        ^network         ^transport
//
// A layer's bit is set when its whole fixed header is in the first buffer of the packet and makes
// sense. Where a bit is not set, nothing behind that header is looked at, and fields that depend on
// it are absent. No byte at or after `contiguous` is ever read.
//
//   Ethernet    14 bytes. A type below 0x0600 is the length of an 802.3 frame: its eth_type is
//               eth_type_none, also with a SNAP header, and nothing behind it is parsed.
//   tags        types 0x8100 and 0x88a8 in any order, each with the type that follows it. After a
//               tag that is cut off there is no eth_type, and one that comes after max_vlan_tags is
//               none: its type is the eth_type.
//   MPLS        the outermost entry; what is below the stack is not parsed (it has no type).
//   ARP         Ethernet addresses of 6 bytes and IPv4 addresses of 4.
//   IPv4        version 4; 20 bytes <= header <= total length. Bytes behind the total length are
//               padding; a packet that was cut is parsed as far as it is there. The header checksum
//               is not verified.
//   IPv6        version 6 and 40 bytes. Where the chain of extension headers is cut off or longer
//               than max_ipv6_extensions, it is not known what comes in the end, nor whether this
//               is a fragment: there is no ip_proto, no ipv6_exthdr, no fragment bit.
//   fragments   `fragment` for any, `later_fragment` where the offset is not zero: it has no
//               transport header, but an ip_proto: IPv6 takes that of its fragment header.
//   transport   TCP 20 bytes, UDP 8, SCTP 12, ICMP 8, ICMPv6 4, within the IP packet. ICMP in IPv4
//               and ICMPv6 in IPv6 only. Lengths inside (data offset, UDP length) do not matter.
//   ND          ICMPv6 types 135 and 136 with the target, whatever the code; the first option that
//               is the link-layer address (source in 135, target in 136) and 8 bytes long. A
//               malformed option ends the search.
#pragma once

#include <cstddef>
#include <cstdint>

#include "net/ethernet.h"
#include "net/headers.h"
#include "net/packet.h"

namespace coua::net {

inline constexpr std::uint16_t eth_type_none = 0x05ff;
inline constexpr std::uint16_t tci_present = 0x1000;  // OFPVID_PRESENT, in the place of the DEI bit

// Past these a packet is not followed, so that its sender cannot buy much time for few bytes. RFC
// 8200, section 4.1, has seven extension headers in a packet.
inline constexpr unsigned max_vlan_tags = 4;
inline constexpr unsigned max_ipv6_extensions = 8;

namespace layer {
using bits = std::uint32_t;
inline constexpr bits ethernet = 1 << 0;
inline constexpr bits eth_type = 1 << 1;  // known: no tag before it is cut off
inline constexpr bits vlan = 1 << 2;
inline constexpr bits second_vlan = 1 << 3;
inline constexpr bits mpls = 1 << 4;
inline constexpr bits arp = 1 << 5;
inline constexpr bits ipv4 = 1 << 6;
inline constexpr bits ipv6 = 1 << 7;
inline constexpr bits ip_proto = 1 << 8;  // known, and with it fragments and ipv6_exthdr
inline constexpr bits fragment = 1 << 9;
inline constexpr bits later_fragment = 1 << 10;
inline constexpr bits routed = 1 << 11;  // by a routing header: ipv6_dst is not the last one
inline constexpr bits tcp = 1 << 12;
inline constexpr bits udp = 1 << 13;
inline constexpr bits sctp = 1 << 14;
inline constexpr bits icmpv4 = 1 << 15;
inline constexpr bits icmpv6 = 1 << 16;
inline constexpr bits nd_sol = 1 << 17;
inline constexpr bits nd_adv = 1 << 18;
inline constexpr bits nd_sll = 1 << 19;  // nd_option is that of a solicitation
inline constexpr bits nd_tll = 1 << 20;  // of an advertisement
}  // namespace layer

/// Offsets are from the first byte of the frame. What has no bit is 0.
struct layers {
  layer::bits present = 0;
  std::uint32_t ip_end = 0;       // where the IP packet ends, as it says itself
  std::uint16_t network = 0;      // of what follows Ethernet header and whole tags
  std::uint16_t transport = 0;    // of what follows the IP headers; 0: nothing is known to be there
  std::uint16_t nd_option = 0;    // of nd_sll or nd_tll
  std::uint16_t ipv6_exthdr = 0;  // exthdr_* of ipv6_extensions.h
  std::uint8_t ip_proto = 0;
  // At the end, so that with what stands behind the layers these are eight bytes (packet_state.h).
  alignas(4) std::uint16_t eth_type = 0;  // behind the tags
  std::uint16_t vlan_tci = 0;             // PCP, tci_present and VID of the outermost tag

  bool has(layer::bits all) const noexcept { return (present & all) == all; }
  bool has_any(layer::bits some) const noexcept { return (present & some) != 0; }
  bool operator==(const layers&) const = default;
};
static_assert(sizeof(layers) == 24);

/// How far a packet is parsed. What is above has no bits and zeros; rewrites that concern it must
/// not be used (an address is in the checksum of the transport layer).
enum class parse_depth : std::uint8_t {
  link,       // Ethernet and tags
  network,    // and MPLS, ARP, IP with ip_proto and fragments
  transport,  // and TCP, UDP, SCTP, ICMP, ND
};

layers parse(const packet& p, parse_depth depth) noexcept;
/// The same for `n` packets; the depth is chosen once.
void parse_burst(const packet* packets, layers* out, std::size_t n, parse_depth depth) noexcept;

/// Looks whether the ICMPv6 message at `l.transport` is one of ND, and sets the bits and nd_option
/// by it; `l` has icmpv6. For a packet whose type was rewritten.
void parse_nd(const packet& p, layers& l) noexcept;

constexpr bool is_vlan_type(std::uint16_t ethertype) noexcept {
  return ethertype == ethertype_vlan || ethertype == ethertype_qinq;
}
constexpr bool is_mpls_type(std::uint16_t ethertype) noexcept {
  return ethertype == ethertype_mpls || ethertype == ethertype_mpls_multicast;
}
/// Whether what starts there, with `there` bytes in the buffer, is a whole IP header as above.
inline bool is_ipv4_header(const std::uint8_t* header, std::size_t there) noexcept {
  if (there < wire::ipv4::header_bytes || header[0] >> 4 != 4) return false;
  const std::size_t header_bytes = (header[0] & 0xfU) * 4;
  return header_bytes >= wire::ipv4::header_bytes && header_bytes <= there &&
         header_bytes <= load_be16(header + wire::ipv4::total_length);
}
inline bool is_ipv6_header(const std::uint8_t* header, std::size_t there) noexcept {
  return there >= wire::ipv6::header_bytes && header[0] >> 4 == 6;
}

/// Where a header may be looked for: in the first buffer, and within the IP packet.
inline std::size_t transport_limit(const packet& p, const layers& l) noexcept {
  return l.ip_end < p.contiguous ? l.ip_end : p.contiguous;
}

}  // namespace coua::net
