// SPDX-License-Identifier: Apache-2.0
#include "dp/l2/retag.h"

#include <rte_mbuf.h>

#include <cstring>

namespace coua::dp {
namespace {

constexpr unsigned addresses_bytes = 12;

bool push(rte_mbuf* frame, std::uint16_t control) noexcept {
  const std::uint8_t* old = rte_pktmbuf_mtod(frame, const std::uint8_t*);
  auto* bytes = reinterpret_cast<std::uint8_t*>(rte_pktmbuf_prepend(frame, vlan_tag_bytes));
  if (bytes == nullptr) return false;
  std::memmove(bytes, old, addresses_bytes);
  bytes[12] = vlan_ethertype >> 8;
  bytes[13] = vlan_ethertype & 0xFF;
  bytes[14] = static_cast<std::uint8_t>(control >> 8);
  bytes[15] = static_cast<std::uint8_t>(control);
  return true;
}

void pop(rte_mbuf* frame) noexcept {
  auto* bytes = rte_pktmbuf_mtod(frame, std::uint8_t*);
  std::memmove(bytes + vlan_tag_bytes, bytes, addresses_bytes);
  rte_pktmbuf_adj(frame, vlan_tag_bytes);
}

void rewrite(rte_mbuf* frame, std::uint16_t vlan) noexcept {
  auto* bytes = rte_pktmbuf_mtod(frame, std::uint8_t*);
  bytes[14] = static_cast<std::uint8_t>((bytes[14] & 0xF0) | vlan >> 8);
  bytes[15] = static_cast<std::uint8_t>(vlan);
}

}  // namespace

bool retag(rte_mbuf* frame, tag_state from, bool tagged, std::uint16_t vlan) noexcept {
  if (!tagged) {
    if (from != tag_state::none) pop(frame);
    return true;
  }
  if (from == tag_state::none) return push(frame, vlan);
  if (from == tag_state::priority) rewrite(frame, vlan);
  return true;
}

rte_mbuf* make_sole(rte_mbuf* frame) noexcept {
  if (!is_shared(frame)) [[likely]]
    return frame;
  rte_mbuf* copy = rte_pktmbuf_copy(frame, frame->pool, 0, UINT32_MAX);
  if (copy != nullptr) rte_pktmbuf_free(frame);
  return copy;
}

std::uint16_t tagged_vlan(const rte_mbuf* frame, std::uint16_t native) noexcept {
  unsigned control = 0;
  if ((frame->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0) {
    control = frame->vlan_tci;
  } else if (frame->data_len >= ethernet_header_bytes + vlan_tag_bytes) {
    const auto* bytes = rte_pktmbuf_mtod(frame, const std::uint8_t*);
    if ((bytes[12] << 8 | bytes[13]) == vlan_ethertype)
      control = static_cast<unsigned>(bytes[14] << 8 | bytes[15]);
  }
  const auto vlan = static_cast<std::uint16_t>(control & 0xFFF);
  return vlan != 0 ? vlan : native;
}

bool restore_tag(rte_mbuf* frame) noexcept {
  if ((frame->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) == 0) return true;
  if (!push(frame, frame->vlan_tci)) return false;
  frame->ol_flags &= ~(RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_VLAN);
  return true;
}

}  // namespace coua::dp
