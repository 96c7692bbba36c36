// SPDX-License-Identifier: Apache-2.0
//
// What is classified: rules in ternary form, flows that match them, and of each flow the priority
// of the rule that counts, found without a classifier.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/rules/flows.h"
#include "bench/rules/rule_set.h"
#include "bench/rules/ternary.h"

namespace coua::bench {

struct rule_source {
  static constexpr std::uint32_t miss = UINT32_MAX;

  std::string kind;
  std::uint64_t n_rules = 0;
  std::uint64_t n_masks = 0;
  ternary_set ternary;
  std::optional<five_tuple_set> five_tuples;  // of the kinds that have them, for peers
  std::vector<std::uint8_t> keys;             // of the flows, key_bytes each
  std::vector<std::uint32_t> priorities;      // of the rule that counts, by flow; or `miss`
  unsigned first_percent = 0;                 // of the look-ups go to the flows of one mask
  std::vector<std::uint32_t> first_flows;     // these

  /// Adds a rule that no flow matches and whose mask takes every bit. A flow of a distributor is
  /// what some mask takes of a key: with this rule, each flow here is one there.
  void make_distinct();

  // As a population of keys (bench/harness/question.h): a flow's value is its priority.
  std::uint64_t entries = 0;
  std::size_t key_words() const { return ternary.key_bytes / 8; }
  std::uint64_t put(std::uint64_t index, std::uint64_t* words) const {
    index %= entries;
    if (first_percent != 0 && (index * 0x9e3779b97f4a7c15 >> 32) % 100 < first_percent) {
      index = first_flows[index % first_flows.size()];
    }
    std::memcpy(words, keys.data() + index * ternary.key_bytes, ternary.key_bytes);
    return priorities[index];
  }
};

struct rule_source_params {
  std::string kind;
  std::uint64_t size;  // the number of masks of kind "masks", of rules else
  std::uint64_t flows;
  unsigned first_percent;
  std::uint64_t miss_percent;
  std::uint64_t seed;
};

/// With misses, rule sets have no default rule. Errors: invalid, no_room.
result<rule_source> make_rule_source(const rule_source_params& params);

}  // namespace coua::bench
