// SPDX-License-Identifier: Apache-2.0
//
// The next best match: the rule with the highest priority below a given one. All subtables are
// asked that could have a better rule than the one found so far; where the rule that a subtable
// shows is too high, one that it hides may do (hidden_rules.h). No hint, proof or pruning: they are
// about the best match.
//
// With at most one update in its time the answer is the one before or after it, as for a look-up
// (classifier.h). For each rule that an update does not touch is met in its subtable, shown or
// hidden, at any moment of the update.
#pragma once

#include <cstdint>
#include <optional>

#include "base/cpu.h"
#include "base/keyed_hash.h"
#include "classify/subtable_list.h"
#include "simd/flow_lookup/probes.h"

namespace coua {

class below_search {
 public:
  below_search(const hash_key& key, isa instruction_set)
      : hash_(key), probe_(simd::select_flow_probes(instruction_set)) {}

  /// `words`: the whole key.
  std::optional<std::uint64_t> run(const subtable_list& list, const std::uint64_t* words,
                                   std::uint32_t priority) const noexcept;

 private:
  keyed_hash hash_;
  simd::flow_probe_kernel probe_;
};

}  // namespace coua
