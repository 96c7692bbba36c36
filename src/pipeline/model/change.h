// SPDX-License-Identifier: Apache-2.0
//
// What an operation did, for those who keep something made of the model: a compiler, the sender of
// flow-removed messages. Of each thing what was before and what is now; null: it was not, or is not
// any more. In the order in which it was done.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "pipeline/model/group.h"
#include "pipeline/model/meter.h"
#include "pipeline/model/port.h"
#include "pipeline/model/rule.h"

namespace coua::pipeline {

/// What becomes of the counters of a rule that is changed.
enum class rule_counts : std::uint8_t { kept, cleared };

/// The first four are ofp_flow_removed_reason; a rule whose meter went counts as deleted there.
enum class removal_reason : std::uint8_t {
  idle_timeout = 0,
  hard_timeout = 1,
  deleted = 2,
  group_deleted = 3,
  meter_deleted = 4,
};

struct rule_change {
  rule_ptr before, after;                // with both, they have one id
  rule_state state_before;               // of `before`: the last counters of a rule that is gone
  std::optional<removal_reason> reason;  // of a rule that is gone
  rule_counts counts = rule_counts::kept;
};
struct group_change {
  group_ptr before, after;
  group_state state_before;
};
struct meter_change {
  meter_ptr before, after;
  meter_state state_before;
};
struct port_change {
  std::optional<port> before, after;
};

using change = std::variant<rule_change, group_change, meter_change, port_change>;
using change_list = std::vector<change>;

}  // namespace coua::pipeline
