// SPDX-License-Identifier: Apache-2.0
//
// What a dscp_remark band does: it raises the drop precedence of assured forwarding (RFC 2597),
// AFx1 to AFx3, at most to AFx3. All other code points stay as they are: they have no drop
// precedence, and best effort must not become better by exceeding a rate.
#pragma once

#include <cstdint>

namespace coua::pipeline {

/// 6 bits: class:3 precedence:2 0:1, class 1 to 4, precedence 1 to 3.
constexpr bool is_assured_forwarding(std::uint8_t dscp) noexcept {
  const unsigned af_class = dscp >> 3;
  return (dscp & 1) == 0 && af_class >= 1 && af_class <= 4 && (dscp >> 1 & 3) != 0;
}

constexpr std::uint8_t remark_dscp(std::uint8_t dscp, std::uint8_t steps) noexcept {
  if (!is_assured_forwarding(dscp)) return dscp;
  const unsigned precedence = (dscp >> 1 & 3U) + steps;
  return static_cast<std::uint8_t>((dscp & 0x38) | (precedence > 3 ? 3 : precedence) << 1);
}

}  // namespace coua::pipeline
