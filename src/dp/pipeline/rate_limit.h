// SPDX-License-Identifier: Apache-2.0
//
// So many a second, after a burst of so many: a token bucket, kept as the time at which it would be
// full again. Taking one is a comparison and an addition.
#pragma once

#include <algorithm>
#include <cstdint>

namespace coua::dp {

class rate_limit {
 public:
  /// Every `ticks_each` ticks one, with a burst of at least one.
  rate_limit(std::uint64_t ticks_each, unsigned burst) noexcept
      : ticks_each_(ticks_each), room_(ticks_each * std::max(burst, 1U)) {}

  /// False: it is too soon. `now` does not go back.
  bool take(std::uint64_t now) noexcept {
    const std::uint64_t full_at = std::max(full_at_, now) + ticks_each_;
    if (full_at - now > room_) return false;
    full_at_ = full_at;
    return true;
  }

 private:
  const std::uint64_t ticks_each_, room_;
  std::uint64_t full_at_ = 0;
};

}  // namespace coua::dp
