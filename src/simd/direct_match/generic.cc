// SPDX-License-Identifier: Apache-2.0
#include "simd/direct_match/kernels.h"

namespace coua::simd {

void generic_direct_match(const direct_rules& rules, const std::uint64_t* keys,
                          std::size_t key_stride, std::size_t n, std::uint64_t* matched) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t* key = keys + i * key_stride;
    std::uint64_t bits = 0;
    for (unsigned r = 0; r < rules.n_rules; ++r) {
      std::uint64_t differs = 0;
      for (unsigned w = 0; w < rules.n_words; ++w) {
        const std::size_t at = std::size_t{w} * rules.n_rules + r;
        differs |= (key[w] & rules.masks[at]) ^ rules.values[at];
      }
      bits |= std::uint64_t{differs == 0} << r;
    }
    matched[i] = bits;
  }
}

}  // namespace coua::simd
