// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "simd/set_match/kernels.h"

namespace coua::simd {

void avx2_set_match(unsigned n_words, const std::uint64_t* keys, std::size_t key_stride,
                    const std::uint64_t* sets, std::size_t n, std::uint32_t* matched) noexcept {
  const auto load = [](const std::uint64_t* from) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
  };
  const __m256i zero = _mm256_setzero_si256();
  for (std::size_t i = 0; i < n; ++i, keys += key_stride) {
    const std::uint64_t* line = set_match::lines(sets[i]);
    const unsigned n_groups = set_match::n_groups(sets[i]);
    std::uint32_t bits = 0;
    for (unsigned g = 0; g < n_groups; ++g) {
      __m256i differs = zero;
      for (unsigned w = 0; w < n_words; ++w, line += set_match::line_words) {
        const __m256i key = _mm256_set1_epi64x(static_cast<long long>(keys[w]));
        const __m256i masked = _mm256_and_si256(key, load(line + set_match::group));
        differs = _mm256_or_si256(differs, _mm256_xor_si256(masked, load(line)));
      }
      const __m256i equal = _mm256_cmpeq_epi64(differs, zero);
      const int of_group = _mm256_movemask_pd(_mm256_castsi256_pd(equal));
      bits |= static_cast<std::uint32_t>(of_group) << set_match::group * g;
    }
    matched[i] = bits;
  }
}

}  // namespace coua::simd
