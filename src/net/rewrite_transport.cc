// SPDX-License-Identifier: Apache-2.0
#include "net/rewrite_transport.h"

#include "net/crc32c_change.h"

namespace coua::net {
namespace {

/// One word of the transport header.
rewrite_result set_word(packet& p, const layers& l, layer::bits kind, std::size_t at,
                        std::uint16_t value, std::uint16_t mask) noexcept {
  if (!l.has(kind)) return rewrite_result::no_header;
  std::uint8_t* const to = p.bytes + l.transport + at;
  const std::uint16_t before = load_raw<std::uint16_t>(to);
  store_be16(to, merge(load_be16(to), value, mask));
  checksum_change change;
  change.word16(before, load_raw<std::uint16_t>(to));
  change_transport_checksum(p, l, kind, change);
  return rewrite_result::done;
}

rewrite_result set_sctp_port(packet& p, const layers& l, std::size_t at, std::uint16_t port,
                             std::uint16_t mask) noexcept {
  if (!l.has(layer::sctp)) return rewrite_result::no_header;
  std::uint8_t* const header = p.bytes + l.transport;
  const std::uint32_t before = load_be32(header);
  store_be16(header + at, merge(load_be16(header + at), port, mask));
  if (l.has(layer::fragment)) return rewrite_result::done;
  // The CRC counts the first byte of the message as the lowest, and is sent that way.
  const std::uint32_t difference = __builtin_bswap32(before ^ load_be32(header));
  const std::uint32_t change = crc32c_change(difference, l.ip_end - l.transport);
  std::uint8_t* const checksum = header + wire::sctp::checksum;
  store_be32(checksum, load_be32(checksum) ^ __builtin_bswap32(change));
  return rewrite_result::done;
}

rewrite_result set_nd_option(packet& p, const layers& l, layer::bits which,
                             std::uint64_t mac) noexcept {
  if (!l.has(which)) return rewrite_result::no_header;
  std::uint8_t* const to = p.bytes + l.nd_option + wire::nd::option_address;
  checksum_change change;
  change.mac(load_mac(to), mac & mac_mask);
  store_mac(to, mac);
  change_transport_checksum(p, l, layer::icmpv6, change);
  return rewrite_result::done;
}

}  // namespace

rewrite_result set_port(packet& p, const layers& l, layer::bits kind, port_side side,
                        std::uint16_t port, std::uint16_t mask) noexcept {
  const std::size_t at = side == port_side::source ? 0 : 2;
  if (kind == layer::sctp) return set_sctp_port(p, l, at, port, mask);
  return set_word(p, l, kind, at, port, mask);
}

rewrite_result set_icmp_type(packet& p, layers& l, layer::bits kind, std::uint8_t type) noexcept {
  const rewrite_result result =
      set_word(p, l, kind, wire::icmp::type, static_cast<std::uint16_t>(type << 8), 0xff00);
  if (result == rewrite_result::done && kind == layer::icmpv6) parse_nd(p, l);
  return result;
}

rewrite_result set_icmp_code(packet& p, const layers& l, layer::bits kind,
                             std::uint8_t code) noexcept {
  return set_word(p, l, kind, wire::icmp::type, code, 0x00ff);
}

rewrite_result set_nd_target(packet& p, const layers& l, uint128 target, uint128 mask) noexcept {
  if (!l.has_any(layer::nd_sol | layer::nd_adv)) return rewrite_result::no_header;
  std::uint8_t* const to = p.bytes + l.transport + wire::nd::target;
  const uint128 before = load_be128(to);
  const uint128 after = merge(before, target, mask);
  checksum_change change;
  change.number128(before, after);
  store_be128(to, after);
  change_transport_checksum(p, l, layer::icmpv6, change);
  return rewrite_result::done;
}

rewrite_result set_nd_sll(packet& p, const layers& l, std::uint64_t mac) noexcept {
  return set_nd_option(p, l, layer::nd_sll, mac);
}
rewrite_result set_nd_tll(packet& p, const layers& l, std::uint64_t mac) noexcept {
  return set_nd_option(p, l, layer::nd_tll, mac);
}

}  // namespace coua::net
