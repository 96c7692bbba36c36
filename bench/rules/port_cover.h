// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/rules/five_tuple_rule.h"

namespace coua::bench {

/// The first `bits` of a port, all others 0.
struct port_prefix {
  std::uint16_t value = 0;
  unsigned bits = 0;  // 0 to 16

  constexpr std::uint16_t mask() const {
    return static_cast<std::uint16_t>(bits == 0 ? 0 : 0xffffU << (16 - bits));
  }
  constexpr bool matches(std::uint16_t port) const { return (port & mask()) == value; }
  bool operator==(const port_prefix&) const = default;
};

/// The fewest prefixes that together match the ports of a range, and no two of them the same port:
/// from its low end on always the largest that fits. At most 30.
std::vector<port_prefix> cover(port_range);

}  // namespace coua::bench
