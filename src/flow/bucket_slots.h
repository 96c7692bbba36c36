// SPDX-License-Identifier: Apache-2.0
//
// Which slots of a bucket the writer is looking for: bit i stands for slot i. Compared all at once,
// by SSE2 where there is one (it is part of every x86-64 machine).
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "simd/flow_lookup/line.h"
#include "simd/flow_lookup/sets.h"

namespace coua {

class bucket_slots {
 public:
  /// Readers may renew timers meanwhile: a caller that relies on a timer loads its pair again.
  COUA_FLOW_NOMINATE static std::uint32_t with_tag(const simd::flow_line& line, std::uint32_t tag) {
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag)), mask = _mm_set1_epi32(0xffff);
    return as_mask(_mm_cmpeq_epi32(_mm_and_si128(half(line, 0), mask), wanted),
                   _mm_cmpeq_epi32(_mm_and_si128(half(line, 1), mask), wanted));
#else
    return each(line, [tag](std::uint32_t pair) { return (pair & 0xffff) == tag; });
#endif
  }
  COUA_FLOW_NOMINATE static std::uint32_t empty(const simd::flow_line& line) {
#if defined(__SSE2__)
    const __m128i zero = _mm_setzero_si128();
    return as_mask(_mm_cmpeq_epi32(half(line, 0), zero), _mm_cmpeq_epi32(half(line, 1), zero));
#else
    return each(line, [](std::uint32_t pair) { return pair == 0; });
#endif
  }
  /// Entries that expired, and some of the empty slots.
  COUA_FLOW_NOMINATE static std::uint32_t invisible(const simd::flow_line& line,
                                                    std::uint64_t now) {
#if defined(__SSE2__)
    return ~as_mask(visible(half(line, 0), now), visible(half(line, 1), now)) & all;
#else
    return each(line, [now](std::uint32_t pair) { return simd::units_left(pair, now) == 0; });
#endif
  }

 private:
  static constexpr std::uint32_t all = (1u << simd::flow_line::n_slots) - 1;
#if defined(__SSE2__)
  // Always inline: what the sanitizer must not look into includes them.
  [[gnu::always_inline]] static __m128i half(const simd::flow_line& line, int which) {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(line.pairs) + which);
  }
  [[gnu::always_inline]] static __m128i visible(__m128i pairs, std::uint64_t now) {
    const auto next = (static_cast<std::uint32_t>(now) + 1) << 16;
    const __m128i ahead = _mm_sub_epi16(pairs, _mm_set1_epi32(static_cast<int>(next)));
    return _mm_cmplt_epi32(_mm_srli_epi32(ahead, 16), _mm_set1_epi32(simd::flow_units_max));
  }
  [[gnu::always_inline]] static std::uint32_t as_mask(__m128i low, __m128i high) {
    const __m128i words = _mm_packs_epi32(low, high);
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(words, words))) & all;
  }
#else
  template <typename Test>
  static std::uint32_t each(const simd::flow_line& line, Test test) {
    std::uint32_t slots = 0;
    for (unsigned i = 0; i < simd::flow_line::n_slots; ++i) {
      slots |= std::uint32_t{test(load_relaxed(line.pairs + i))} << i;
    }
    return slots;
  }
#endif
};

}  // namespace coua
