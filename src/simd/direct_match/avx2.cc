// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "simd/direct_match/kernel_impl.h"

namespace coua::simd {
namespace {

struct avx2_rules {
  static constexpr unsigned n_rules = 4;
  __m256i words;

  static avx2_rules all() noexcept { return {_mm256_set1_epi64x(-1)}; }
  static avx2_rules load(const std::uint64_t* from) noexcept {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))};
  }
  void agree(std::uint64_t key, const avx2_rules& mask, const avx2_rules& value) noexcept {
    const __m256i each = _mm256_set1_epi64x(static_cast<long long>(key));
    const __m256i equal = _mm256_cmpeq_epi64(_mm256_and_si256(each, mask.words), value.words);
    words = _mm256_and_si256(words, equal);
  }
  std::uint64_t bits() const noexcept {
    return static_cast<std::uint64_t>(_mm256_movemask_pd(_mm256_castsi256_pd(words)));
  }
};

}  // namespace

void avx2_direct_match(const direct_rules& rules, const std::uint64_t* keys, std::size_t key_stride,
                       std::size_t n, std::uint64_t* matched) noexcept {
  direct_match_in<avx2_rules>::run(rules, {keys, key_stride, n, matched});
}

}  // namespace coua::simd
