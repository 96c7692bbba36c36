// SPDX-License-Identifier: Apache-2.0
//
// Four words of 32 or 64 bits from four offsets, in a register.
#pragma once

#include <immintrin.h>

#include "simd/setsep_lookup/kernel_impl.h"

namespace coua::simd {
namespace {

COUA_SETSEP_INLINE int word_at(const std::uint8_t* from, std::uint32_t at) noexcept {
  int word;
  std::memcpy(&word, from + at, sizeof word);
  return word;
}
COUA_SETSEP_INLINE __m128i four_words(const std::uint8_t* from, const std::uint32_t* at) noexcept {
  __m128i all = _mm_cvtsi32_si128(word_at(from, at[0]));
  all = _mm_insert_epi32(all, word_at(from, at[1]), 1);
  all = _mm_insert_epi32(all, word_at(from, at[2]), 2);
  return _mm_insert_epi32(all, word_at(from, at[3]), 3);
}

COUA_SETSEP_INLINE __m128i two_pairs(const std::uint8_t* from, std::uint32_t first,
                                     std::uint32_t second) noexcept {
  long long word;
  std::memcpy(&word, from + second, sizeof word);
  const __m128i all = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + first));
  return _mm_insert_epi64(all, word, 1);
}
COUA_SETSEP_INLINE __m256i four_pairs(const std::uint8_t* from, const std::uint32_t* at) noexcept {
  const __m128i low = two_pairs(from, at[0], at[1]), high = two_pairs(from, at[2], at[3]);
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

}  // namespace
}  // namespace coua::simd
