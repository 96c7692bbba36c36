// SPDX-License-Identifier: Apache-2.0
#include "net/rewrite_link.h"

namespace coua::net {
namespace {

constexpr std::uint16_t tag_bytes = vlan_tag_bytes;

using detail::count_tags;
using detail::move_offsets;

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

}  // namespace coua::net
