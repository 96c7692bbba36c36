// SPDX-License-Identifier: Apache-2.0
//
// Which group each bucket of a block goes to, so that the fullest group is as small as can be: what
// the search for a hash function takes doubles with each key, so the fullest group counts, not the
// average.
//
// Greedy first: buckets from the largest to the smallest, each to the emptiest of its four groups.
// Then repairs, while there are any: a bucket of a fullest group goes to another of its groups that
// is smaller even with it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "simd/setsep_lookup/geometry.h"

namespace coua::setsep {

struct balanced_block {
  std::array<std::uint8_t, block_buckets> choice{};  // of each bucket, 0 to 3
  std::array<std::uint32_t, block_groups> keys{};    // of each group
  std::uint32_t fullest() const;
};

/// `sizes`: keys of each bucket.
balanced_block balance(std::span<const std::uint32_t, block_buckets> sizes);

}  // namespace coua::setsep
