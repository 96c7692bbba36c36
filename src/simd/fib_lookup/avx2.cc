// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "simd/fib_lookup/near_kernel.h"
#include "simd/fib_lookup/sets.h"

namespace coua::simd {
namespace {

struct avx2_match {
  COUA_NOMINATE static std::uint32_t four(const std::uint64_t* bucket, std::uint64_t want,
                                          std::uint64_t mask) noexcept {
    const __m256i masked =
        _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bucket)),
                         _mm256_set1_epi64x(static_cast<long long>(mask)));
    const __m256i equal =
        _mm256_cmpeq_epi64(masked, _mm256_set1_epi64x(static_cast<long long>(want & mask)));
    return static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)));
  }
  template <class Layout>
  [[gnu::always_inline]] static std::uint32_t find(const std::uint64_t* bucket, std::uint64_t want,
                                                   std::uint64_t mask, Layout) noexcept {
    if constexpr (Layout::n_slots == 4) return four(bucket, want, mask);
    return four(bucket, want, mask) | four(bucket + 4, want, mask) << 4;
  }
};

// By distance, then by layout.
constexpr fib_kernels sets[] = {
    fib_kernel<avx2_match, packed8>::set(isa::avx2),
    fib_kernel<avx2_match, packed4>::set(isa::avx2),
    fib_kernel<avx2_match, wide8>::set(isa::avx2),
    near_kernel<avx2_match, packed8>::set(isa::avx2),
    near_kernel<avx2_match, packed4>::set(isa::avx2),
    near_kernel<avx2_match, wide8>::set(isa::avx2),
};

}  // namespace

const fib_kernels* avx2_fib_kernels() { return sets; }

}  // namespace coua::simd
