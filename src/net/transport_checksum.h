// SPDX-License-Identifier: Apache-2.0
//
// Checksums of transport headers over everything that they cover, for packets that are made or
// verified. The packet path changes those that are there instead (checksum_change.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "net/layers.h"
#include "net/wire.h"

namespace coua::net {

/// The sums of pseudo headers, to be added to that of the message (internet_sum of checksum.h).
/// `length`: bytes of the message. IPv4 (RFC 9293, section 3.1):
constexpr std::uint64_t ipv4_pseudo_sum(std::uint32_t source, std::uint32_t destination,
                                        std::uint8_t proto, std::size_t length) noexcept {
  return std::uint64_t{source} + destination + proto + length;
}
/// IPv6 (RFC 8200, section 8.1); behind a routing header, the destination is the last one of it.
constexpr std::uint64_t ipv6_pseudo_sum(uint128 source, uint128 destination, std::uint8_t proto,
                                        std::size_t length) noexcept {
  std::uint64_t sum = proto + std::uint64_t{length};
  for (unsigned shift = 0; shift < 128; shift += 32) {
    sum += static_cast<std::uint32_t>(source >> shift);
    sum += static_cast<std::uint32_t>(destination >> shift);
  }
  return sum;
}

/// What the checksum of TCP, UDP, ICMP or ICMPv6 should be, as it is stored: never 0 for UDP.
/// Nothing where it cannot be told: no such header, a fragment, a message that goes on behind the
/// first buffer, a destination that a routing header will replace.
std::optional<std::uint16_t> transport_checksum(const packet& p, const layers& l) noexcept;

}  // namespace coua::net
