// SPDX-License-Identifier: Apache-2.0
//
// Packets for tests, built by hand from headers, and a check of their checksums that shares nothing
// with the oracle but the sum itself.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "pipeline/oracle/packet.h"

namespace coua::pipeline::test {

using bytes = std::vector<std::uint8_t>;

/// From "0800 45 00": digits in pairs; blanks are passed over.
bytes hex(std::string_view text);
bytes operator+(bytes left, const bytes& right);
bytes zeros(std::size_t n);

/// 02:..:02 from 02:..:01, then the type.
bytes ethernet(std::uint16_t type);
/// A tag without the type that comes before it: tci and the type that follows.
bytes tag(std::uint16_t tci, std::uint16_t type_after);
bytes mpls_entry(std::uint32_t label, unsigned tc, bool bos, unsigned ttl);
/// Request for 10.0.0.2 from 10.0.0.1.
bytes arp();
/// 10.0.0.1 to 10.0.0.2, TTL 64; its checksum is right.
bytes ipv4(std::uint8_t proto, const bytes& payload, const bytes& options = {},
           std::uint16_t fragment = 0, std::uint8_t tos = 0);
/// 2001:db8::1 to 2001:db8::2, hop limit 64.
bytes ipv6(std::uint8_t next, const bytes& payload);
/// Checksums are 0: fix_checksums puts them right.
bytes tcp(std::uint16_t source, std::uint16_t destination, const bytes& payload = {});
bytes udp(std::uint16_t source, std::uint16_t destination, const bytes& payload = {});
bytes sctp(std::uint16_t source, std::uint16_t destination, const bytes& payload = {});
bytes icmp(std::uint8_t type, std::uint8_t code, const bytes& payload = {});
/// A neighbour solicitation (135) or advertisement (136) for 2001:db8::99 with its option.
bytes neighbour(std::uint8_t type, const bytes& options);

/// A packet from port 1. Frames that begin with an Ethernet header of IP, perhaps behind tags, get
/// right checksums.
packet from_port_1(const bytes& frame);
packet fix_checksums(packet one);
/// Of IP directly behind Ethernet and tags, and of what it carries: all are right (a UDP checksum
/// of 0 is).
bool checksums_right(const packet& one);

}  // namespace coua::pipeline::test
