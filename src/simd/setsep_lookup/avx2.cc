// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "simd/setsep_lookup/kernel_impl.h"
#include "simd/setsep_lookup/single_words.h"

namespace coua::simd {
namespace {

struct words8 {
  static constexpr std::size_t lanes = 8;
  __m256i words;

#define COUA_OP COUA_SETSEP_INLINE
  COUA_OP static words8 all(std::uint32_t word) noexcept {
    return {_mm256_set1_epi32(static_cast<int>(word))};
  }
  COUA_OP static words8 load(const std::uint32_t* from) noexcept {
    return {_mm256_load_si256(reinterpret_cast<const __m256i*>(from))};
  }
  COUA_OP void store(std::uint32_t* to) const noexcept {
    _mm256_store_si256(reinterpret_cast<__m256i*>(to), words);
  }
  COUA_OP words8 operator+(words8 other) const noexcept {
    return {_mm256_add_epi32(words, other.words)};
  }
  COUA_OP words8 operator-(words8 other) const noexcept {
    return {_mm256_sub_epi32(words, other.words)};
  }
  COUA_OP words8 operator*(words8 other) const noexcept {
    return {_mm256_mullo_epi32(words, other.words)};
  }
  COUA_OP words8 operator&(words8 other) const noexcept {
    return {_mm256_and_si256(words, other.words)};
  }
  COUA_OP words8 operator|(words8 other) const noexcept {
    return {_mm256_or_si256(words, other.words)};
  }
  template <unsigned Bits>
  COUA_OP words8 right() const noexcept {
    return {_mm256_srli_epi32(words, Bits)};
  }
  COUA_OP words8 right(words8 bits) const noexcept {
    return {_mm256_srlv_epi32(words, bits.words)};
  }
  template <unsigned Bits>
  COUA_OP words8 left() const noexcept {
    return {_mm256_slli_epi32(words, Bits)};
  }
  COUA_OP words8 left(unsigned bits) const noexcept {
    return {_mm256_sll_epi32(words, _mm_cvtsi32_si128(static_cast<int>(bits)))};
  }
  /// The upper halves of the products.
  COUA_OP words8 upper_product(words8 other) const noexcept {
    const __m256i even = _mm256_mul_epu32(words, other.words);
    const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(words, 32), other.words);
    return {_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa)};
  }
  /// Numbers of blocks are below 2^31: compared as signed ones.
  COUA_OP words8 minus_unless_below(words8 limit, words8 much) const noexcept {
    const __m256i below = _mm256_cmpgt_epi32(limit.words, words);
    return {_mm256_sub_epi32(words, _mm256_andnot_si256(below, much.words))};
  }
  COUA_OP std::uint32_t equals(words8 other) const noexcept {
    return static_cast<unsigned>(
        _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(words, other.words))));
  }
  COUA_OP static words8 pick(const std::uint32_t (&of)[4], words8 number) noexcept {
    const __m256i four =
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(of)));
    return {_mm256_permutevar8x32_epi32(four, number.words)};
  }

  COUA_OP static words8 words_at(const std::uint8_t* from, const std::uint32_t* at) noexcept {
    const __m128i low = four_words(from, at), high = four_words(from, at + 4);
    return {_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1)};
  }
  /// Of the words of 64 bits the lower halves; and those after a shift to the right.
  COUA_OP static void pairs_at(const std::uint8_t* from, const std::uint32_t* at, unsigned bits,
                               words8& first, words8& second) noexcept {
    const __m128i shift = _mm_cvtsi32_si128(static_cast<int>(bits));
    const __m256i a = four_pairs(from, at), b = four_pairs(from, at + 4);
    first = lower_halves(a, b);
    second = lower_halves(_mm256_srl_epi64(a, shift), _mm256_srl_epi64(b, shift));
  }
  COUA_OP static words8 lower_halves(__m256i a, __m256i b) noexcept {
    const __m256 both = _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88);
    return {_mm256_permute4x64_epi64(_mm256_castps_si256(both), 0xd8)};
  }

  /// A matrix of 4 x 4 words is turned in either half: lane 4 * i + j is key 2 * j + i.
  COUA_OP static void load_hashes(const setsep::key_hash* from, words8& step, words8& place,
                                  words8& low, words8& base) noexcept {
    // No array: the compiler would write it to memory.
    const auto* two = reinterpret_cast<const __m256i*>(from);
    const __m256i keys0 = _mm256_loadu_si256(two), keys2 = _mm256_loadu_si256(two + 1);
    const __m256i keys4 = _mm256_loadu_si256(two + 2), keys6 = _mm256_loadu_si256(two + 3);
    const __m256i a = _mm256_unpacklo_epi32(keys0, keys2);
    const __m256i b = _mm256_unpacklo_epi32(keys4, keys6);
    const __m256i c = _mm256_unpackhi_epi32(keys0, keys2);
    const __m256i d = _mm256_unpackhi_epi32(keys4, keys6);
    step.words = _mm256_unpacklo_epi64(a, b);
    place.words = _mm256_unpackhi_epi64(a, b);
    low.words = _mm256_unpacklo_epi64(c, d);
    base.words = _mm256_unpackhi_epi64(c, d);
  }
  /// 0 where `failed`, whose bits it returns in the order of the keys.
  COUA_OP std::uint32_t store_values(std::uint16_t* to, std::uint32_t failed) const noexcept {
    const __m256i turned = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i lane_bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i hit = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(failed)), lane_bits);
    const __m256i fails = _mm256_permutevar8x32_epi32(_mm256_cmpeq_epi32(hit, lane_bits), turned);
    const __m256i values = _mm256_andnot_si256(fails, _mm256_permutevar8x32_epi32(words, turned));
    const __m256i packed =
        _mm256_permute4x64_epi64(_mm256_packus_epi32(values, values), 0b00001000);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(packed));
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(fails)));
  }
#undef COUA_OP
};

}  // namespace

const setsep_kernels avx2_setsep_kernels = setsep_stages<words8>::set(isa::avx2);

}  // namespace coua::simd
