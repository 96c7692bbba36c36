// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "simd/direct_match/kernel_impl.h"

namespace coua::simd {
namespace {

struct avx2_rules {
  static constexpr unsigned n_rules = 4;
  __m256i words;

  static avx2_rules none() noexcept { return {_mm256_setzero_si256()}; }
  static avx2_rules load(const std::uint64_t* from) noexcept {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))};
  }
  void add(std::uint64_t key, avx2_rules mask, avx2_rules value) noexcept {
    const __m256i all = _mm256_set1_epi64x(static_cast<long long>(key));
    const __m256i differs = _mm256_xor_si256(_mm256_and_si256(all, mask.words), value.words);
    words = _mm256_or_si256(words, differs);
  }
  std::uint64_t zeros() const noexcept {
    const __m256i equal = _mm256_cmpeq_epi64(words, _mm256_setzero_si256());
    return static_cast<std::uint64_t>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)));
  }
};

}  // namespace

void avx2_direct_match(const direct_rules& rules, const std::uint64_t* keys, std::size_t key_stride,
                       std::size_t n, std::uint64_t* matched) noexcept {
  direct_match_in<avx2_rules>::run(rules, {keys, key_stride, n, matched});
}

}  // namespace coua::simd
