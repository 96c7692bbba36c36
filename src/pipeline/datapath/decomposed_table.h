// SPDX-License-Identifier: Apache-2.0
//
// A table that was split by the values of some of its fields (compiler/decompose.h, with the
// reasons). A packet's values lead to the rules that ask for them; the rules that do not ask for
// all of these fields are apart, for all packets.
//
//   by_value --> rule_set: what its rules ask besides      }
//            or  prefix_table: they are prefixes           } the rule of the higher rank counts
//   apart    --> direct_table                              }
//
// A rule_set is never changed: the writer makes another one, and puts its reference into the store.
// A batch that meets a record that does not count at its version goes on with the next row of the
// set, or the next shorter prefix, and compares with those apart what it has in the end.
#pragma once

#include <memory>

#include "pipeline/datapath/direct_table.h"
#include "pipeline/datapath/exact_store.h"
#include "pipeline/datapath/prefix_table.h"
#include "pipeline/datapath/rule_set.h"

namespace coua::pipeline {

// What the values lead to, as one word: as simd/set_match has it, or prefixes, which have no
// groups.
inline std::uint64_t reference_to(const prefix_table& of) {
  static_assert(alignof(prefix_table) % simd::set_match::line_bytes == 0);
  return reinterpret_cast<std::uint64_t>(&of);
}
/// Null: it is a rule set.
inline const prefix_table* prefixes_of(std::uint64_t reference) noexcept {
  return simd::set_match::n_groups(reference) == 0
             ? reinterpret_cast<const prefix_table*>(reference)
             : nullptr;
}

struct decomposed_table {
  /// The references of sets. Its layout is that of the values.
  std::unique_ptr<exact_store> by_value;
  /// Of the words that rules in sets are compared with.
  key_layout rest;
  simd::set_match_kernel match = nullptr;
  /// Those that are apart; it may have no rules.
  const std::atomic<const direct_table*>* apart = nullptr;
};

}  // namespace coua::pipeline
