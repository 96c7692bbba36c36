// SPDX-License-Identifier: Apache-2.0
#include "classify/subtable_ranking.h"

#include <algorithm>
#include <numeric>

namespace coua {

void subtable_ranking::take_order(const subtable_list& list) noexcept {
  const auto n = static_cast<std::ptrdiff_t>(list.places.size());
  std::iota(ranked_.begin(), ranked_.begin() + n, 0);
  std::iota(rank_of_.begin(), rank_of_.begin() + n, 0);
  order_seen_ = list.order;
}

void subtable_ranking::rank(const subtable_list& list) noexcept {
  choose_favourite(list);
  const auto begin = ranked_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(list.places.size());
  std::sort(begin, end, [&](std::uint16_t a, std::uint16_t b) {
    const auto &first = list.places[a], &second = list.places[b];
    if (first.highest != second.highest) return first.highest > second.highest;
    return recent_[first.face->id] > recent_[second.face->id];
  });
  for (auto it = begin; it != end; ++it) {
    rank_of_[*it] = static_cast<std::uint16_t>(it - begin);
    recent_[list.places[*it].face->id] /= 2;
  }
}

void subtable_ranking::choose_favourite(const subtable_list& list) noexcept {
  std::uint64_t sum = 0;
  std::uint16_t most_used = none;
  for (const subtable_list::place& each : list.places) {
    const subtable_id id = each.face->id;
    sum += recent_[id];
    if (most_used == none || recent_[id] > recent_[most_used]) most_used = id;
  }
  const std::uint64_t needed = most_used == favourite_ ? stays_percent : becomes_percent;
  const bool enough = most_used != none && recent_[most_used] * std::uint64_t{100} > sum * needed;
  favourite_ = enough && list.places.size() > 1 ? most_used : none;
}

}  // namespace coua
