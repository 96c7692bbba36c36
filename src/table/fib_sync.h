// SPDX-License-Identifier: Apache-2.0
//
// How a writer tells readers of a move: policies of fib_table. Each is told before an entry is
// copied, between copy and clear (then with its primary bucket), and after the clear; `reuse` is
// told before the entry word of an empty wide slot is written.
//
// move_stamps is what the library uses (protocol and proof: fib_table.h). The two others are the
// paper's, kept for its factor analysis (CuckooSwitch, section 3.2, algorithms 1 and 2): per stripe
// a version counter that is odd while a move is under way.
#pragma once

#include <cstdint>

#include "base/atomic_word.h"

namespace coua {

/// Stripes: enough that moves in other buckets rarely make a miss look again, few enough to stay in
/// the first-level cache of every reader (16 KiB).
inline constexpr std::uint64_t max_stripes = 2048;

struct sync_words {
  std::uint64_t* stamps;  // one per stripe
  std::uint64_t stripe_mask;
  std::uint64_t* clock;

  std::uint64_t* stripe(std::uint64_t bucket) const { return stamps + (bucket & stripe_mask); }
};

struct move_stamps {
  static void begin_move(const sync_words&, std::uint64_t, std::uint64_t) {}
  static void copied(const sync_words& words, std::uint64_t home) {
    const std::uint64_t now = load_relaxed(words.clock) + 1;
    // Release: with the acquire of the clock in the look-up kernels (`since`). Who reads `now` or
    // later there sees the copy.
    store_release(words.clock, now);
    // Release: with moved_since. Who sees the slot cleared sees these.
    store_release(words.stripe(home), now);
  }
  static void end_move(const sync_words&, std::uint64_t, std::uint64_t) {}
  static void reuse(const sync_words& words, std::uint64_t bucket) { copied(words, bucket); }
};

/// Algorithm 1: atomic increments and full barriers.
struct barrier_counters {
  static void bump(const sync_words& words, std::uint64_t from, std::uint64_t to) {
    __atomic_fetch_add(words.stripe(from), 1, __ATOMIC_SEQ_CST);
    if (words.stripe(from) != words.stripe(to)) {
      __atomic_fetch_add(words.stripe(to), 1, __ATOMIC_SEQ_CST);
    }
    __sync_synchronize();
  }
  static void begin_move(const sync_words& words, std::uint64_t from, std::uint64_t to) {
    bump(words, from, to);
  }
  static void copied(const sync_words&, std::uint64_t) {}
  static void end_move(const sync_words& words, std::uint64_t from, std::uint64_t to) {
    bump(words, from, to);
  }
  static void reuse(const sync_words&, std::uint64_t) {}
};

/// Algorithm 2: plain increments, for machines with total store order; release stores say the same
/// to the compiler.
struct plain_counters {
  static void bump(const sync_words& words, std::uint64_t from, std::uint64_t to) {
    store_release(words.stripe(from), load_relaxed(words.stripe(from)) + 1);
    if (words.stripe(from) != words.stripe(to)) {
      store_release(words.stripe(to), load_relaxed(words.stripe(to)) + 1);
    }
  }
  static void begin_move(const sync_words& words, std::uint64_t from, std::uint64_t to) {
    bump(words, from, to);
  }
  static void copied(const sync_words&, std::uint64_t) {}
  static void end_move(const sync_words& words, std::uint64_t from, std::uint64_t to) {
    bump(words, from, to);
  }
  static void reuse(const sync_words&, std::uint64_t) {}
};

}  // namespace coua
