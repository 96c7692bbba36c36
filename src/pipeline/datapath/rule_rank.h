// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "pipeline/model/rule.h"

namespace coua::pipeline {

/// Of two rules that match a packet, the one with the higher rank counts: the higher priority, and
/// of one priority the one that was added first.
using rule_rank = std::uint64_t;

inline rule_rank rank_of(const rule& one) {
  constexpr unsigned id_bits = 48;  // a million additions a second for nine years
  return rule_rank{one.priority} << id_bits | (((rule_id{1} << id_bits) - 1) - one.id);
}

}  // namespace coua::pipeline
