// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "simd/distributor/kernel_impl.h"

namespace coua::simd {
namespace {

struct avx2_hint_match {
  [[gnu::always_inline]] static std::uint32_t find(const hint_line& first, const hint_line& second,
                                                   std::uint16_t signature) noexcept {
    const __m256i wanted = _mm256_set1_epi16(static_cast<short>(signature));
    const __m256i a = _mm256_cmpeq_epi16(
        _mm256_load_si256(reinterpret_cast<const __m256i*>(first.signatures)), wanted);
    const __m256i b = _mm256_cmpeq_epi16(
        _mm256_load_si256(reinterpret_cast<const __m256i*>(second.signatures)), wanted);
    // Packing works on halves of 128 bits: a0 b0 a1 b1.
    const __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), 0b11'01'10'00);
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(both));
  }
};

}  // namespace

const hint_kernels avx2_hints = {"avx2", &find_hints<avx2_hint_match>};

}  // namespace coua::simd
