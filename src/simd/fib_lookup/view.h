// SPDX-License-Identifier: Apache-2.0
//
// What a look-up needs to know of a FIB: where its buckets are and how a slot is read. The table
// (table/fib_table.h, where the layout and the concurrency are explained) fills it in once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic_word.h"
#include "base/key_permutation.h"

namespace coua::simd {

inline constexpr std::uint32_t fib_miss = UINT32_MAX;
inline constexpr std::uint32_t fib_age_mask = 7;
inline constexpr std::uint32_t fib_static = 8;
inline constexpr unsigned fib_value_shift = 4;

struct fib_view {
  std::uint64_t* words = nullptr;         // the buckets
  const std::uint64_t* stamps = nullptr;  // per stripe: the move clock at its last move
  const std::uint64_t* clock = nullptr;   // the move clock
  const std::uint32_t* epoch = nullptr;   // age stamp of a fresh entry
  std::uint64_t n_buckets = 0;
  std::uint64_t stripe_mask = 0;
  key_permutation permutation{};
  std::uint64_t match_mask = 0;  // tag, occupied and guest bit of a slot
  std::uint64_t occupied = 0;
  std::uint64_t guest = 0;
  std::uint32_t entry_mask = 0;
  unsigned tag_shift = 0;

  /// Bucket of a permuted key: its share of the interval [0, 2^60).
  [[gnu::always_inline]] std::uint64_t bucket(std::uint64_t permuted) const noexcept {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(permuted) * n_buckets) >> 64);
  }
  [[gnu::always_inline]] std::uint64_t want_home(std::uint64_t p) const noexcept {
    return (p << tag_shift) | occupied;
  }
  [[gnu::always_inline]] std::uint64_t want_guest(std::uint64_t q) const noexcept {
    return (q << tag_shift) | occupied | guest;
  }
  /// True when an entry whose primary bucket is this one (or shares its stripe) may have moved
  /// after the clock showed `since`.
  [[gnu::always_inline]] bool moved_since(std::uint64_t since, std::uint64_t home) const noexcept {
    return load_acquire(stamps + (home & stripe_mask)) > since;
  }
};

/// Layouts: how many slots a bucket has, and where a slot's words are.
struct packed8 {
  static constexpr unsigned n_slots = 8;
  static constexpr unsigned n_words = 8;
  static constexpr bool wide = false;
};
struct packed4 {
  static constexpr unsigned n_slots = 4;
  static constexpr unsigned n_words = 4;
  static constexpr bool wide = false;
};
struct wide8 {  // eight tag words, then eight entry words
  static constexpr unsigned n_slots = 8;
  static constexpr unsigned n_words = 16;
  static constexpr bool wide = true;
};

}  // namespace coua::simd
