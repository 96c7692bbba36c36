// SPDX-License-Identifier: Apache-2.0
//
// Rewrites of the Ethernet header and its tags (rewrite.h has the rules).
#pragma once

#include "net/mac_pair.h"
#include "net/rewrite.h"

namespace coua::net {

inline rewrite_result set_eth_dst(packet& p, const layers& l, std::uint64_t mac,
                                  std::uint64_t mask = mac_mask) noexcept {
  if (!l.has(layer::ethernet)) return rewrite_result::no_header;
  store_mac(p.bytes, mask == mac_mask ? mac : merge(load_mac(p.bytes), mac, mask));
  return rewrite_result::done;
}
inline rewrite_result set_eth_src(packet& p, const layers& l, std::uint64_t mac,
                                  std::uint64_t mask = mac_mask) noexcept {
  if (!l.has(layer::ethernet)) return rewrite_result::no_header;
  std::uint8_t* const at = p.bytes + mac_bytes;
  store_mac(at, mask == mac_mask ? mac : merge(load_mac(at), mac, mask));
  return rewrite_result::done;
}
/// Both.
inline rewrite_result set_macs(packet& p, const layers& l, const mac_pair& macs) noexcept {
  if (!l.has(layer::ethernet)) return rewrite_result::no_header;
  macs.store(p.bytes);
  return rewrite_result::done;
}

namespace detail {
inline constexpr std::size_t outer_tci = ethertype_offset + 2;
inline rewrite_result set_tci(packet& p, layers& l, std::uint16_t value,
                              std::uint16_t mask) noexcept {
  if (!l.has(layer::vlan)) return rewrite_result::no_header;
  const std::uint16_t tci = merge(load_be16(p.bytes + outer_tci), value, mask);
  store_be16(p.bytes + outer_tci, tci);
  l.vlan_tci = tci | tci_present;
  return rewrite_result::done;
}

/// After `n` bytes were put in before everything behind the addresses; -4 wraps around.
inline void move_offsets(layers& l, std::uint16_t n) noexcept {
  const auto moved = [n](std::uint16_t offset) {
    return offset == 0 ? offset : static_cast<std::uint16_t>(offset + n);
  };
  l.network = moved(l.network);
  l.transport = moved(l.transport);
  l.nd_option = moved(l.nd_option);
  if (l.ip_end != 0) l.ip_end += static_cast<std::uint32_t>(static_cast<std::int16_t>(n));
}
inline unsigned count_tags(const layers& l) noexcept {
  return (l.network - unsigned{ethernet_header_bytes}) / unsigned{vlan_tag_bytes};
}
}  // namespace detail

/// Of the outermost tag.
inline rewrite_result set_vlan_vid(packet& p, layers& l, std::uint16_t vid,
                                   std::uint16_t mask = 0xfff) noexcept {
  return detail::set_tci(p, l, vid, mask & 0xfff);
}
inline rewrite_result set_vlan_pcp(packet& p, layers& l, std::uint8_t pcp) noexcept {
  return detail::set_tci(p, l, static_cast<std::uint16_t>(pcp << 13), 0xe000);
}

/// A tag outside of all others, with the number and priority of the one that was outermost, else
/// zeros. `ethertype` is 0x8100 or 0x88a8.
rewrite_result push_vlan(packet& p, layers& l, std::uint16_t ethertype) noexcept;
/// Takes the outermost tag away.
[[gnu::always_inline]] inline rewrite_result pop_vlan(packet& p, layers& l) noexcept {
  constexpr std::uint32_t tag_bytes = vlan_tag_bytes;
  if (!l.has(layer::vlan)) return rewrite_result::no_header;
  close_gap_behind_macs(p, tag_bytes);
  if (!l.has(layer::second_vlan) && l.transport != 0 && l.nd_option == 0) [[likely]] {
    l.network = static_cast<std::uint16_t>(l.network - tag_bytes);
    l.transport = static_cast<std::uint16_t>(l.transport - tag_bytes);
    l.ip_end -= tag_bytes;
    l.vlan_tci = 0;
    l.present &= ~layer::vlan;
    return rewrite_result::done;
  }
  if (is_vlan_type(l.eth_type)) return rewrite_result::parse_again;
  detail::move_offsets(l, static_cast<std::uint16_t>(-tag_bytes));
  if (!l.has(layer::second_vlan)) {
    l.vlan_tci = 0;
    l.present &= ~layer::vlan;
    return rewrite_result::done;
  }
  l.vlan_tci = load_be16(p.bytes + detail::outer_tci) | tci_present;
  if (detail::count_tags(l) < 2) l.present &= ~layer::second_vlan;
  return rewrite_result::done;
}

}  // namespace coua::net
