// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "simd/index_search/kernel_impl.h"

namespace coua::simd {
namespace {

struct avx2_lanes {
  static constexpr unsigned n_lanes = 8;
  __m256i words;

  static avx2_lanes all(std::uint32_t word) noexcept {
    return {_mm256_set1_epi32(static_cast<int>(word))};
  }
  static avx2_lanes from(std::uint32_t first) noexcept {
    return {_mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(first)),
                             _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))};
  }
  template <unsigned Shift>
  avx2_lanes place(avx2_lanes base, avx2_lanes step) const noexcept {
    const __m256i sum = _mm256_add_epi32(_mm256_mullo_epi32(words, step.words), base.words);
    return {_mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(sum, Shift))};
  }
  void operator|=(avx2_lanes other) noexcept { words = _mm256_or_si256(words, other.words); }
  unsigned meets(avx2_lanes other) const noexcept {
    const __m256i both = _mm256_and_si256(words, other.words);
    const __m256i apart = _mm256_cmpeq_epi32(both, _mm256_setzero_si256());
    return ~static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(apart))) & 0xff;
  }
  std::uint32_t lane(unsigned i) const noexcept {
    alignas(32) std::uint32_t all[n_lanes];
    _mm256_store_si256(reinterpret_cast<__m256i*>(all), words);
    return all[i];
  }
};

}  // namespace

separation avx2_index_search(const separation_keys& keys, unsigned place_bits,
                             std::uint32_t n_functions) noexcept {
  return index_search_in<avx2_lanes>(keys, place_bits, n_functions);
}

}  // namespace coua::simd
