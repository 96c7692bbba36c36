// SPDX-License-Identifier: Apache-2.0
#include "net/rewrite_link.h"

namespace coua::net {
namespace {

constexpr std::uint16_t tag_bytes = vlan_tag_bytes;

/// After `n` bytes were put in before everything behind the addresses; -4 wraps around.
void move_offsets(layers& l, std::uint16_t n) noexcept {
  const auto moved = [n](std::uint16_t offset) {
    return offset == 0 ? offset : static_cast<std::uint16_t>(offset + n);
  };
  l.network = moved(l.network);
  l.transport = moved(l.transport);
  l.nd_option = moved(l.nd_option);
  if (l.ip_end != 0) l.ip_end += static_cast<std::uint32_t>(static_cast<std::int16_t>(n));
}

unsigned count_tags(const layers& l) noexcept {
  return (l.network - unsigned{ethernet_header_bytes}) / tag_bytes;
}

}  // namespace

rewrite_result push_vlan(packet& p, layers& l, std::uint16_t ethertype) noexcept {
  COUA_ASSERT(is_vlan_type(ethertype));
  if (!l.has(layer::ethernet)) return rewrite_result::no_header;
  if (p.headroom < tag_bytes) return rewrite_result::no_headroom;
  const std::uint16_t tci = l.vlan_tci & ~tci_present;
  open_gap(p, ethertype_offset, tag_bytes);
  store_be16(p.bytes + ethertype_offset, ethertype);
  store_be16(p.bytes + detail::outer_tci, tci);

  // The last tag that the parser passes becomes one that it does not pass, or what was a tag that
  // is cut off becomes a type.
  const unsigned n = count_tags(l) + 1;
  if (n > max_vlan_tags || (n == max_vlan_tags && !l.has(layer::eth_type))) {
    return rewrite_result::parse_again;
  }
  move_offsets(l, tag_bytes);
  l.present |= n > 1 ? layer::vlan | layer::second_vlan : layer::vlan;
  l.vlan_tci = tci | tci_present;
  return rewrite_result::done;
}

rewrite_result pop_vlan(packet& p, layers& l) noexcept {
  if (!l.has(layer::vlan)) return rewrite_result::no_header;
  close_gap(p, ethertype_offset, tag_bytes);
  if (is_vlan_type(l.eth_type)) return rewrite_result::parse_again;

  const unsigned n = count_tags(l) - 1;
  move_offsets(l, static_cast<std::uint16_t>(-tag_bytes));
  l.vlan_tci = n > 0 ? load_be16(p.bytes + detail::outer_tci) | tci_present : 0;
  if (n < 2) l.present &= ~layer::second_vlan;
  if (n < 1) l.present &= ~layer::vlan;
  return rewrite_result::done;
}

}  // namespace coua::net
