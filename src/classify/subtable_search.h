// SPDX-License-Identifier: Apache-2.0
//
// The ordinary search of a reader: the subtables that can hold a better rule for a key than the one
// found so far, in the order of their ranking (subtable_ranking.h).
//
//   all subtables   one after the other, each for all keys that may still find a better rule there
//   candidates      with a map of candidates (candidate_map.h) each key has its own list of
//                   subtables, and the keys of a group go through their lists side by side
//
// It stops for a key when no subtable that is left has a higher priority than the rule found. Where
// a rule was found beforehand, only its rivals are asked (rule.h).
#pragma once

#include <cstdint>
#include <vector>

#include "classify/lookup_group.h"
#include "classify/probe_queue.h"
#include "classify/subtable_list.h"
#include "classify/subtable_ranking.h"
#include "simd/candidates/kernels.h"

namespace coua {

class subtable_search {
 public:
  subtable_search(lookup_group& group, probe_queue& queue, const subtable_ranking& ranking,
                  std::size_t n_ids, isa instruction_set);

  void run(const subtable_list& list, std::uint32_t keys) noexcept;

  /// How many it would have asked for a key that matched: those that are ranked before its rule's
  /// subtable or hold higher priorities.
  std::int64_t n_asked(const subtable_list& list, unsigned key) noexcept;

 private:
  void ask_all(const subtable_list& list, std::uint32_t keys) noexcept;
  void ask_candidates(const subtable_list& list, std::uint32_t keys) noexcept;
  void list_candidates(const subtable_list& list, unsigned key, std::uint64_t* ranks) noexcept;
  /// Calls each(id, place) for the candidates of a key.
  template <class Each>
  void for_candidates(const subtable_list& list, unsigned key, Each each) noexcept;
  std::uint32_t still_open(std::uint32_t keys, std::uint32_t highest) const noexcept;

  lookup_group& group_;
  probe_queue& queue_;
  const subtable_ranking& ranking_;
  simd::candidate_kernel find_candidates_;
  std::vector<std::uint64_t> ranks_;  // bits by rank, for each key of a group
  std::vector<std::uint64_t> ids_;    // bits by id, for one key
};

}  // namespace coua
