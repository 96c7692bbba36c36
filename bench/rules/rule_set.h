// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/rules/five_tuple_rule.h"
#include "bench/rules/wide_rule.h"

namespace coua::bench {

/// No two rules match the same keys. The first rule has the highest priority, unless all have the
/// same because no key matches two.
template <typename Rule>
struct rule_set {
  std::vector<Rule> rules;
  bool ends_in_default = false;  // the last rule matches every key
};

using five_tuple_set = rule_set<five_tuple_rule>;
using wide_set = rule_set<wide_rule>;

/// Rules from 1; most of all, so that nothing here runs out of memory.
inline constexpr std::uint64_t most_rules = 1'000'000;

struct rule_set_params {
  std::uint64_t rules = 1000;  // 1 to most_rules, the default rule among them
  std::uint64_t seed = 1;
  // Whether a set of two rules or more ends in a rule that matches every key, where the published
  // ones do. Without it there are keys that match nothing.
  bool with_default = true;
};

}  // namespace coua::bench
