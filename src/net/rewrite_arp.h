// SPDX-License-Identifier: Apache-2.0
//
// Rewrites of ARP (rewrite.h has the rules).
#pragma once

#include "net/rewrite.h"

namespace coua::net {

namespace detail {
inline rewrite_result set_arp_mac(packet& p, const layers& l, std::size_t at, std::uint64_t mac,
                                  std::uint64_t mask) noexcept {
  if (!l.has(layer::arp)) return rewrite_result::no_header;
  std::uint8_t* const to = p.bytes + l.network + at;
  store_mac(to, merge(load_mac(to), mac, mask));
  return rewrite_result::done;
}
inline rewrite_result set_arp_address(packet& p, const layers& l, std::size_t at,
                                      std::uint32_t address, std::uint32_t mask) noexcept {
  if (!l.has(layer::arp)) return rewrite_result::no_header;
  std::uint8_t* const to = p.bytes + l.network + at;
  store_be32(to, merge(load_be32(to), address, mask));
  return rewrite_result::done;
}
}  // namespace detail

inline rewrite_result set_arp_op(packet& p, const layers& l, std::uint16_t op) noexcept {
  if (!l.has(layer::arp)) return rewrite_result::no_header;
  store_be16(p.bytes + l.network + wire::arp::op, op);
  return rewrite_result::done;
}
inline rewrite_result set_arp_sha(packet& p, const layers& l, std::uint64_t mac,
                                  std::uint64_t mask = mac_mask) noexcept {
  return detail::set_arp_mac(p, l, wire::arp::sender_mac, mac, mask);
}
inline rewrite_result set_arp_tha(packet& p, const layers& l, std::uint64_t mac,
                                  std::uint64_t mask = mac_mask) noexcept {
  return detail::set_arp_mac(p, l, wire::arp::target_mac, mac, mask);
}
inline rewrite_result set_arp_spa(packet& p, const layers& l, std::uint32_t address,
                                  std::uint32_t mask = 0xffff'ffff) noexcept {
  return detail::set_arp_address(p, l, wire::arp::sender_ip, address, mask);
}
inline rewrite_result set_arp_tpa(packet& p, const layers& l, std::uint32_t address,
                                  std::uint32_t mask = 0xffff'ffff) noexcept {
  return detail::set_arp_address(p, l, wire::arp::target_ip, address, mask);
}

}  // namespace coua::net
