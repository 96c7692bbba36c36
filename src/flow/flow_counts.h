// SPDX-License-Identifier: Apache-2.0
//
// The writer's counts of a flow table. One thread writes; any thread may read.
#pragma once

#include <cstdint>

#include "base/atomic_word.h"
#include "coua/flow_table.h"

namespace coua {

class flow_counts {
 public:
  /// An insert waits for its stores, so most of them count one thing: what else there is to tell of
  /// entries that came to their primary buckets without a move follows from it (fill).
  void add(bool as_guest, unsigned n_moves) {
    bump(added_);
    if (as_guest) bump(in_secondary_);
    if (n_moves != 0) bump(path_length_[n_moves]);
  }
  void update() { bump(updated_); }
  void erase(bool was_guest) {
    bump(erased_);
    leave(was_guest);
  }
  void expire(bool was_guest) {
    bump(expired_);
    leave(was_guest);
  }
  void refuse() { bump(refused_); }
  void move(bool by_sweep) { bump(by_sweep ? sent_home_ : moves_); }
  void change_place(bool was_guest, bool is_guest) {
    bump(in_secondary_, std::uint64_t{is_guest} - std::uint64_t{was_guest});
  }
  void rebuild_filter() { bump(filters_rebuilt_); }
  void scan() { bump(full_scans_); }

  void fill(coua_flow_stats& stats) const {
    // Entries are those that were added less those that left: exact for the moment when `added_` is
    // loaded, if none leaves between two looks at how many did. What is counted after an entry was
    // added is loaded before `added_`: no difference is below 0 (acquire; with bump's release).
    std::uint64_t n_left = load_acquire(&erased_) + load_acquire(&expired_);
    for (bool moved = true; moved;) {
      stats.entries = load_acquire(&added_) - n_left;
      const std::uint64_t n_left_now = load_acquire(&erased_) + load_acquire(&expired_);
      moved = n_left_now != n_left;
      n_left = n_left_now;
    }
    stats.erased = load_acquire(&erased_);
    stats.expired = load_acquire(&expired_);
    std::uint64_t n_with_moves = 0;
    for (unsigned i = 1; i <= COUA_FLOW_PATH_MAX; ++i) {
      stats.path_length[i] = load_acquire(&path_length_[i]);
      n_with_moves += stats.path_length[i];
    }
    stats.added = load_relaxed(&added_);
    stats.path_length[0] = stats.added - n_with_moves;
    stats.in_secondary = load_relaxed(&in_secondary_);
    stats.updated = load_relaxed(&updated_);
    stats.refused = load_relaxed(&refused_);
    stats.moves = load_relaxed(&moves_);
    stats.sent_home = load_relaxed(&sent_home_);
    stats.filters_rebuilt = load_relaxed(&filters_rebuilt_);
    stats.full_scans = load_relaxed(&full_scans_);
  }

 private:
  static void bump(std::uint64_t& count, std::uint64_t by = 1) {
    store_release(&count, count + by);
  }
  void leave(bool was_guest) {
    if (was_guest) bump(in_secondary_, std::uint64_t(-1));
  }

  std::uint64_t in_secondary_ = 0, added_ = 0, updated_ = 0, erased_ = 0, expired_ = 0,
                refused_ = 0, moves_ = 0, sent_home_ = 0, filters_rebuilt_ = 0, full_scans_ = 0;
  std::uint64_t path_length_[COUA_FLOW_PATH_MAX + 1] = {};
};

}  // namespace coua
