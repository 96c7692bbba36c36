// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "simd/candidates/kernel_impl.h"

namespace coua::simd {
namespace {

struct avx512_words {
  static constexpr std::size_t n_words = 8;
  __m512i value;
  [[gnu::always_inline]] static avx512_words ones() noexcept { return {_mm512_set1_epi64(-1)}; }
  [[gnu::always_inline]] static avx512_words load(const std::uint64_t* words) noexcept {
    return {_mm512_loadu_si512(words)};
  }
  [[gnu::always_inline]] void store(std::uint64_t* words) const noexcept {
    _mm512_storeu_si512(words, value);
  }
  [[gnu::always_inline]] void operator&=(avx512_words other) noexcept {
    value = _mm512_and_si512(value, other.value);
  }
};

}  // namespace

COUA_CANDIDATE_LOADS void avx512_candidates(const candidate_rows& map, const std::uint8_t* key,
                                            std::uint64_t* ids) noexcept {
  if (map.n_words < avx512_words::n_words) return avx2_candidates(map, key, ids);
  candidates_in<avx512_words>::run(map, key, ids);
}

}  // namespace coua::simd
