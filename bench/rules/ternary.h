// SPDX-License-Identifier: Apache-2.0
//
// Rule sets in the form that a classifier with arbitrary masks takes: keys and masks as bytes, laid
// out as key_layout.h says. A range of ports becomes the fewest prefixes that cover it, so that a
// rule becomes one entry for each pair of prefixes of its two ranges; they match no key twice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/rules/key_layout.h"
#include "bench/rules/rule_set.h"

namespace coua::bench {

struct ternary_entry {
  std::array<std::uint8_t, most_key_bytes> key = {};  // zero where the mask is
  std::array<std::uint8_t, most_key_bytes> mask = {};
  std::uint32_t priority = 0;  // of its rule; the higher wins
  std::uint32_t rule = 0;      // the number of its rule
};

struct ternary_set {
  std::size_t key_bytes = 0;  // of the arrays, those that count
  key_layers layers = {};
  std::vector<ternary_entry> entries;  // in the order of their rules
};

ternary_set expand(const five_tuple_set&);
ternary_set expand(const wide_set&);

/// How many different masks there are: the tuples that a tuple space search has.
std::size_t distinct_masks(const ternary_set&);

/// Writes a packet as a key of five_tuple_layout::bytes or wide_layout::bytes.
void put_key(const five_tuple&, std::uint8_t* bytes);
void put_key(const wide_tuple&, std::uint8_t* bytes);
/// Reads such a key.
void get_key(const std::uint8_t* bytes, five_tuple&);
void get_key(const std::uint8_t* bytes, wide_tuple&);
constexpr std::size_t key_bytes_of(const five_tuple_rule*) { return five_tuple_layout::bytes; }
constexpr std::size_t key_bytes_of(const wide_rule*) { return wide_layout::bytes; }

}  // namespace coua::bench
