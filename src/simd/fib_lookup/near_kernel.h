// SPDX-License-Identifier: Apache-2.0
//
// Look-ups in tables that the second-level cache holds. Nothing is fetched, and both buckets of
// every key are looked into: without a list of keys to come back to, not one branch depends on what
// is found. What is left is arithmetic, so it is done eight keys at a time:
//
//   prepare   where the buckets of a key are, and what its slot looks like    vectors
//   nominate  the slot of each bucket that may be it; its word is loaded      one by one
//   choose    compared again, primary before secondary                        vectors
//
// Each stage is a loop of fixed length over arrays, which compilers turn into vectors of whatever
// width the file's instruction set has; groups that are not full are padded.
#pragma once

#include <algorithm>

#include "simd/fib_lookup/kernel_impl.h"

namespace coua::simd {
namespace {

template <class Match, class Layout>
struct near_kernel {
  using far = fib_kernel<Match, Layout>;
  static constexpr std::size_t group = 32;
  static constexpr std::size_t lanes = 8;

  /// One of the two buckets of each key of a group.
  struct probes {
    alignas(64) std::uint64_t at[group];    // first word of the bucket
    alignas(64) std::uint64_t want[group];  // what the key's slot holds under match_mask
    alignas(64) std::uint64_t word[group];  // what the nominated slot holds
    alignas(64) std::uint64_t entry[group];
  };

  /// fib_view::bucket for fewer than 2^32 buckets: from 32-bit products, which vectors have.
  [[gnu::always_inline]] static std::uint64_t bucket(std::uint64_t permuted,
                                                     std::uint64_t n_buckets) noexcept {
    const std::uint64_t low = (permuted & 0xffffffff) * n_buckets;
    return ((permuted >> 32) * n_buckets + (low >> 32)) >> 32;
  }

  [[gnu::always_inline]] static void prepare(const fib_view& view, const std::uint64_t* keys,
                                             std::uint64_t* p, std::uint64_t* home_at,
                                             std::uint64_t* home_want, std::uint64_t* second_at,
                                             std::uint64_t* second_want) noexcept {
    const std::uint64_t n_buckets = view.n_buckets & 0xffffffff;
    for (std::size_t i = 0; i < lanes; ++i) {
      p[i] = view.permutation.p(keys[i]);
      home_at[i] = bucket(p[i], n_buckets) * Layout::n_words;
      home_want[i] = view.want_home(p[i]) & view.match_mask;
      const std::uint64_t q = view.permutation.q_of_p(p[i]);
      second_at[i] = bucket(q, n_buckets) * Layout::n_words;
      second_want[i] = view.want_guest(q) & view.match_mask;
    }
  }

  [[gnu::always_inline]] static void nominate(const fib_view& view, probes& these,
                                              std::size_t i) noexcept {
    const std::uint64_t* const bucket = view.words + these.at[i];
    const std::uint32_t nominated =
        Match::find(bucket, these.want[i], view.match_mask, Layout{}) | 1u << (Layout::n_slots - 1);
    const auto slot = static_cast<unsigned>(__builtin_ctz(nominated));
    these.word[i] = load_acquire(bucket + slot);
    if constexpr (Layout::wide) these.entry[i] = load_acquire(bucket + Layout::n_slots + slot);
  }

  /// All ones if the nominated slot is not that of the key, else 0.
  [[gnu::always_inline]] static std::uint64_t missed(const fib_view& view, const probes& these,
                                                     std::size_t i) noexcept {
    return std::uint64_t{0} - std::uint64_t{(these.word[i] & view.match_mask) != these.want[i]};
  }
  [[gnu::always_inline]] static std::uint64_t entry(const fib_view& view, const probes& these,
                                                    std::size_t i) noexcept {
    return Layout::wide ? these.entry[i] : these.word[i] & view.entry_mask;
  }

  /// fib_miss is all ones. The first answer wins: an entry that moved and changed in between would
  /// be found in both buckets, with two values.
  [[gnu::always_inline]] static void choose(const fib_view& view, const probes& home,
                                            const probes& second, std::size_t first,
                                            std::uint32_t* entries) noexcept {
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::uint64_t not_home = missed(view, home, first + i);
      const std::uint64_t other = entry(view, second, first + i) | missed(view, second, first + i);
      entries[i] = static_cast<std::uint32_t>((entry(view, home, first + i) & ~not_home) |
                                              (other & not_home));
    }
  }

  static std::size_t batch(const fib_view& shared_view, fib_reader_state& state,
                           const std::uint64_t* keys, std::size_t n,
                           std::uint32_t* entries) noexcept {
    const fib_view view = shared_view;
    alignas(64) std::uint64_t padded[group];
    alignas(64) std::uint64_t p[group];
    alignas(64) std::uint32_t found[group];
    probes home, second;
    std::size_t n_missed = 0;
    for (std::size_t at = 0; at < n; at += group) {
      const std::size_t size = std::min(n - at, group);
      const std::uint64_t* group_keys = keys + at;
      if (size < group) {
        std::fill(std::copy_n(group_keys, size, padded), padded + group, 0);
        group_keys = padded;
      }
      for (std::size_t i = 0; i < size; i += lanes) {
        prepare(view, group_keys + i, p + i, home.at + i, home.want + i, second.at + i,
                second.want + i);
      }
      const std::uint64_t since = load_acquire(view.clock);
      for (std::size_t i = 0; i < size; ++i) {
        nominate(view, home, i);
        nominate(view, second, i);
      }
      for (std::size_t i = 0; i < size; i += lanes) choose(view, home, second, i, found + i);
      if (load_acquire(view.clock) != since) [[unlikely]] {
        std::uint32_t unsure[group];
        far::settle(view, state, since, p, size, found, unsure);
      }
      if (size < group) {
        std::fill(found + size, found + group, 0);
        std::copy_n(found, size, entries + at);
      } else {
        std::copy_n(found, group, entries + at);
      }
      for (std::size_t i = 0; i < group; ++i) n_missed += found[i] == fib_miss;
    }
    return n - n_missed;
  }

  /// ahead, where fetching ahead gains nothing.
  static std::size_t ahead(const fib_view& view, fib_reader_state& state, const std::uint64_t* keys,
                           std::size_t n, std::uint32_t* entries, const std::uint64_t*,
                           std::size_t) noexcept {
    return batch(view, state, keys, n, entries);
  }

  static constexpr fib_kernels set(isa instruction_set) {
    return {instruction_set, &batch,     &ahead, &far::template refresh<batch>,
            &far::pipeline,  &far::drain};
  }
};

}  // namespace
}  // namespace coua::simd
