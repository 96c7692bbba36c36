// SPDX-License-Identifier: Apache-2.0
//
// Where fields stand in the headers above Ethernet, in bytes from the start of each header. All
// numbers are big-endian, the checksum of SCTP excepted.
#pragma once

#include <cstddef>
#include <cstdint>

namespace coua::net::wire {

namespace mpls {  // RFC 3032: label (20 bits), TC (3), bottom of stack (1), TTL (8)
inline constexpr std::size_t entry_bytes = 4;
inline constexpr std::uint32_t bottom_bit = 0x100;
}  // namespace mpls

namespace arp {  // RFC 826, Ethernet and IPv4
inline constexpr std::size_t header_bytes = 28;
inline constexpr std::uint64_t ethernet_ipv4 = 0x0001'0800'0604;  // its first six bytes
inline constexpr std::size_t op = 6;
inline constexpr std::size_t sender_mac = 8;
inline constexpr std::size_t sender_ip = 14;
inline constexpr std::size_t target_mac = 18;
inline constexpr std::size_t target_ip = 24;
}  // namespace arp

namespace ipv4 {                                 // RFC 791
inline constexpr std::size_t header_bytes = 20;  // without options
inline constexpr std::size_t tos = 1;
inline constexpr std::size_t total_length = 2;
inline constexpr std::size_t fragment = 6;
inline constexpr std::uint16_t more_fragments = 0x2000;
inline constexpr std::uint16_t offset_mask = 0x1fff;
inline constexpr std::size_t ttl = 8;
inline constexpr std::size_t protocol = 9;
inline constexpr std::size_t checksum = 10;
inline constexpr std::size_t source = 12;
inline constexpr std::size_t destination = 16;
}  // namespace ipv4

namespace ipv6 {  // RFC 8200
inline constexpr std::size_t header_bytes = 40;
inline constexpr std::size_t payload_length = 4;
inline constexpr std::size_t next_header = 6;
inline constexpr std::size_t hop_limit = 7;
inline constexpr std::size_t source = 8;
inline constexpr std::size_t destination = 24;
inline constexpr std::size_t routing_segments_left = 3;  // of the routing header
inline constexpr std::size_t fragment_header_bytes = 8;
inline constexpr std::size_t fragment_offset = 2;  // of the fragment header
inline constexpr std::uint16_t more_fragments = 0x0001;
inline constexpr std::uint16_t offset_mask = 0xfff8;
}  // namespace ipv6

namespace tcp {  // RFC 9293
inline constexpr std::size_t header_bytes = 20;
inline constexpr std::size_t checksum = 16;
}  // namespace tcp

namespace udp {  // RFC 768
inline constexpr std::size_t header_bytes = 8;
inline constexpr std::size_t checksum = 6;
}  // namespace udp

namespace sctp {  // RFC 9260
inline constexpr std::size_t header_bytes = 12;
inline constexpr std::size_t checksum = 8;
}  // namespace sctp

namespace icmp {  // RFC 792 and RFC 4443
inline constexpr std::size_t header_bytes = 8;
inline constexpr std::size_t header_bytes_v6 = 4;
inline constexpr std::size_t type = 0;
inline constexpr std::size_t code = 1;
inline constexpr std::size_t checksum = 2;
}  // namespace icmp

namespace nd {  // RFC 4861, from the start of the ICMPv6 header
inline constexpr std::size_t header_bytes = 24;
inline constexpr std::size_t target = 8;
inline constexpr std::size_t option_address = 2;  // from the start of the option
}  // namespace nd

}  // namespace coua::net::wire
