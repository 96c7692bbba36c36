// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "simd/fib_lookup/near_kernel.h"
#include "simd/fib_lookup/sets.h"

namespace coua::simd {
namespace {

struct avx512_match {
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
    fib_kernel<avx512_match, packed8>::set(isa::avx512),
    fib_kernel<avx512_match, packed4>::set(isa::avx512),
    fib_kernel<avx512_match, wide8>::set(isa::avx512),
    near_kernel<avx512_match, packed8>::set(isa::avx512),
    near_kernel<avx512_match, packed4>::set(isa::avx512),
    near_kernel<avx512_match, wide8>::set(isa::avx512),
};

}  // namespace

const fib_kernels* avx512_fib_kernels() { return sets; }

}  // namespace coua::simd
