// SPDX-License-Identifier: Apache-2.0
//
// Rewrites of the outermost MPLS entry (rewrite.h has the rules).
#pragma once

#include "net/rewrite.h"

namespace coua::net {

namespace detail {
inline rewrite_result set_mpls(packet& p, const layers& l, std::uint32_t value,
                               std::uint32_t mask) noexcept {
  if (!l.has(layer::mpls)) return rewrite_result::no_header;
  std::uint8_t* const entry = p.bytes + l.network;
  store_be32(entry, merge(load_be32(entry), value, mask));
  return rewrite_result::done;
}
}  // namespace detail

inline rewrite_result set_mpls_label(packet& p, const layers& l, std::uint32_t label) noexcept {
  return detail::set_mpls(p, l, label << 12, 0xffff'f000);
}
inline rewrite_result set_mpls_tc(packet& p, const layers& l, std::uint8_t tc) noexcept {
  return detail::set_mpls(p, l, std::uint32_t{tc} << 9, 0xe00);
}
inline rewrite_result set_mpls_ttl(packet& p, const layers& l, std::uint8_t ttl) noexcept {
  return detail::set_mpls(p, l, ttl, 0xff);
}
inline rewrite_result dec_mpls_ttl(packet& p, const layers& l) noexcept {
  if (!l.has(layer::mpls)) return rewrite_result::no_header;
  std::uint8_t& ttl = p.bytes[l.network + 3];
  if (ttl <= 1) return rewrite_result::invalid_ttl;
  --ttl;
  return rewrite_result::done;
}

/// An entry behind the tags and before all others: label, class and TTL of the one that was
/// outermost, else zeros, the TTL of IP, and the bottom bit. `ethertype` is 0x8847 or 0x8848.
rewrite_result push_mpls(packet& p, layers& l, std::uint16_t ethertype) noexcept;
/// Takes the outermost entry away; what is below is `ethertype`. Only another MPLS entry is known
/// without a parse.
rewrite_result pop_mpls(packet& p, layers& l, std::uint16_t ethertype) noexcept;

/// From the entry below into the outermost one, or from IP below the last one, which is told by its
/// first four bits.
rewrite_result copy_ttl_out(packet& p, const layers& l) noexcept;
/// The other way.
rewrite_result copy_ttl_in(packet& p, const layers& l) noexcept;

}  // namespace coua::net
