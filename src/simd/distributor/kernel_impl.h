// SPDX-License-Identifier: Apache-2.0
//
// The kernel of kernels.h over one way to compare the signatures of two buckets.
#pragma once

#include "simd/distributor/kernels.h"

namespace coua::simd {
namespace {

/// `Match::find` gives a bit for each slot with the signature, the first bucket's in the lower
/// half. Of several, the lowest counts. Whether there is one is not branched on: hits and misses
/// come mixed.
template <class Match>
void find_hints(const hint_line* lines, std::uint64_t bucket_mask, const std::uint64_t* hashes,
                std::size_t n, std::uint16_t* hints) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint16_t signature = signature_of(hashes[i]);
    const std::uint64_t bucket = first_bucket(hashes[i], bucket_mask);
    const hint_line& first = lines[bucket];
    const hint_line& second = lines[second_bucket(bucket, signature, bucket_mask)];
    const std::uint32_t found = Match::find(first, second, signature);
    const auto slot = static_cast<unsigned>(__builtin_ctz(found | 1u << 31));
    const hint_line& line = slot < hint_line::n_slots ? first : second;
    const std::uint16_t hint = line.hints[slot % hint_line::n_slots];
    hints[i] = static_cast<std::uint16_t>(hint | (found == 0 ? no_hint : 0));
  }
}

}  // namespace
}  // namespace coua::simd
