// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "simd/fib_lookup/kernel_impl.h"
#include "simd/fib_lookup/sets.h"

namespace coua::simd {
namespace {

struct avx512_match {
  /// key_permutation::p, eight keys at a time.
  [[gnu::always_inline]] static void permute(const key_permutation& permutation,
                                             const std::uint64_t* keys, std::size_t n,
                                             std::uint64_t* p) noexcept {
    const auto all = [](std::uint64_t word) {
      return _mm512_set1_epi64(static_cast<long long>(word));
    };
    const __m512i mask = all(permutation.mask);
    const __m512i multiplier = all(permutation.multiplier);
    const __m512i primary = all(permutation.primary);
    const __m512i top = all(key_permutation::top_mask);
    // y ^ ((y >> 30) & top): 0x78 is the truth table of a ^ (b & c).
    const auto fold = [&](__m512i y) {
      return _mm512_ternarylogic_epi64(y, _mm512_srli_epi64(y, 30), top, 0x78);
    };
    for (std::size_t i = 0; i < n; i += 8) {
      const __mmask8 lanes = n - i >= 8 ? 0xff : static_cast<__mmask8>((1u << (n - i)) - 1);
      __m512i y = _mm512_maskz_loadu_epi64(lanes, keys + i);
      y = _mm512_mullo_epi64(_mm512_xor_si512(_mm512_slli_epi64(y, 4), mask), multiplier);
      y = fold(_mm512_mullo_epi64(fold(y), multiplier));
      _mm512_mask_storeu_epi64(p + i, lanes, _mm512_mullo_epi64(y, primary));
    }
  }
  // 0x28 is the truth table of (a ^ b) & c.
  COUA_NOMINATE static std::uint32_t eight(const std::uint64_t* bucket, std::uint64_t want,
                                           std::uint64_t mask) noexcept {
    const __m512i differs = _mm512_ternarylogic_epi64(
        _mm512_loadu_si512(bucket), _mm512_set1_epi64(static_cast<long long>(want)),
        _mm512_set1_epi64(static_cast<long long>(mask)), 0x28);
    return _mm512_testn_epi64_mask(differs, differs);
  }
  COUA_NOMINATE static std::uint32_t four(const std::uint64_t* bucket, std::uint64_t want,
                                          std::uint64_t mask) noexcept {
    const __m256i differs =
        _mm256_ternarylogic_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bucket)),
                                  _mm256_set1_epi64x(static_cast<long long>(want)),
                                  _mm256_set1_epi64x(static_cast<long long>(mask)), 0x28);
    return _mm256_testn_epi64_mask(differs, differs);
  }
  template <class Layout>
  [[gnu::always_inline]] static std::uint32_t find(const std::uint64_t* bucket, std::uint64_t want,
                                                   std::uint64_t mask, Layout) noexcept {
    if constexpr (Layout::n_slots == 4) return four(bucket, want, mask);
    return eight(bucket, want, mask);
  }
};

// By distance, then by layout.
constexpr fib_kernels sets[] = {
    fib_kernel<avx512_match, packed8>::far(isa::avx512),
    fib_kernel<avx512_match, packed4>::far(isa::avx512),
    fib_kernel<avx512_match, wide8>::far(isa::avx512),
    fib_kernel<avx512_match, packed8>::near(isa::avx512),
    fib_kernel<avx512_match, packed4>::near(isa::avx512),
    fib_kernel<avx512_match, wide8>::near(isa::avx512),
};

}  // namespace

const fib_kernels* avx512_fib_kernels() { return sets; }

}  // namespace coua::simd
