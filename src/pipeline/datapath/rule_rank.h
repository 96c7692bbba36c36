// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "pipeline/datapath/action_record.h"
#include "pipeline/model/rule.h"

namespace coua::pipeline {

/// Of two rules that match a packet, the one with the higher rank counts: the higher priority, and
/// of one priority the one that was added first.
using rule_rank = std::uint64_t;

constexpr rule_rank rank_of(std::uint16_t priority, rule_id id) {
  constexpr unsigned id_bits = 48;  // a million additions a second for nine years
  return rule_rank{priority} << id_bits | (((rule_id{1} << id_bits) - 1) - id);
}
inline rule_rank rank_of(const rule& one) { return rank_of(one.priority, one.id); }

/// Records know the ids below: of such a rule, its rank.
inline constexpr rule_id recorded_ids = rule_id{1} << 32;
inline rule_rank rank_of(const action_records& in, const met_rule& one) {
  return rank_of(one.record->traits.priority, in.rule_of(one));
}

}  // namespace coua::pipeline
