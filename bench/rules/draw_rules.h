// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "bench/rules/mask_index.h"
#include "bench/rules/nested_order.h"
#include "bench/rules/rule_set.h"

namespace coua::bench {

/// Draws that may fail one after the other before a set is given up.
inline constexpr unsigned draws_in_vain = 10'000;
/// To draw addresses and ports for a rule.
inline constexpr unsigned attempts = 24;
/// Of these, without a new branch.
inline constexpr unsigned attempts_as_found = 2;

/// A set of so many rules, no two with the same match, in a nested order. `draw(known)` gives one
/// that is not known, or nothing; the set ends in a rule that matches every key where asked for.
/// Errors: invalid (1 to most_rules), no_room.
template <typename Rule, typename Draw>
result<rule_set<Rule>> draw_rules(const rule_set_params& params, bool with_default,
                                  random_words& random, Draw draw) {
  const std::string what = std::to_string(params.rules) + " rules";
  if (params.rules < 1 || params.rules > most_rules) {
    return fail(errc::invalid, what, "must be 1 to " + std::to_string(most_rules));
  }
  rule_set<Rule> set;
  set.rules.reserve(params.rules);
  mask_index<Rule> known(set.rules);
  const auto add = [&](const Rule& rule) {
    set.rules.push_back(rule);
    known.add(set.rules.size() - 1);
  };
  set.ends_in_default = with_default && params.rules > 1;
  if (set.ends_in_default) add({});
  for (unsigned in_vain = 0; set.rules.size() < params.rules;) {
    if (const std::optional<Rule> made = draw(known)) {
      add(*made);
      in_vain = 0;
    } else if (++in_vain == draws_in_vain) {
      return fail(errc::no_room, what,
                  "only " + std::to_string(set.rules.size()) + " different ones were found");
    }
  }
  order_nested(set.rules, random);
  return set;
}

}  // namespace coua::bench
