// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "simd/candidates/kernel_impl.h"

namespace coua::simd {
namespace {

struct avx2_words {
  static constexpr std::size_t n_words = 4;
  __m256i value;
  [[gnu::always_inline]] static avx2_words ones() noexcept { return {_mm256_set1_epi64x(-1)}; }
  [[gnu::always_inline]] static avx2_words load(const std::uint64_t* words) noexcept {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(words))};
  }
  [[gnu::always_inline]] void store(std::uint64_t* words) const noexcept {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(words), value);
  }
  [[gnu::always_inline]] void operator&=(avx2_words other) noexcept {
    value = _mm256_and_si256(value, other.value);
  }
};

}  // namespace

COUA_CANDIDATE_LOADS void avx2_candidates(const candidate_rows& map, const std::uint8_t* key,
                                          std::uint64_t* ids) noexcept {
  if (map.n_words < avx2_words::n_words) return generic_candidates(map, key, ids);
  candidates_in<avx2_words>::run(map, key, ids);
}

}  // namespace coua::simd
