// SPDX-License-Identifier: Apache-2.0
//
// Keys that are looked up together, and what is known of each. Sets of them are words of 32 bits:
// bit i stands for key i.
#pragma once

#include <bit>
#include <cstdint>

#include "classify/compact_mask.h"
#include "classify/rule.h"
#include "classify/subtable_list.h"
#include "simd/flow_lookup/probes.h"

namespace coua {

/// Takes the lowest key out of a set.
[[gnu::always_inline]] inline unsigned take_lowest(std::uint32_t& keys) noexcept {
  const auto i = static_cast<unsigned>(std::countr_zero(keys));
  keys &= keys - 1;
  return i;
}
[[gnu::always_inline]] inline unsigned count_of(std::uint32_t keys) noexcept {
  return static_cast<unsigned>(std::popcount(keys));
}

struct lookup_group {
  static constexpr unsigned max = 32;

  unsigned n = 0;
  unsigned n_words = 0;        // of a key
  std::uint32_t found = 0;     // those that match a rule: so far best[i]
  std::uint32_t searched = 0;  // those that an ordinary search was made for
  std::uint64_t words[max * wide_words::max];
  std::uint16_t tried[max];   // place of the subtable that was asked before any search
  rival_set limits[max];      // the subtables that may hold a better rule
  std::uint16_t winner[max];  // id of the subtable of best[i]
  std::uint16_t asked[max];   // subtables
  simd::flow_probe_value best[max];

  void start(const std::uint8_t* keys, unsigned n_keys, unsigned key_bytes) noexcept {
    n = n_keys;
    n_words = wide_words::count(key_bytes);
    found = searched = 0;
    for (unsigned i = 0; i < n; ++i) {
      load_words(keys + i * key_bytes, key_bytes, words + i * n_words);
      tried[i] = subtable_list::no_place;
      limits[i] = rival_set::unknown();
      asked[i] = 0;
    }
  }
  std::uint32_t all() const noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{1} << n) - 1);
  }
  const std::uint64_t* key(unsigned i) const noexcept { return words + i * n_words; }
  bool has_found(unsigned i) const noexcept { return (found >> i & 1) != 0; }
  std::uint32_t priority(unsigned i) const noexcept { return priority_of(best[i].words[0]); }
  rival_set rivals(unsigned i) const noexcept { return rival_set(best[i].words[1]); }
};

}  // namespace coua
