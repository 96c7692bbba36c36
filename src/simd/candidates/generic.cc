// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/atomic_word.h"
#include "simd/candidates/kernels.h"

namespace coua::simd {

void generic_candidates(const candidate_rows& map, const std::uint8_t* key,
                        std::uint64_t* ids) noexcept {
  std::fill_n(ids, map.n_words, ~std::uint64_t{0});
  for (std::size_t i = 0; i < map.n_bytes; ++i) {
    const std::uint64_t* row = map.rows + (i * 256 + key[map.bytes[i]]) * map.n_words;
    for (std::size_t w = 0; w < map.n_words; ++w) ids[w] &= load_acquire(row + w);
  }
}

}  // namespace coua::simd
