// SPDX-License-Identifier: Apache-2.0
#include "classify/subtable_search.h"

#include <algorithm>
#include <bit>

namespace coua {
namespace {

/// Takes the lowest bit from a row of words; a number beyond all when it is empty.
std::size_t take_lowest(std::uint64_t* words, std::size_t n_words) noexcept {
  for (std::size_t w = 0; w < n_words; ++w) {
    if (words[w] == 0) continue;
    const auto bit = static_cast<std::size_t>(std::countr_zero(words[w]));
    words[w] &= words[w] - 1;
    return w * 64 + bit;
  }
  return n_words * 64;
}

}  // namespace

subtable_search::subtable_search(lookup_group& group, probe_queue& queue,
                                 const subtable_ranking& ranking, std::size_t n_ids,
                                 isa instruction_set)
    : group_(group),
      queue_(queue),
      ranking_(ranking),
      find_candidates_(simd::select_candidates(instruction_set)),
      ranks_(lookup_group::max * ((n_ids + 63) / 64)),
      ids_(std::bit_ceil((n_ids + 63) / 64)) {}

void subtable_search::run(const subtable_list& list, std::uint32_t keys) noexcept {
  group_.searched |= keys;
  if (list.candidates != nullptr) {
    ask_candidates(list, keys);
  } else {
    ask_all(list, keys);
  }
}

/// The keys for which a rule of this priority would count.
std::uint32_t subtable_search::still_open(std::uint32_t keys,
                                          std::uint32_t highest) const noexcept {
  for (std::uint32_t left = keys & group_.found; left != 0;) {
    const unsigned i = coua::take_lowest(left);
    if (group_.priority(i) >= highest) keys &= ~(std::uint32_t{1} << i);
  }
  return keys;
}

void subtable_search::ask_all(const subtable_list& list, std::uint32_t keys) noexcept {
  const std::size_t n_places = list.places.size();
  std::uint32_t tried = 0;  // those that were asked one subtable before
  for (unsigned i = 0; i < group_.n; ++i) {
    tried |= std::uint32_t{group_.tried[i] != subtable_list::no_place} << i;
  }
  std::uint32_t before = ~std::uint32_t{0};
  std::uint32_t fresh = keys;  // not compared with `highest` since they were found
  for (std::size_t rank = 0; rank < n_places && keys != 0; ++rank) {
    const std::uint16_t at = ranking_.place_at(rank);
    const subtable_list::place& place = list.places[at];
    if (place.highest != before) fresh = keys;
    before = place.highest;
    keys &= ~(fresh & ~still_open(fresh, place.highest));
    fresh = 0;
    std::uint32_t asked = keys;
    for (std::uint32_t left = keys & tried; left != 0;) {
      const unsigned i = coua::take_lowest(left);
      const bool skip = group_.tried[i] == at || !group_.limits[i].may_have(place.face->id);
      asked &= ~(std::uint32_t{skip} << i);
    }
    if (asked == 0) continue;
    queue_.add_all(*place.face, asked);
    fresh = queue_.run();
  }
}

template <class Each>
void subtable_search::for_candidates(const subtable_list& list, unsigned key, Each each) noexcept {
  const candidate_map& map = *list.candidates;
  map.find(find_candidates_, group_.key(key), ids_.data());
  for (std::size_t w = 0; w < map.n_words(); ++w) {
    for (std::uint64_t bits = ids_[w]; bits != 0; bits &= bits - 1) {
      const auto id = static_cast<std::uint16_t>(w * 64 + std::countr_zero(bits));
      const std::uint16_t place = list.find(id);
      if (place != subtable_list::no_place) each(id, place);
    }
  }
}

/// Those that can hold a better rule.
void subtable_search::list_candidates(const subtable_list& list, unsigned key,
                                      std::uint64_t* ranks) noexcept {
  std::fill_n(ranks, (list.places.size() + 63) / 64, 0);
  const rival_set limit = group_.limits[key];
  for_candidates(list, key, [&](subtable_id id, std::uint16_t place) {
    if (place == group_.tried[key] || !limit.may_have(id)) return;
    const unsigned rank = ranking_.rank_of(place);
    ranks[rank / 64] |= std::uint64_t{1} << rank % 64;
  });
}

void subtable_search::ask_candidates(const subtable_list& list, std::uint32_t keys) noexcept {
  const std::size_t n_rank_words = (list.places.size() + 63) / 64;
  for (std::uint32_t left = keys; left != 0;) {
    const unsigned i = coua::take_lowest(left);
    list_candidates(list, i, ranks_.data() + i * n_rank_words);
  }
  while (keys != 0) {
    for (std::uint32_t left = keys; left != 0;) {
      const unsigned i = coua::take_lowest(left);
      const std::size_t rank = take_lowest(ranks_.data() + i * n_rank_words, n_rank_words);
      const bool is_any = rank < list.places.size();
      const subtable_list::place* place = is_any ? &list.places[ranking_.place_at(rank)] : nullptr;
      if (!is_any || (group_.has_found(i) && group_.priority(i) >= place->highest)) {
        keys &= ~(std::uint32_t{1} << i);
        continue;
      }
      queue_.add(*place->face, i);
    }
    if (!queue_.empty()) queue_.run();
  }
}

std::int64_t subtable_search::n_asked(const subtable_list& list, unsigned key) noexcept {
  const std::uint32_t priority = group_.priority(key);
  const std::size_t last = ranking_.rank_of(list.find(group_.winner[key]));
  if (list.candidates == nullptr) {
    const auto above = std::partition_point(
        list.places.begin(), list.places.end(),
        [priority](const subtable_list::place& it) { return it.highest > priority; });
    return std::max<std::int64_t>(above - list.places.begin(), static_cast<std::int64_t>(last) + 1);
  }
  std::int64_t n = 0;
  for_candidates(list, key, [&](subtable_id, std::uint16_t place) {
    n += ranking_.rank_of(place) <= last || list.places[place].highest > priority;
  });
  return n;
}

}  // namespace coua
