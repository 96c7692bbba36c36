// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>

#include "simd/setsep_lookup/geometry.h"

namespace coua::setsep {

/// A key, known by its hash, and its value.
struct keyed_value {
  key_hash hash;
  std::uint16_t value = 0;
  bool operator==(const keyed_value&) const = default;
};

inline bool before(const key_hash& a, const key_hash& b) noexcept {
  return std::tie(a.high, a.low) < std::tie(b.high, b.low);
}

}  // namespace coua::setsep
