// SPDX-License-Identifier: Apache-2.0
#include <emmintrin.h>

#include "simd/flow_lookup/kernel_impl.h"
#include "simd/flow_lookup/sets.h"

namespace coua::simd {
namespace {

struct sse2_match {
  static constexpr const char* name = "sse2";
  /// Tags are the even lanes of 16 bits, timers the odd ones. A lane of tags becomes 0 where the
  /// tag agrees, a lane of timers where at most 1,023 units lie between now + 1 and the timer.
  template <bool Timed>
  COUA_FLOW_NOMINATE static std::uint32_t find(const flow_line& line, std::uint32_t tag,
                                               std::uint64_t now) noexcept {
    const auto* halves = reinterpret_cast<const __m128i*>(line.pairs);
    const std::uint32_t low = Timed ? (static_cast<std::uint32_t>(now) + 1) << 16 | tag : tag;
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(low));
    const auto agrees = [&](const __m128i* half) {
      const __m128i pairs = _mm_load_si128(half);
      if constexpr (!Timed) return _mm_cmpeq_epi16(pairs, wanted);
      const __m128i slack =
          _mm_set1_epi32(static_cast<int>(std::uint32_t{flow_units_max - 1} << 16));
      return _mm_cmpeq_epi16(_mm_subs_epu16(_mm_sub_epi16(pairs, wanted), slack),
                             _mm_setzero_si128());
    };
    const auto lanes = static_cast<std::uint32_t>(
        _mm_movemask_epi8(_mm_packs_epi16(agrees(halves), agrees(halves + 1))));
    return (Timed ? lanes & lanes >> 1 : lanes) & 0x5555;
  }
};

constexpr auto sets = flow_kernel_sets<sse2_match>::make();

}  // namespace

const flow_kernels& sse2_flow_kernels(flow_kind kind, unsigned shape) {
  return sets[flow_kernel_sets<sse2_match>::index(kind, static_cast<flow_shapes>(shape))];
}

}  // namespace coua::simd
