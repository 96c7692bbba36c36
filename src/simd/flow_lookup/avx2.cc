// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "simd/flow_lookup/kernel_sets.h"
#include "simd/flow_lookup/probe_impl.h"
#include "simd/flow_lookup/sets.h"

namespace coua::simd {
namespace {

struct avx2_pair_match {
  static constexpr const char* name = "avx2";
  static constexpr std::size_t few_keys = 16;
  /// Without timers a pair is its tag. With them, the tag less the wanted one must be 0, and the
  /// timer less now + 1 at most 1,023: these bits of the two differences must all be 0.
  template <bool Timed>
  COUA_FLOW_NOMINATE static std::uint32_t find(const flow_line& line, std::uint32_t tag,
                                               std::uint64_t now) noexcept {
    static_assert(flow_units_max == 1024);
    constexpr std::uint32_t must_be_0 = (0xffffu & ~(flow_units_max - 1)) << 16 | 0xffff;
    const std::uint32_t low = Timed ? (static_cast<std::uint32_t>(now) + 1) << 16 | tag : tag;
    const __m256i pairs = _mm256_load_si256(reinterpret_cast<const __m256i*>(line.pairs));
    const __m256i wanted = _mm256_set1_epi32(static_cast<int>(low));
    __m256i equal;
    if constexpr (Timed) {
      const __m256i rest = _mm256_and_si256(_mm256_sub_epi16(pairs, wanted),
                                            _mm256_set1_epi32(static_cast<int>(must_be_0)));
      equal = _mm256_cmpeq_epi32(rest, _mm256_setzero_si256());
    } else {
      equal = _mm256_cmpeq_epi32(pairs, wanted);
    }
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(equal)));
  }
};

template <class Prune, class Expiry, class Sync, class Shape>
using avx2_steps = flow_steps<Prune, Expiry, Sync, Shape, avx2_pair_match>;

constexpr auto flow_sets = flow_kernel_sets<avx2_steps>::make();

}  // namespace

const flow_kernels& avx2_flow_kernels(flow_kind kind, unsigned shape) {
  return flow_sets[flow_kernel_sets<avx2_steps>::index(kind, static_cast<flow_shapes>(shape))];
}

flow_probe_kernel avx2_flow_probes() { return &flow_probes<avx2_pair_match>::run; }

}  // namespace coua::simd
