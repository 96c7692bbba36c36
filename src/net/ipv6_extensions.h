// SPDX-License-Identifier: Apache-2.0
//
// The chain of extension headers between an IPv6 header and what it carries (RFC 8200, section 4).
#pragma once

#include <cstddef>
#include <cstdint>

namespace coua::net {

// The headers that were met, as OpenFlow numbers them (ofp_ipv6exthdr_flags). A header counts when
// it is whole; nothing of "no next header" and ESP is read, so they count when they are named.
inline constexpr std::uint16_t exthdr_no_next = 1 << 0;
inline constexpr std::uint16_t exthdr_esp = 1 << 1;
inline constexpr std::uint16_t exthdr_auth = 1 << 2;
inline constexpr std::uint16_t exthdr_dest = 1 << 3;
inline constexpr std::uint16_t exthdr_frag = 1 << 4;
inline constexpr std::uint16_t exthdr_router = 1 << 5;
inline constexpr std::uint16_t exthdr_hop = 1 << 6;
// One comes more often than RFC 8200, section 4.1, has it: destination options twice, others once.
inline constexpr std::uint16_t exthdr_unrep = 1 << 7;
// Not in the order of that section: hop-by-hop, destination options, routing, fragment,
// authentication, ESP, destination options.
inline constexpr std::uint16_t exthdr_unseq = 1 << 8;

struct ipv6_chain {
  bool known = false;        // to its end; else it is cut off or too long, and all members are 0
  std::uint8_t next = 0;     // the first header that is none of those that are passed
  std::uint16_t seen = 0;    // exthdr_*
  std::uint32_t offset = 0;  // of the header `next`; 0: it is in an earlier fragment
  bool fragment = false;
  bool later_fragment = false;  // the chain ends with the fragment header, whose `next` counts
  bool routed = false;          // a routing header has segments left
};

/// Follows the chain from the header number `next` at `offset`; reads no byte at or after `limit`,
/// which is not below `offset`.
ipv6_chain follow_ipv6_extensions(const std::uint8_t* bytes, std::size_t offset, std::size_t limit,
                                  std::uint8_t next) noexcept;

}  // namespace coua::net
