// SPDX-License-Identifier: Apache-2.0
//
// The step of a look-up that goes to every key, for tables with Bloom filters: primary buckets are
// compared with AVX-512, eight keys at a time.
//
// What is one load and one comparison per key stays so: the lines come in any order, and none
// should wait for another. All that follows from them is one instruction for eight keys: whether
// the filter sends a key on, which slot is the first of those nominated, where its entry lies, the
// lists.
#pragma once

#include <immintrin.h>

#include "simd/flow_lookup/steps.h"

namespace coua::simd {
namespace {

struct avx512_pair_match {
  static constexpr const char* name = "avx512";
  static constexpr std::size_t few_keys = SIZE_MAX;

  /// Of a line's pairs; without timers a pair is its tag. With them, the tag less the wanted one
  /// must be 0, and the timer less now + 1 at most 1,023: these bits of the differences must all be
  /// 0.
  template <bool Timed>
  COUA_FLOW_NOMINATE static __mmask8 compare(const flow_line& line, std::uint32_t wanted) noexcept {
    static_assert(flow_units_max == 1024);
    constexpr std::uint32_t must_be_0 = (0xffffu & ~(flow_units_max - 1)) << 16 | 0xffff;
    const __m256i pairs = _mm256_load_si256(reinterpret_cast<const __m256i*>(line.pairs));
    const __m256i low = _mm256_set1_epi32(static_cast<int>(wanted));
    if constexpr (Timed) {
      return _mm256_testn_epi32_mask(_mm256_sub_epi16(pairs, low),
                                     _mm256_set1_epi32(static_cast<int>(must_be_0)));
    } else {
      return _mm256_cmpeq_epi32_mask(pairs, low);
    }
  }
  template <bool Timed>
  [[gnu::always_inline]] static std::uint32_t next_unit(std::uint64_t now) noexcept {
    return Timed ? (static_cast<std::uint32_t>(now) + 1) << 16 : 0;
  }
  template <bool Timed>
  [[gnu::always_inline]] static std::uint32_t find(const flow_line& line, std::uint32_t tag,
                                                   std::uint64_t now) noexcept {
    return compare<Timed>(line, next_unit<Timed>(now) | tag);
  }
};

/// keyed_hash of eight keys of two words each.
class packed_hash {
 public:
  [[gnu::always_inline]] explicit packed_hash(const keyed_hash& hash) noexcept : secrets_(hash) {}
  [[gnu::always_inline]] __m512i operator()(__m512i first, __m512i second) const noexcept {
    const factor a = times(1, first), b = times(2, second);
    // The upper halves of the sum, and the carries of the lower ones.
    const __m512i some = _mm512_add_epi64(each(secrets_.low(0)), a.low);
    const __m512i all = _mm512_add_epi64(some, b.low);
    const __m512i one = each(1);
    __m512i x = _mm512_add_epi64(_mm512_add_epi64(each(secrets_.high(0)), a.high), b.high);
    x = _mm512_mask_add_epi64(x, _mm512_cmplt_epu64_mask(some, a.low), x, one);
    x = _mm512_mask_add_epi64(x, _mm512_cmplt_epu64_mask(all, b.low), x, one);
    x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 32)), each(secrets_.factor(0)));
    x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 29)), each(secrets_.factor(1)));
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, 32));
  }

 private:
  struct factor {
    __m512i low, high;
  };
  [[gnu::always_inline]] static __m512i each(std::uint64_t word) noexcept {
    return _mm512_set1_epi64(static_cast<long long>(word));
  }
  /// Secret i times a word, mod 2^128.
  [[gnu::always_inline]] factor times(unsigned i, __m512i word) const noexcept {
    const __m512i mask = each(0xffffffff), s = each(secrets_.low(i));
    const __m512i s_high = each(secrets_.low(i) >> 32), word_high = _mm512_srli_epi64(word, 32);
    const __m512i low = _mm512_mul_epu32(s, word), crossed = _mm512_mul_epu32(s_high, word);
    const __m512i other = _mm512_mul_epu32(s, word_high);
    const __m512i high = _mm512_mul_epu32(s_high, word_high);
    const __m512i middle = _mm512_add_epi64(crossed, _mm512_srli_epi64(low, 32));
    const __m512i rest = _mm512_add_epi64(other, _mm512_and_si512(middle, mask));
    const __m512i upper = _mm512_add_epi64(_mm512_add_epi64(high, _mm512_srli_epi64(middle, 32)),
                                           _mm512_srli_epi64(rest, 32));
    return {_mm512_mullo_epi64(s, word),
            _mm512_add_epi64(upper, _mm512_mullo_epi64(each(secrets_.high(i)), word))};
  }

  keyed_hash::of<2> secrets_;
};

template <expiry_policy Expiry, sync_policy Sync, class Shape>
struct flow_steps_avx512 : flow_steps<bloom, Expiry, Sync, Shape, avx512_pair_match> {
  using steps = flow_steps<bloom, Expiry, Sync, Shape, avx512_pair_match>;
  using steps::all_of, steps::entry_words, steps::fetch, steps::line_of, steps::one_line;

  static constexpr unsigned lanes = 8;
  static constexpr unsigned few_to_hash = 4;
  static_assert(flow_group::size % lanes == 0);

  /// Where nothing is fetched, and keys lie one behind the other, eight are hashed at once. Not
  /// where lines are fetched: to hash a key between two fetches costs nothing there. Nor a few: all
  /// that comes next waits for the hash, and a vector's multiplications take four times as long.
  using fetched = typename steps::fetched;
  template <fetched What>
  [[gnu::always_inline]] static void start(const flow_view& shared, flow_group& group,
                                           unsigned from, const std::uint8_t* keys,
                                           const std::uint64_t* hashes) noexcept {
    if constexpr (What == fetched::nothing && Shape::key_words == 2) {
      if (hashes == nullptr && from == 0 && shared.key_bytes == 16 && shared.key_stride == 16 &&
          shared.is_small && group.n > few_to_hash) {
        return start_packed(shared, group, keys);
      }
    }
    steps::template start<What>(shared, group, from, keys, hashes);
  }

  [[gnu::always_inline]] static void probe_homes(const flow_view& view,
                                                 flow_group& group) noexcept {
    const std::uint64_t now = Expiry::timed ? Sync::load(view.now) : 0;
    if constexpr (!Sync::concurrent) group.moves = *view.moves;
    const unsigned n = group.n;
    probed all = {0, 0, 0};
    unsigned at = 0;
    for (; at + lanes <= n; at += lanes) probe_some<true>(view, group, at, lanes, now, all);
    if (at < n) probe_some<false>(view, group, at, n - at, now, all);
    steps::fetch_seconds(view, group, all.n_seconds);
    group.now = now;
    group.n_found = all.n_found;
    group.n_seconds = all.n_seconds;
    group.unsure = all.changed >> flow_version_shift != 0 ? all_of(n) : 0;
  }

 private:
  struct probed {
    std::uint64_t changed;
    unsigned n_found, n_seconds;
  };

  /// Keys of two words. Those of the last lanes that are none lead anywhere.
  [[gnu::noinline]] static void start_packed(const flow_view& view, flow_group& group,
                                             const std::uint8_t* keys) noexcept {
    const packed_hash hash(*view.hash);
    const unsigned n = group.n;
    const __m512i n_buckets = each(view.n_buckets);
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    std::uint64_t* words = group.keys;
    for (unsigned i = 0; i < n; i += lanes, keys += 128, words += 16) {
      const std::uint32_t there = i + lanes <= n ? 0xffff : (1u << 2 * (n - i)) - 1;
      const __m512i low = _mm512_maskz_loadu_epi64(static_cast<__mmask8>(there), keys);
      const __m512i high = _mm512_maskz_loadu_epi64(static_cast<__mmask8>(there >> 8), keys + 64);
      _mm512_storeu_si512(words, low);
      _mm512_storeu_si512(words + 8, high);
      const __m512i hashes = hash(_mm512_permutex2var_epi64(low, even, high),
                                  _mm512_permutex2var_epi64(low, odd, high));
      _mm512_store_si512(group.hashes + i, hashes);
      _mm512_storeu_si512(group.homes + i, home_buckets(hashes, n_buckets));
    }
  }
  /// home_bucket() for less than 2^32 buckets.
  [[gnu::always_inline]] static __m512i home_buckets(__m512i hashes, __m512i n_buckets) noexcept {
    const __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(hashes, n_buckets), 32);
    const __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(hashes, 32), n_buckets);
    return _mm512_srli_epi64(_mm512_add_epi64(low, high), 32);
  }

  [[gnu::always_inline]] static __m512i each(std::uint64_t word) noexcept {
    return _mm512_set1_epi64(static_cast<long long>(word));
  }
  [[gnu::always_inline]] static __m512i each(const void* address) noexcept {
    return each(reinterpret_cast<std::uintptr_t>(address));
  }

  /// Keys `at` to `at + n` of a group. The lanes of a group that are no keys hold anything: they
  /// lead nowhere.
  template <bool Full>
  [[gnu::always_inline]] static void probe_some(const flow_view& view, flow_group& group,
                                                unsigned at, unsigned n, std::uint64_t now,
                                                probed& all) noexcept {
    const __m512i prints = fingerprints(_mm512_load_si512(group.hashes + at));
    alignas(32) std::uint32_t wanted[lanes];
    _mm256_store_si256(
        reinterpret_cast<__m256i*>(wanted),
        _mm256_or_si256(_mm512_cvtepi64_epi32(_mm512_and_si512(prints, each(0xffff))),
                        _mm256_set1_epi32(static_cast<int>(
                            avx512_pair_match::template next_unit<Expiry::timed>(now)))));

    __mmask8 nominated[lanes] = {};
    std::uint64_t filters[lanes] = {};
    const unsigned n_keys = Full ? lanes : n;
#pragma GCC unroll 8
    for (unsigned i = 0; i < n_keys; ++i) {
      const flow_line& line = line_of(view, group.homes[at + i]);
      const std::uint64_t meta = Sync::load(&line.meta);
      nominated[i] = avx512_pair_match::compare<Expiry::timed>(line, wanted[i]);
      keep_order();
      filters[i] = Sync::load(&line.filter);
      if constexpr (Sync::concurrent) {
        group.seen[at + i] = meta;
        all.changed |= meta ^ Sync::load(&line.meta);
      }
    }

    const __m128i slots = _mm_cvtsi64_si128(static_cast<long long>(joined(nominated)));
    const __mmask8 keys = static_cast<__mmask8>((1u << n_keys) - 1);
    const auto found = static_cast<__mmask8>(_mm_test_epi8_mask(slots, slots) & keys);
    const auto missing = static_cast<__mmask8>(~found & keys);
    const __m512i absent = _mm512_andnot_si512(vector_of(filters), traces(prints));
    const __mmask8 second = _mm512_mask_testn_epi64_mask(missing, absent, absent);

    const __m512i homes = _mm512_load_si512(group.homes + at);
    const __m512i where = _mm512_add_epi64(_mm512_slli_epi64(homes, 3), first_slots(slots));
    static_assert(flow_line::n_slots == 8 && sizeof(flow_line) == 64);
    _mm512_store_si512(group.where + at, where);
    // An entry, or a line that is in the cache already.
    const __m512i lines = _mm512_add_epi64(_mm512_slli_epi64(homes, 6), each(view.lines));
    const __m512i entries =
        _mm512_mask_add_epi64(lines, found, in_bytes(view, where), each(view.entries));
    if (!view.is_small) {
      fetch_all<Full>(entries, n);
      if constexpr (!one_line) {
        fetch_all<Full>(
            _mm512_mask_add_epi64(lines, found, entries, each(entry_words(view) * 8 - 1)), n);
      }
    }
    all.n_found = append(group.found, all.n_found, at, found);
    all.n_seconds = append(group.seconds, all.n_seconds, at, second);
  }

  // As in line.h and policies.h.

  [[gnu::always_inline]] static __m512i fingerprints(__m512i hashes) noexcept {
    const __m512i low = _mm512_and_si512(hashes, each(0xffffffff));
    const __mmask8 is_0 = _mm512_testn_epi64_mask(low, each(0xffff));
    return _mm512_mask_add_epi64(low, is_0, low, each(1));
  }
  [[gnu::always_inline]] static __m512i traces(__m512i prints) noexcept {
    const __m512i mask = each(63), bit = each(1);
    const auto bits = [&](unsigned from) __attribute__((always_inline)) {
      return _mm512_sllv_epi64(bit, _mm512_and_si512(_mm512_srli_epi64(prints, from), mask));
    };
    return _mm512_or_si512(_mm512_or_si512(bits(0), bits(6)), bits(16));
  }

  [[gnu::always_inline]] static std::uint64_t joined(const __mmask8* masks) noexcept {
    const __mmask16 a = _mm512_kunpackb(masks[1], masks[0]),
                    b = _mm512_kunpackb(masks[3], masks[2]);
    const __mmask16 c = _mm512_kunpackb(masks[5], masks[4]),
                    d = _mm512_kunpackb(masks[7], masks[6]);
    return _cvtmask64_u64(_mm512_kunpackd(_mm512_kunpackw(d, c), _mm512_kunpackw(b, a)));
  }
  [[gnu::always_inline]] static __m512i vector_of(const std::uint64_t* words) noexcept {
    const auto word = [&](unsigned i) __attribute__((always_inline)) {
      return static_cast<long long>(words[i]);
    };
    return _mm512_set_epi64(word(7), word(6), word(5), word(4), word(3), word(2), word(1), word(0));
  }
  /// Of each byte, the place of its lowest bit; anything where there is none. A power of two as a
  /// floating-point number has it as its exponent.
  [[gnu::always_inline]] static __m512i first_slots(__m128i slots) noexcept {
    const __m512i bytes = _mm512_cvtepu8_epi64(slots);
    const __m512i lowest = _mm512_and_si512(bytes, _mm512_sub_epi64(_mm512_setzero_si512(), bytes));
    const __m512i number = _mm512_castpd_si512(_mm512_cvtepi64_pd(lowest));
    return _mm512_sub_epi64(_mm512_srli_epi64(number, 52), each(1023));
  }
  [[gnu::always_inline]] static __m512i in_bytes(const flow_view& view, __m512i where) noexcept {
    if constexpr (one_line) return _mm512_slli_epi64(where, 5);
    return _mm512_mullo_epi64(where, each(entry_words(view) * 8));
  }
  template <bool Full>
  [[gnu::always_inline]] static void fetch_all(__m512i addresses, unsigned n) noexcept {
    alignas(64) const void* at[lanes];
    _mm512_store_si512(at, addresses);
    const unsigned n_keys = Full ? lanes : n;
#pragma GCC unroll 8
    for (unsigned i = 0; i < n_keys; ++i) fetch(at[i]);
  }
  /// Appends `at` + the place of each bit. Writes eight bytes.
  [[gnu::always_inline]] static unsigned append(std::uint8_t* list, unsigned n, unsigned at,
                                                __mmask8 which) noexcept {
    constexpr std::uint64_t each_byte = 0x0101010101010101, places = 0x0706050403020100;
    const std::uint64_t bytes = _pdep_u64(which, each_byte) * 0xff;
    const std::uint64_t listed = _pext_u64(places + at * each_byte, bytes);
    std::memcpy(list + n, &listed, 8);
    return n + static_cast<unsigned>(__builtin_popcount(which));
  }
};

}  // namespace
}  // namespace coua::simd
