// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "simd/index_search/kernel_impl.h"

namespace coua::simd {
namespace {

struct avx512_lanes {
  static constexpr unsigned n_lanes = 16;
  __m512i words;

  static avx512_lanes all(std::uint32_t word) noexcept {
    return {_mm512_set1_epi32(static_cast<int>(word))};
  }
  static avx512_lanes from(std::uint32_t first) noexcept {
    return {
        _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(first)),
                         _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))};
  }
  template <unsigned Shift>
  avx512_lanes place(avx512_lanes base, avx512_lanes step) const noexcept {
    const __m512i sum = _mm512_add_epi32(_mm512_mullo_epi32(words, step.words), base.words);
    return {_mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_srli_epi32(sum, Shift))};
  }
  void operator|=(avx512_lanes other) noexcept { words = _mm512_or_si512(words, other.words); }
  unsigned meets(avx512_lanes other) const noexcept {
    return _mm512_test_epi32_mask(words, other.words);
  }
  std::uint32_t lane(unsigned i) const noexcept {
    alignas(64) std::uint32_t all[n_lanes];
    _mm512_store_si512(all, words);
    return all[i];
  }
};

}  // namespace

separation avx512_index_search(const separation_keys& keys, unsigned place_bits,
                               std::uint32_t n_functions) noexcept {
  return index_search_in<avx512_lanes>(keys, place_bits, n_functions);
}

}  // namespace coua::simd
