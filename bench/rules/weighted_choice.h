// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/harness/population.h"

namespace coua::bench {

/// Draws an index with the probability that belongs to its weight. `T` has a `share`.
class weighted_choice {
 public:
  weighted_choice() = default;
  template <typename T>
  explicit weighted_choice(std::span<const T> items) {
    for (const T& each : items) {
      sums_.push_back((sums_.empty() ? 0 : sums_.back()) + each.share);
    }
  }
  std::size_t draw(random_words& random) const {
    const std::uint64_t at = random.below(sums_.back());
    return static_cast<std::size_t>(std::upper_bound(sums_.begin(), sums_.end(), at) -
                                    sums_.begin());
  }

 private:
  std::vector<std::uint64_t> sums_;
};

}  // namespace coua::bench
