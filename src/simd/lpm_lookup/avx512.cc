// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "simd/lpm_lookup/kernels.h"

namespace coua::simd {
namespace {

[[gnu::always_inline]] inline __m512i each(std::uint64_t word) noexcept {
  return _mm512_set1_epi64(static_cast<long long>(word));
}
[[gnu::always_inline]] inline __m512i each_half(unsigned word) noexcept {
  return _mm512_set1_epi32(static_cast<int>(word));
}
[[gnu::always_inline]] inline __m512i joined(__m256i low, __m256i high) noexcept {
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
/// The first n of 16 lanes.
[[gnu::always_inline]] inline __mmask16 first_lanes(std::size_t n) noexcept {
  return static_cast<__mmask16>(n >= 16 ? 0xffff : (1U << n) - 1);
}
/// Word `at` of some slots. `index`: of each slot's first word.
[[gnu::always_inline]] inline __m512i gathered(const lpm_view& table, __m256i index, __mmask8 which,
                                               unsigned at) noexcept {
  const auto* const words = static_cast<const std::uint64_t*>(table.slots);
  return _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), which, index, words + at, 8);
}

/// What is known of eight slots.
struct slot_words {
  __m512i end;  // the length above the handle
  __m256i parent;
  __mmask8 beyond;  // which are prefixes of other addresses
};

struct ipv4_lanes {
  alignas(64) std::uint32_t numbers[lpm_batch_max];

  /// 16 of them, and where they stand in the root. Lanes that are none are 0.
  [[gnu::always_inline]] __m512i take(const void* from, std::size_t at, __mmask16 there,
                                      unsigned root_bits) noexcept {
    const __m512i all =
        _mm512_maskz_loadu_epi32(there, static_cast<const std::uint32_t*>(from) + at);
    _mm512_store_si512(numbers + at, all);
    return _mm512_srl_epi32(all, _mm_cvtsi32_si128(static_cast<int>(32 - root_bits)));
  }
  /// Of 16 addresses a byte each: byte b is 24 - 8 b bits up.
  [[gnu::always_inline]] __m512i bytes(std::size_t at, __m512i which) const noexcept {
    const __m512i shift = _mm512_sub_epi32(each_half(24), _mm512_slli_epi32(which, 3));
    const __m512i all = _mm512_srlv_epi32(_mm512_load_si512(numbers + at), shift);
    return _mm512_and_si512(all, each_half(0xff));
  }
  [[gnu::always_inline]] slot_words look(const lpm_view& table, std::size_t at, __m256i slot,
                                         __mmask8 which) const noexcept {
    const __m256i index = _mm256_slli_epi32(slot, 1);
    const __m512i end = gathered(table, index, which, 1);
    const __m512i start = gathered(table, index, which, 0);
    const __m256i number = _mm256_load_si256(reinterpret_cast<const __m256i*>(numbers + at));
    const __m256i differ = _mm256_xor_si256(number, _mm512_cvtepi64_epi32(start));
    const __m512i host_bits = _mm512_sub_epi64(each(32), _mm512_srli_epi64(end, 56));
    const __m512i rest = _mm512_srlv_epi64(_mm512_cvtepu32_epi64(differ), host_bits);
    return {end, _mm512_cvtepi64_epi32(_mm512_srli_epi64(start, 32)),
            _mm512_mask_test_epi64_mask(which, rest, rest)};
  }
};

struct ipv6_lanes {
  alignas(64) std::uint64_t high[lpm_batch_max], low[lpm_batch_max];

  [[gnu::always_inline]] __m512i take(const void* from, std::size_t at, __mmask16 there,
                                      unsigned root_bits) noexcept {
    const __m256i first = take_eight(from, at, there & 0xff, root_bits);
    const __m256i second = take_eight(from, at + 8, there >> 8, root_bits);
    return joined(first, second);
  }
  [[gnu::always_inline]] __m512i bytes(std::size_t at, __m512i which) const noexcept {
    return joined(eight_bytes(at, _mm512_castsi512_si256(which)),
                  eight_bytes(at + 8, _mm512_extracti64x4_epi64(which, 1)));
  }
  [[gnu::always_inline]] slot_words look(const lpm_view& table, std::size_t at, __m256i slot,
                                         __mmask8 which) const noexcept {
    const __m256i index = _mm256_slli_epi32(slot, 2);
    const __m512i end = gathered(table, index, which, 3);
    const __m512i length = _mm512_srli_epi64(end, 56);
    // A shift by 64 leaves nothing.
    const __m512i high_bits = _mm512_sub_epi64(each(64), _mm512_min_epu64(length, each(64)));
    const __m512i low_bits = _mm512_sub_epi64(each(128), _mm512_max_epu64(length, each(64)));
    const __m512i rest = _mm512_or_si512(
        _mm512_srlv_epi64(differ(high + at, gathered(table, index, which, 0)), high_bits),
        _mm512_srlv_epi64(differ(low + at, gathered(table, index, which, 1)), low_bits));
    return {end, _mm512_cvtepi64_epi32(gathered(table, index, which, 2)),
            _mm512_mask_test_epi64_mask(which, rest, rest)};
  }

 private:
  [[gnu::always_inline]] __m256i take_eight(const void* from, std::size_t at, unsigned there,
                                            unsigned root_bits) noexcept {
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    const auto* const words = static_cast<const std::uint64_t*>(from) + 2 * at;
    // Two words for each that is there.
    const std::uint32_t all = _pdep_u32(there, 0x5555) * 3;
    const __m512i first = _mm512_maskz_loadu_epi64(static_cast<__mmask8>(all), words);
    const __m512i second = _mm512_maskz_loadu_epi64(static_cast<__mmask8>(all >> 8), words + 8);
    const __m512i upper = _mm512_permutex2var_epi64(first, even, second);
    _mm512_store_si512(high + at, upper);
    _mm512_store_si512(low + at, _mm512_permutex2var_epi64(first, odd, second));
    const __m128i shift = _mm_cvtsi32_si128(static_cast<int>(64 - root_bits));
    return _mm512_cvtepi64_epi32(_mm512_srl_epi64(upper, shift));
  }
  [[gnu::always_inline]] __m256i eight_bytes(std::size_t at, __m256i which) const noexcept {
    const __m512i byte = _mm512_cvtepu32_epi64(which);
    const __mmask8 is_low = _mm512_test_epi64_mask(byte, each(8));
    const __m512i word =
        _mm512_mask_blend_epi64(is_low, _mm512_load_si512(high + at), _mm512_load_si512(low + at));
    const __m512i up = _mm512_slli_epi64(_mm512_and_si512(byte, each(7)), 3);
    const __m512i all = _mm512_srlv_epi64(word, _mm512_sub_epi64(each(56), up));
    return _mm512_cvtepi64_epi32(_mm512_and_si512(all, each(0xff)));
  }
  [[gnu::always_inline]] static __m512i differ(const std::uint64_t* words,
                                               __m512i prefix) noexcept {
    return _mm512_xor_si512(_mm512_load_si512(words), prefix);
  }
};

/// All vectors take a step before any takes the next, so that their loads overlap.
template <class Lanes>
struct lpm_batch {
  static constexpr std::size_t n_eights = lpm_batch_max / 8;

  [[gnu::always_inline]] lpm_batch(const lpm_view& table_in, std::size_t n_in) noexcept
      : table(table_in), n(n_in) {}

  const lpm_view& table;
  const std::size_t n;
  Lanes addresses;
  alignas(64) std::uint32_t words[lpm_batch_max];  // entries, and in the end slots
  alignas(64) std::uint64_t ends[lpm_batch_max];   // lengths above handles

  [[gnu::always_inline]] void start(const void* from) noexcept {
    for (std::size_t at = 0; at < n; at += 16) {
      const __mmask16 there = first_lanes(n - at);
      const __m512i index = addresses.take(from, at, there, table.root_bits);
      const __m512i none = _mm512_setzero_si512();  // slot 0: it covers what other lanes hold, 0
      _mm512_store_si512(words + at,
                         _mm512_mask_i32gather_epi32(none, there, index, table.root, 4));
    }
  }

  /// False: a group that is not in the piece.
  [[gnu::always_inline]] bool descend() noexcept {
    const __m512i n_groups = each_half(table.n_groups), group_bits = each_half((1 << 27) - 1);
    unsigned any;
    do {
      any = 0;
      for (std::size_t at = 0; at < n; at += 16) {
        const __m512i word = _mm512_load_si512(words + at);
        const __mmask16 is_group = _mm512_movepi32_mask(word);
        const __m512i group = _mm512_and_si512(word, group_bits);
        if (_mm512_mask_cmpge_epu32_mask(is_group, group, n_groups) != 0) [[unlikely]]
          return false;
        const __m512i which = _mm512_srli_epi32(_mm512_slli_epi32(word, 1), 28);
        const __m512i index =
            _mm512_or_si512(_mm512_slli_epi32(group, 8), addresses.bytes(at, which));
        const __m512i next = _mm512_mask_i32gather_epi32(word, is_group, index, table.groups, 4);
        _mm512_store_si512(words + at, next);
        any |= _mm512_movepi32_mask(next);
      }
    } while (any != 0);
    return true;
  }

  /// False: a slot that is not in the piece.
  [[gnu::always_inline]] bool ascend() noexcept {
    const __m256i n_slots = _mm256_set1_epi32(static_cast<int>(table.n_slots));
    __m256i parents[n_eights];
    __mmask8 open[n_eights];  // whose slot does not cover the address
    unsigned any = 0;
    const auto look = [&](std::size_t at, __m256i slot, __mmask8 which)
        __attribute__((always_inline)) {
      if (_mm256_mask_cmpge_epu32_mask(which, slot, n_slots) != 0) [[unlikely]]
        return false;
      const slot_words found = addresses.look(table, at, slot, which);
      _mm512_mask_store_epi64(ends + at, which, found.end);
      _mm256_mask_store_epi32(words + at, which, slot);
      parents[at / 8] = found.parent;
      open[at / 8] = found.beyond;
      any |= found.beyond;
      return true;
    };
    for (std::size_t at = 0; at < n; at += 8) {
      const __m256i slot = _mm256_load_si256(reinterpret_cast<const __m256i*>(words + at));
      if (!look(at, slot, 0xff)) return false;
    }
    while (any != 0) {
      any = 0;
      for (std::size_t at = 0; at < n; at += 8) {
        if (open[at / 8] != 0 && !look(at, parents[at / 8], open[at / 8])) return false;
      }
    }
    return true;
  }

  /// What becomes of the addresses that no longer prefix covers, and the answers.
  [[gnu::always_inline]] bool finish(std::uint32_t* slots, std::uint64_t* handles) noexcept {
    for (std::size_t at = 0; at < n; at += 16) {
      const __mmask16 there = first_lanes(n - at);
      const __m512i slot = _mm512_load_si512(words + at);
      const __mmask16 none = _mm512_mask_testn_epi32_mask(there, slot, slot);
      if (none != 0 && !take_for_all(at, none)) [[unlikely]]
        return false;
      _mm512_mask_storeu_epi32(slots + at, there, _mm512_load_si512(words + at));
      for (std::size_t half = at; half < n && half < at + 16; half += 8) {
        const __m512i handle =
            _mm512_and_si512(_mm512_load_si512(ends + half), each((std::uint64_t{1} << 56) - 1));
        _mm512_mask_storeu_epi64(handles + half, static_cast<__mmask8>(first_lanes(n - half)),
                                 handle);
      }
    }
    return true;
  }

 private:
  [[gnu::always_inline]] bool take_for_all(std::size_t at, unsigned which) noexcept {
    __atomic_signal_fence(__ATOMIC_ACQUIRE);  // behind the loads that found nothing
    const std::uint32_t slot = __atomic_load_n(table.for_all, __ATOMIC_ACQUIRE);
    if (slot >= table.n_slots) return false;
    const __m256i all = _mm256_set1_epi32(static_cast<int>(slot));
    const __m512i end = addresses.look(table, at, all, 0xff).end;
    _mm512_mask_store_epi32(words + at, static_cast<__mmask16>(which), joined(all, all));
    _mm512_mask_store_epi64(ends + at, static_cast<__mmask8>(which), end);
    _mm512_mask_store_epi64(ends + at + 8, static_cast<__mmask8>(which >> 8), end);
    return true;
  }
};

template <class Lanes>
[[gnu::always_inline]] inline bool look_up(const lpm_view& table, const void* addresses,
                                           std::size_t n, std::uint32_t* slots,
                                           std::uint64_t* handles) noexcept {
  lpm_batch<Lanes> batch(table, n);
  batch.start(addresses);
  return batch.descend() && batch.ascend() && batch.finish(slots, handles);
}

}  // namespace

bool avx512_lpm_ipv4(const lpm_view& table, const void* addresses, std::size_t n,
                     std::uint32_t* slots, std::uint64_t* handles) noexcept {
  return look_up<ipv4_lanes>(table, addresses, n, slots, handles);
}

bool avx512_lpm_ipv6(const lpm_view& table, const void* addresses, std::size_t n,
                     std::uint32_t* slots, std::uint64_t* handles) noexcept {
  return look_up<ipv6_lanes>(table, addresses, n, slots, handles);
}

}  // namespace coua::simd
