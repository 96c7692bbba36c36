// SPDX-License-Identifier: Apache-2.0
//
// Rewrites of the headers of IPv4 and IPv6 (rewrite.h has the rules).
#pragma once

#include "net/rewrite.h"

namespace coua::net {

namespace detail {

inline void change_ipv4_checksum(std::uint8_t* header, const checksum_change& change) noexcept {
  std::uint8_t* const at = header + wire::ipv4::checksum;
  store_raw(at, change.apply(load_raw<std::uint16_t>(at)));
}

/// Writes one word of an IPv4 header, and moves its checksum.
inline void set_ipv4_word(std::uint8_t* header, std::size_t at, std::uint16_t value,
                          std::uint16_t mask) noexcept {
  const std::uint16_t before = load_raw<std::uint16_t>(header + at);
  store_be16(header + at, merge(load_be16(header + at), value, mask));
  checksum_change change;
  change.word16(before, load_raw<std::uint16_t>(header + at));
  change_ipv4_checksum(header, change);
}
/// The TTL is the upper half of its word.
inline void set_ipv4_ttl(std::uint8_t* header, std::uint8_t ttl) noexcept {
  set_ipv4_word(header, wire::ipv4::ttl, static_cast<std::uint16_t>(ttl << 8), 0xff00);
}
/// A TTL that is one less makes the sum 0x0100 less, and the checksum so much more (RFC 1141); as
/// checksum_change has it, never 0xffff.
inline void decrement_ipv4_ttl(std::uint8_t* header) noexcept {
  --header[wire::ipv4::ttl];
  std::uint32_t checksum = load_be16(header + wire::ipv4::checksum) + 0x0100U;
  checksum = (checksum & 0xffff) + (checksum >> 16);
  if (checksum == 0xffff) checksum = 0;
  store_be16(header + wire::ipv4::checksum, static_cast<std::uint16_t>(checksum));
}

/// `value` and `mask` are of the 8 bits of the traffic class.
inline rewrite_result set_ip_class(packet& p, const layers& l, unsigned value,
                                   unsigned mask) noexcept {
  std::uint8_t* const header = p.bytes + l.network;
  if (l.has(layer::ipv4)) {
    set_ipv4_word(header, 0, static_cast<std::uint16_t>(value), static_cast<std::uint16_t>(mask));
    return rewrite_result::done;
  }
  if (!l.has(layer::ipv6)) return rewrite_result::no_header;
  store_be16(header, merge(load_be16(header), static_cast<std::uint16_t>(value << 4),
                           static_cast<std::uint16_t>(mask << 4)));
  return rewrite_result::done;
}

[[gnu::always_inline]] inline rewrite_result set_ipv4_address(packet& p, const layers& l,
                                                              std::size_t at, std::uint32_t value,
                                                              std::uint32_t mask) noexcept {
  if (!l.has(layer::ipv4)) return rewrite_result::no_header;
  std::uint8_t* const header = p.bytes + l.network;
  const std::uint32_t before = load_raw<std::uint32_t>(header + at);
  const std::uint32_t after = merge(before, __builtin_bswap32(value), __builtin_bswap32(mask));
  checksum_change change;
  change.word32(before, after);
  store_raw(header + at, after);
  change_ipv4_checksum(header, change);
  change_transport_checksum(p, l, layer::tcp | layer::udp, change);
  return rewrite_result::done;
}

inline rewrite_result set_ipv6_address(packet& p, const layers& l, std::size_t at, uint128 value,
                                       uint128 mask, layer::bits covered_by) noexcept {
  if (!l.has(layer::ipv6)) return rewrite_result::no_header;
  std::uint8_t* const address = p.bytes + l.network + at;
  const uint128 before = load_be128(address);
  const uint128 after = merge(before, value, mask);
  checksum_change change;
  change.number128(before, after);
  store_be128(address, after);
  change_transport_checksum(p, l, covered_by, change);
  return rewrite_result::done;
}

}  // namespace detail

inline rewrite_result set_ip_dscp(packet& p, const layers& l, std::uint8_t dscp) noexcept {
  return detail::set_ip_class(p, l, unsigned{dscp} << 2, 0xfc);
}
inline rewrite_result set_ip_ecn(packet& p, const layers& l, std::uint8_t ecn) noexcept {
  return detail::set_ip_class(p, l, ecn, 0x03);
}

/// TTL of IPv4, hop limit of IPv6.
inline rewrite_result set_ip_ttl(packet& p, const layers& l, std::uint8_t ttl) noexcept {
  std::uint8_t* const header = p.bytes + l.network;
  if (l.has(layer::ipv4)) {
    detail::set_ipv4_ttl(header, ttl);
    return rewrite_result::done;
  }
  if (!l.has(layer::ipv6)) return rewrite_result::no_header;
  header[wire::ipv6::hop_limit] = ttl;
  return rewrite_result::done;
}
inline rewrite_result dec_ip_ttl(packet& p, const layers& l) noexcept {
  std::uint8_t* const header = p.bytes + l.network;
  if (l.has(layer::ipv4)) [[likely]] {
    if (header[wire::ipv4::ttl] <= 1) return rewrite_result::invalid_ttl;
    detail::decrement_ipv4_ttl(header);
    return rewrite_result::done;
  }
  if (!l.has(layer::ipv6)) return rewrite_result::no_header;
  if (header[wire::ipv6::hop_limit] <= 1) return rewrite_result::invalid_ttl;
  --header[wire::ipv6::hop_limit];
  return rewrite_result::done;
}

inline rewrite_result set_ipv4_src(packet& p, const layers& l, std::uint32_t address,
                                   std::uint32_t mask = 0xffff'ffff) noexcept {
  return detail::set_ipv4_address(p, l, wire::ipv4::source, address, mask);
}
inline rewrite_result set_ipv4_dst(packet& p, const layers& l, std::uint32_t address,
                                   std::uint32_t mask = 0xffff'ffff) noexcept {
  return detail::set_ipv4_address(p, l, wire::ipv4::destination, address, mask);
}

inline rewrite_result set_ipv6_src(packet& p, const layers& l, uint128 address,
                                   uint128 mask = ~uint128{0}) noexcept {
  return detail::set_ipv6_address(p, l, wire::ipv6::source, address, mask,
                                  layer::tcp | layer::udp | layer::icmpv6);
}
inline rewrite_result set_ipv6_dst(packet& p, const layers& l, uint128 address,
                                   uint128 mask = ~uint128{0}) noexcept {
  return detail::set_ipv6_address(
      p, l, wire::ipv6::destination, address, mask,
      l.has(layer::routed) ? layer::bits{0} : layer::tcp | layer::udp | layer::icmpv6);
}
inline rewrite_result set_ipv6_flabel(packet& p, const layers& l, std::uint32_t label,
                                      std::uint32_t mask = 0xf'ffff) noexcept {
  if (!l.has(layer::ipv6)) return rewrite_result::no_header;
  std::uint8_t* const header = p.bytes + l.network;
  store_be32(header, merge(load_be32(header), label, mask & 0xf'ffff));
  return rewrite_result::done;
}

}  // namespace coua::net
