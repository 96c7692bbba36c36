// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/port_cover.h"

#include <algorithm>
#include <bit>

namespace coua::bench {

std::vector<port_prefix> cover(port_range range) {
  std::vector<port_prefix> out;
  const std::uint32_t end = range.high + 1U;
  for (std::uint32_t at = range.low; at < end;) {
    // The largest that may begin here, and the largest that ends in the range.
    const unsigned aligned = at == 0 ? 16 : static_cast<unsigned>(std::countr_zero(at));
    const auto left = static_cast<unsigned>(std::bit_width(end - at) - 1);
    const unsigned free_bits = std::min(aligned, left);
    out.push_back({static_cast<std::uint16_t>(at), 16 - free_bits});
    at += std::uint32_t{1} << free_bits;
  }
  return out;
}

}  // namespace coua::bench
