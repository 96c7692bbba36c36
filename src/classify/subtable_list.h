// SPDX-License-Identifier: Apache-2.0
//
// The subtables as readers see them at one moment: immutable, published by one store, freed after a
// grace period. A new one takes its place when a subtable comes, goes, grows, or gets another
// highest priority.
#pragma once

#include <cstdint>
#include <vector>

#include "classify/candidate_map.h"
#include "classify/compact_mask.h"
#include "classify/subtable.h"

namespace coua {

struct subtable_list {
  struct place {
    const subtable_face* face;
    std::uint32_t highest;  // no rule of the subtable has a higher priority
  };
  static constexpr std::uint16_t no_place = 0xffff;

  std::vector<place> places;            // by `highest`, falling
  std::vector<std::uint16_t> place_of;  // a subtable's id -> its place; ids may be beyond the end
  std::uint64_t order = 0;              // changes with the order of the subtables
  joint_mask all{wide_words{}, 0};      // the bits that any mask takes
  const candidate_map* candidates = nullptr;  // null: too few subtables

  std::uint16_t find(std::uint16_t id) const noexcept {
    return id < place_of.size() ? place_of[id] : no_place;
  }
};

}  // namespace coua
