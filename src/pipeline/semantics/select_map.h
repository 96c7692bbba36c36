// SPDX-License-Identifier: Apache-2.0
//
// Which bucket of a select group a hash leads to: a table of slots, each of which belongs to one
// bucket, shared out by weight.
//
// Each bucket has an order of its own in which it would like the slots (a start and an odd step,
// from the group's secret and the bucket's place). The buckets that are live and have a weight take
// slots in turns, each time the one that has the smallest part of what its weight entitles it to,
// and each time the next free slot of its order. So the parts follow the weights as exactly as
// whole slots allow, every such bucket has a slot, and when a bucket dies most slots of the others
// stay where they are: flows keep their way. (The idea is that of Maglev's table, Eisenbud et al.,
// NSDI 2016.)
//
// Sizes: 1,024 slots, so that a part is right within 0.1 % of the whole; with more than 64 buckets,
// 16 for each, rounded up to a power of two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/hash_key.h"

namespace coua::pipeline {

class select_map {
 public:
  static constexpr std::size_t slots_min = 1'024;
  static constexpr std::size_t slots_per_bucket = 16;

  select_map() = default;  // no bucket
  /// `weights` in the order of the buckets; 0: dead, or not to be taken. At most 65,535 buckets.
  select_map(const hash_key& secret, std::span<const std::uint16_t> weights);

  /// Nothing: no bucket is live.
  std::optional<std::size_t> bucket(std::uint64_t hash) const {
    if (slots_.empty()) return std::nullopt;
    return slots_[hash >> shift_];
  }
  std::span<const std::uint16_t> slots() const { return slots_; }

 private:
  std::vector<std::uint16_t> slots_;  // a power of two of them
  unsigned shift_ = 0;                // the slot is in the upper bits of the hash
};

}  // namespace coua::pipeline
