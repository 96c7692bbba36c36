// SPDX-License-Identifier: Apache-2.0
//
// In which order a reader asks the subtables: those with the highest priorities first, and among
// equals the most used first. Each reader ranks by its own traffic.
//
// Where most keys match in one subtable, that one is the favourite: it is asked before anything
// else, wherever it ranks and before candidates are looked for (candidate_map.h), like the hint of
// a distributor. What it says is final by the same proof (rule.h).
#pragma once

#include <cstdint>
#include <vector>

#include "base/atomic_word.h"
#include "classify/subtable_list.h"

namespace coua {

class subtable_ranking {
 public:
  static constexpr std::uint64_t every = 1 << 16;  // look-ups
  static constexpr std::uint16_t none = 0xffff;

  explicit subtable_ranking(std::size_t n_ids)
      : ranked_(n_ids), rank_of_(n_ids), recent_(n_ids), hits_(n_ids) {}

  /// The place that is asked as the `rank`-th, and its rank.
  std::uint16_t place_at(std::size_t rank) const noexcept { return ranked_[rank]; }
  std::uint16_t rank_of(std::uint16_t place) const noexcept { return rank_of_[place]; }
  /// An id of `list`; none.
  std::uint16_t favourite() const noexcept { return favourite_; }

  void count_hit(subtable_id id) noexcept {
    ++recent_[id];
    store_relaxed(&hits_[id], hits_[id] + 1);
  }
  /// Any thread.
  std::uint64_t hits_of(subtable_id id) const { return load_relaxed(&hits_[id]); }

  /// When the list has another order than at the last call: takes it over, until the next ranking.
  void follow(const subtable_list& list) noexcept {
    if (list.order != order_seen_) take_order(list);
  }
  /// By the hits since the last time, and half of those before.
  void rank(const subtable_list& list) noexcept;

 private:
  // Shares of the hits: being wrong costs a subtable more, being right saves the search.
  static constexpr std::uint64_t becomes_percent = 75, stays_percent = 60;

  void take_order(const subtable_list& list) noexcept;
  void choose_favourite(const subtable_list& list) noexcept;

  std::uint64_t order_seen_ = ~std::uint64_t{0};
  std::uint16_t favourite_ = none;
  std::vector<std::uint16_t> ranked_;   // places, in the order of the search
  std::vector<std::uint16_t> rank_of_;  // place -> position in ranked_
  std::vector<std::uint32_t> recent_;   // hits by id, halved at each ranking
  std::vector<std::uint64_t> hits_;     // by id
};

}  // namespace coua
