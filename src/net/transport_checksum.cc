// SPDX-License-Identifier: Apache-2.0
#include "net/transport_checksum.h"

#include "net/checksum.h"

namespace coua::net {
namespace {

std::uint64_t pseudo_sum(const packet& p, const layers& l, std::size_t length) noexcept {
  const std::uint8_t* const header = p.bytes + l.network;
  if (l.has(layer::ipv4)) {
    return ipv4_pseudo_sum(load_be32(header + wire::ipv4::source),
                           load_be32(header + wire::ipv4::destination), l.ip_proto, length);
  }
  return ipv6_pseudo_sum(load_be128(header + wire::ipv6::source),
                         load_be128(header + wire::ipv6::destination), l.ip_proto, length);
}

}  // namespace

std::optional<std::uint16_t> transport_checksum(const packet& p, const layers& l) noexcept {
  std::size_t at = 0;
  if (l.has(layer::tcp)) {
    at = wire::tcp::checksum;
  } else if (l.has(layer::udp)) {
    at = wire::udp::checksum;
  } else if (l.has_any(layer::icmpv4 | layer::icmpv6)) {
    at = wire::icmp::checksum;
  } else {
    return std::nullopt;
  }
  if (l.has_any(layer::fragment | layer::routed) || l.ip_end > p.contiguous) return std::nullopt;

  const std::uint8_t* const message = p.bytes + l.transport;
  const std::size_t length = l.ip_end - l.transport;
  // The checksum itself counts as 0; it stands at an even distance.
  std::uint64_t sum =
      internet_sum({message, at}) + internet_sum({message + at + 2, length - at - 2});
  if (!l.has(layer::icmpv4)) sum += pseudo_sum(p, l, length);
  const auto checksum = static_cast<std::uint16_t>(~fold_sum(sum));
  return l.has(layer::udp) && checksum == 0 ? 0xffff : checksum;
}

}  // namespace coua::net
