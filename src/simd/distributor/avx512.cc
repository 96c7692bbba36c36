// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "simd/distributor/kernel_impl.h"

namespace coua::simd {
namespace {

struct avx512_hint_match {
  [[gnu::always_inline]] static std::uint32_t find(const hint_line& first, const hint_line& second,
                                                   std::uint16_t signature) noexcept {
    const __m256i a = _mm256_load_si256(reinterpret_cast<const __m256i*>(first.signatures));
    const __m256i b = _mm256_load_si256(reinterpret_cast<const __m256i*>(second.signatures));
    const __m512i both = _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
    return _mm512_cmpeq_epi16_mask(both, _mm512_set1_epi16(static_cast<short>(signature)));
  }
};

}  // namespace

const hint_kernels avx512_hints = {"avx512", &find_hints<avx512_hint_match>};

}  // namespace coua::simd
