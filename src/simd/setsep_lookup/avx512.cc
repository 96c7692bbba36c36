// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "simd/setsep_lookup/kernel_impl.h"
#include "simd/setsep_lookup/single_words.h"

namespace coua::simd {
namespace {

struct words16 {
  static constexpr std::size_t lanes = 16;
  __m512i words;

#define COUA_OP COUA_SETSEP_INLINE
  COUA_OP static words16 all(std::uint32_t word) noexcept {
    return {_mm512_set1_epi32(static_cast<int>(word))};
  }
  COUA_OP static words16 load(const std::uint32_t* from) noexcept {
    return {_mm512_load_si512(from)};
  }
  COUA_OP void store(std::uint32_t* to) const noexcept { _mm512_store_si512(to, words); }
  COUA_OP words16 operator+(words16 other) const noexcept {
    return {_mm512_add_epi32(words, other.words)};
  }
  COUA_OP words16 operator-(words16 other) const noexcept {
    return {_mm512_sub_epi32(words, other.words)};
  }
  COUA_OP words16 operator*(words16 other) const noexcept {
    return {_mm512_mullo_epi32(words, other.words)};
  }
  COUA_OP words16 operator&(words16 other) const noexcept {
    return {_mm512_and_si512(words, other.words)};
  }
  COUA_OP words16 operator|(words16 other) const noexcept {
    return {_mm512_or_si512(words, other.words)};
  }
  template <unsigned Bits>
  COUA_OP words16 right() const noexcept {
    return {_mm512_srli_epi32(words, Bits)};
  }
  COUA_OP words16 right(words16 bits) const noexcept {
    return {_mm512_srlv_epi32(words, bits.words)};
  }
  template <unsigned Bits>
  COUA_OP words16 left() const noexcept {
    return {_mm512_slli_epi32(words, Bits)};
  }
  COUA_OP words16 left(unsigned bits) const noexcept {
    return {_mm512_sll_epi32(words, _mm_cvtsi32_si128(static_cast<int>(bits)))};
  }
  /// The upper halves of the products.
  COUA_OP words16 upper_product(words16 other) const noexcept {
    const __m512i even = _mm512_mul_epu32(words, other.words);
    const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(words, 32), other.words);
    return {_mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd)};
  }
  COUA_OP words16 minus_unless_below(words16 limit, words16 much) const noexcept {
    const __mmask16 is = _mm512_cmpge_epu32_mask(words, limit.words);
    return {_mm512_mask_sub_epi32(words, is, words, much.words)};
  }
  COUA_OP std::uint32_t equals(words16 other) const noexcept {
    return _mm512_cmpeq_epi32_mask(words, other.words);
  }
  COUA_OP static words16 pick(const std::uint32_t (&of)[4], words16 number) noexcept {
    const __m512i four =
        _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(of)));
    return {_mm512_permutexvar_epi32(number.words, four)};
  }

  COUA_OP static words16 words_at(const std::uint8_t* from, const std::uint32_t* at) noexcept {
    const __m256i low = eight_words(from, at), high = eight_words(from, at + 8);
    return {_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1)};
  }
  /// Of the words of 64 bits the lower halves; and those after a shift to the right.
  COUA_OP static void pairs_at(const std::uint8_t* from, const std::uint32_t* at, unsigned bits,
                               words16& first, words16& second) noexcept {
    const __m512i evens =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m128i shift = _mm_cvtsi32_si128(static_cast<int>(bits));
    const __m512i a = eight_pairs(from, at), b = eight_pairs(from, at + 8);
    first.words = _mm512_permutex2var_epi32(a, evens, b);
    second.words =
        _mm512_permutex2var_epi32(_mm512_srl_epi64(a, shift), evens, _mm512_srl_epi64(b, shift));
  }
  COUA_OP static __m256i eight_words(const std::uint8_t* from, const std::uint32_t* at) noexcept {
    const __m128i low = four_words(from, at), high = four_words(from, at + 4);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
  }
  COUA_OP static __m512i eight_pairs(const std::uint8_t* from, const std::uint32_t* at) noexcept {
    const __m256i low = four_pairs(from, at), high = four_pairs(from, at + 4);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }

  /// A matrix of 4 x 4 keys is turned: lane 4 * i + j is key 4 * j + i.
  COUA_OP static void load_hashes(const setsep::key_hash* from, words16& step, words16& place,
                                  words16& low, words16& base) noexcept {
    // No array: the compiler would write it to memory.
    const __m512i keys0 = _mm512_loadu_si512(from), keys4 = _mm512_loadu_si512(from + 4);
    const __m512i keys8 = _mm512_loadu_si512(from + 8), keys12 = _mm512_loadu_si512(from + 12);
    const __m512i a = _mm512_unpacklo_epi32(keys0, keys4);
    const __m512i b = _mm512_unpacklo_epi32(keys8, keys12);
    const __m512i c = _mm512_unpackhi_epi32(keys0, keys4);
    const __m512i d = _mm512_unpackhi_epi32(keys8, keys12);
    step.words = _mm512_unpacklo_epi64(a, b);
    place.words = _mm512_unpackhi_epi64(a, b);
    low.words = _mm512_unpacklo_epi64(c, d);
    base.words = _mm512_unpackhi_epi64(c, d);
  }
  /// 0 where `failed`, whose bits it returns in the order of the keys.
  COUA_OP std::uint32_t store_values(std::uint16_t* to, std::uint32_t failed) const noexcept {
    const __m512i turned = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i fails = _mm512_permutexvar_epi32(
        turned, _mm512_maskz_set1_epi32(static_cast<__mmask16>(failed), -1));
    const __m512i values = _mm512_permutexvar_epi32(turned, words);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_cvtepi32_epi16(_mm512_andnot_si512(fails, values)));
    return _mm512_movepi32_mask(fails);
  }
#undef COUA_OP
};

}  // namespace

const setsep_kernels avx512_setsep_kernels = setsep_stages<words16>::set(isa::avx512);

}  // namespace coua::simd
