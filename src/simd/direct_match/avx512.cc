// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "simd/direct_match/kernel_impl.h"

namespace coua::simd {
namespace {

struct avx512_rules {
  static constexpr unsigned n_rules = 8;
  __m512i words;  // of a result: 0 where all agreed so far

  static avx512_rules all() noexcept { return {_mm512_setzero_si512()}; }
  static avx512_rules load(const std::uint64_t* from) noexcept {
    return {_mm512_loadu_si512(from)};
  }
  void agree(std::uint64_t key, const avx512_rules& mask, const avx512_rules& value) noexcept {
    constexpr int and_then_xor = 0x6a;  // (a & b) ^ c
    const __m512i each = _mm512_set1_epi64(static_cast<long long>(key));
    words = _mm512_or_si512(words,
                            _mm512_ternarylogic_epi64(each, mask.words, value.words, and_then_xor));
  }
  std::uint64_t bits() const noexcept { return _mm512_testn_epi64_mask(words, words); }
};

}  // namespace

void avx512_direct_match(const direct_rules& rules, const std::uint64_t* keys,
                         std::size_t key_stride, std::size_t n, std::uint64_t* matched) noexcept {
  direct_match_in<avx512_rules>::run(rules, {keys, key_stride, n, matched});
}

}  // namespace coua::simd
