// SPDX-License-Identifier: Apache-2.0
//
// Changes of headers in place: what they have in common. rewrite_link.h, rewrite_mpls.h,
// rewrite_ip.h, rewrite_arp.h and rewrite_transport.h have them, one function each.
//
// - A rewrite takes a packet and what the parser said of it, and keeps both right: afterwards
//   `layers` is what a new parse to the same depth would say. Where only a parse can tell, the
//   answer is `parse_again`, and `layers` must not be used before that. The depth must have been
//   that of the header at least; `transport` for addresses of IP, which its checksum covers.
// - A rewrite whose header is not there changes nothing (`no_header`), as OpenFlow has it for
//   actions that no match vouches for.
// - With a mask, the bits outside of it stay. Bits of a value beyond its field are cut off.
// - Checksums are moved by the difference (checksum_change.h): what was right stays right, and what
//   was wrong stays as wrong as it was, because a switch must not hide damage. So they are also
//   touched by a rewrite that changes nothing: 0xffff becomes 0x0000, which means the same.
// - A UDP checksum of 0 says that there is none, and stays 0, also in IPv6.
// - The checksum of a transport header changes only where the whole header is there: not in later
//   fragments. The CRC of SCTP is not changed in a first fragment either, because it depends on the
//   length of the message, which no fragment has: the receiver will drop the message.
// - A destination of IPv6 that a routing header will replace is not in the transport checksum.
#pragma once

#include <cstdint>

#include "net/checksum_change.h"
#include "net/headers.h"
#include "net/layers.h"

namespace coua::net {

enum class rewrite_result : std::uint8_t {
  done,
  no_header,    // nothing is changed
  no_headroom,  // nothing is changed
  invalid_ttl,  // 0 or 1 cannot be decremented; nothing is changed
  parse_again,  // done, but only a parse can tell what the packet has become
};

/// Moves the transport checksum of a packet that is one of `kinds`, if it is whole.
[[gnu::always_inline]] inline void change_transport_checksum(
    const packet& p, const layers& l, layer::bits kinds, const checksum_change& change) noexcept {
  const layer::bits kind = l.present & kinds;
  std::uint8_t* const header = p.bytes + l.transport;
  if ((kind & layer::udp) != 0) {
    std::uint8_t* const at = header + wire::udp::checksum;
    store_raw(at, change.apply_udp(load_raw<std::uint16_t>(at)));
  } else if (kind != 0) {
    const bool is_tcp = (kinds & ~(layer::tcp | layer::udp)) == 0 || (kind & layer::tcp) != 0;
    std::uint8_t* const at = header + (is_tcp ? wire::tcp::checksum : wire::icmp::checksum);
    store_raw(at, change.apply(load_raw<std::uint16_t>(at)));
  }
}

template <typename Word>
constexpr Word merge(Word before, Word value, Word mask) noexcept {
  return static_cast<Word>((before & ~mask) | (value & mask));
}

}  // namespace coua::net
