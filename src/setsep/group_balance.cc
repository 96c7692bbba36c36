// SPDX-License-Identifier: Apache-2.0
#include "setsep/group_balance.h"

#include <algorithm>
#include <numeric>

namespace coua::setsep {
namespace {

class balancing {
 public:
  explicit balancing(std::span<const std::uint32_t, block_buckets> sizes) : sizes_(sizes) {}

  balanced_block run() {
    std::array<std::uint8_t, block_buckets> order;
    std::iota(order.begin(), order.end(), std::uint8_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](unsigned a, unsigned b) { return sizes_[a] > sizes_[b]; });
    for (const unsigned bucket : order) {
      const unsigned choice = emptiest(bucket);
      made_.choice[bucket] = static_cast<std::uint8_t>(choice);
      made_.keys[group_of(bucket, choice)] += sizes_[bucket];
    }
    while (repair(made_.fullest())) {
    }
    return made_;
  }

 private:
  unsigned emptiest(unsigned bucket) const {
    unsigned best = 0;
    for (unsigned c = 1; c < n_choices; ++c) {
      if (made_.keys[group_of(bucket, c)] < made_.keys[group_of(bucket, best)]) best = c;
    }
    return best;
  }

  /// One bucket goes out of a group with so many keys. Each time the sum of the squares of all
  /// groups falls, so this ends.
  bool repair(std::uint32_t fullest) {
    for (unsigned bucket = 0; bucket < block_buckets; ++bucket) {
      const unsigned from = group_of(bucket, made_.choice[bucket]);
      if (made_.keys[from] != fullest || sizes_[bucket] == 0) continue;
      for (unsigned c = 0; c < n_choices; ++c) {
        const unsigned to = group_of(bucket, c);
        if (to == from || made_.keys[to] + sizes_[bucket] >= fullest) continue;
        made_.keys[from] -= sizes_[bucket];
        made_.keys[to] += sizes_[bucket];
        made_.choice[bucket] = static_cast<std::uint8_t>(c);
        return true;
      }
    }
    return false;
  }

  const std::span<const std::uint32_t, block_buckets> sizes_;
  balanced_block made_;
};

}  // namespace

std::uint32_t balanced_block::fullest() const {
  return *std::max_element(keys.begin(), keys.end());
}

balanced_block balance(std::span<const std::uint32_t, block_buckets> sizes) {
  return balancing(sizes).run();
}

}  // namespace coua::setsep
