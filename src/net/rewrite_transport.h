// SPDX-License-Identifier: Apache-2.0
//
// Rewrites of TCP, UDP, SCTP, ICMP and neighbour discovery (rewrite.h has the rules).
#pragma once

#include "net/rewrite.h"

namespace coua::net {

enum class port_side : std::uint8_t { source, destination };

/// `kind` is layer::tcp, udp or sctp.
rewrite_result set_port(packet& p, const layers& l, layer::bits kind, port_side side,
                        std::uint16_t port, std::uint16_t mask = 0xffff) noexcept;

/// `kind` is layer::icmpv4 or icmpv6. A type may make the message one of ND, or end that.
rewrite_result set_icmp_type(packet& p, layers& l, layer::bits kind, std::uint8_t type) noexcept;
rewrite_result set_icmp_code(packet& p, const layers& l, layer::bits kind,
                             std::uint8_t code) noexcept;

rewrite_result set_nd_target(packet& p, const layers& l, uint128 target,
                             uint128 mask = ~uint128{0}) noexcept;
/// In an option that is there; none is added.
rewrite_result set_nd_sll(packet& p, const layers& l, std::uint64_t mac) noexcept;
rewrite_result set_nd_tll(packet& p, const layers& l, std::uint64_t mac) noexcept;

}  // namespace coua::net
