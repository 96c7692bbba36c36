// SPDX-License-Identifier: Apache-2.0
//
// The writer's counts of a FIB. One thread writes; any thread may read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/atomic_word.h"
#include "coua/fib.h"
#include "simd/fib_lookup/view.h"

namespace coua {

class fib_counts {
 public:
  void add(std::uint32_t entry, bool as_guest, unsigned n_moves) {
    bump(entries_);
    bump(added_);
    bump(statics_, (entry & simd::fib_static) != 0);
    bump(in_secondary_, as_guest);
    bump(path_length_[n_moves]);
  }
  void replace(std::uint32_t old_entry, std::uint32_t entry) {
    bump(updated_);
    bump(statics_, is_static(entry) - is_static(old_entry));
  }
  void erase(std::uint32_t entry, bool was_guest) {
    bump(erased_);
    leave(entry, was_guest);
  }
  void age_out(bool was_guest) {
    bump(aged_out_);
    leave(0, was_guest);
  }
  void refuse() { bump(refused_); }
  void move(bool goes_home, bool by_sweep) {
    bump(by_sweep ? sent_home_ : moves_);
    bump(in_secondary_, goes_home ? std::uint64_t(-1) : 1);
  }
  /// Sums of a bulk load.
  void add_many(const fib_counts& other) {
    for (auto [mine, theirs] : {std::pair{&entries_, &other.entries_},
                                {&added_, &other.added_},
                                {&updated_, &other.updated_},
                                {&statics_, &other.statics_},
                                {&in_secondary_, &other.in_secondary_},
                                {&refused_, &other.refused_},
                                {&moves_, &other.moves_}}) {
      bump(*mine, *theirs);
    }
    for (unsigned i = 0; i <= COUA_FIB_PATH_MAX; ++i) bump(path_length_[i], other.path_length_[i]);
  }
  std::uint64_t refused() const { return load_relaxed(&refused_); }

  void fill(coua_fib_stats& stats) const {
    stats.entries = load_relaxed(&entries_);
    // During a bulk load, entries may be sent home before the thread that put them has added its
    // counts.
    stats.in_secondary = std::min(load_relaxed(&in_secondary_), stats.entries);
    stats.statics = load_relaxed(&statics_);
    stats.added = load_relaxed(&added_);
    stats.updated = load_relaxed(&updated_);
    stats.erased = load_relaxed(&erased_);
    stats.aged_out = load_relaxed(&aged_out_);
    stats.refused = load_relaxed(&refused_);
    stats.moves = load_relaxed(&moves_);
    stats.sent_home = load_relaxed(&sent_home_);
    for (unsigned i = 0; i <= COUA_FIB_PATH_MAX; ++i) {
      stats.path_length[i] = load_relaxed(&path_length_[i]);
    }
  }

 private:
  static std::uint64_t is_static(std::uint32_t entry) { return (entry & simd::fib_static) != 0; }
  static void bump(std::uint64_t& count, std::uint64_t by = 1) {
    store_relaxed(&count, count + by);
  }
  void leave(std::uint32_t entry, bool was_guest) {
    bump(entries_, std::uint64_t(-1));
    bump(statics_, -is_static(entry));
    bump(in_secondary_, -std::uint64_t{was_guest});
  }

  std::uint64_t entries_ = 0, statics_ = 0, in_secondary_ = 0;
  std::uint64_t added_ = 0, updated_ = 0, erased_ = 0, aged_out_ = 0, refused_ = 0, moves_ = 0,
                sent_home_ = 0;
  std::uint64_t path_length_[COUA_FIB_PATH_MAX + 1] = {};
};

}  // namespace coua
