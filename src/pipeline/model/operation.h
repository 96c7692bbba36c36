// SPDX-License-Identifier: Apache-2.0
//
// What a controller asks of the model (OpenFlow 1.3.5, sections 6.4 to 6.6), as values: the numbers
// of the commands are those on the wire.
#pragma once

#include <variant>

#include "pipeline/model/group.h"
#include "pipeline/model/meter.h"
#include "pipeline/model/port.h"
#include "pipeline/model/rule.h"

namespace coua::pipeline {

enum class rule_command : std::uint8_t {
  add = 0,
  modify = 1,
  modify_strict = 2,
  remove = 3,
  remove_strict = 4,
  learn = 0xff,  // what a packet left behind (learn.h): no command of a controller
};

/// A flow_mod. `out_port` and `out_group` count in removals only, `cookie_mask` in modifications
/// and removals; a loose command ignores the priority.
struct rule_mod {
  rule_command command = rule_command::add;
  table_id table = 0;
  std::uint16_t priority = 0x8000;
  class match match;
  struct instructions instructions;
  std::uint64_t cookie = 0;
  std::uint64_t cookie_mask = 0;
  std::uint16_t idle_timeout_s = 0;
  std::uint16_t hard_timeout_s = 0;
  std::uint16_t flags = 0;
  port_no out_port = port_any;
  group_id out_group = group_any;
  // Of rule_command::learn, as of act::learn.
  std::uint32_t limit = 0;
  bool takes_along =
      false;  // with the last rule that learns so: when there is none, it is not added
};

/// The rule that it makes where there is none like it; only its number is missing.
inline rule to_rule(const rule_mod& asked, time_ns added = 0) {
  return {0,           asked.table,  asked.priority, asked.idle_timeout_s, asked.hard_timeout_s,
          asked.flags, asked.cookie, asked.match,    asked.instructions,   added};
}

enum class mod_command : std::uint8_t { add = 0, modify = 1, remove = 2 };

/// A group_mod. Of a removal only `what.id` counts; group_all removes every group. The secret is
/// the model's to draw.
struct group_mod {
  mod_command command = mod_command::add;
  group what;
};

/// A meter_mod. Of a removal only `what.id` counts; meter_all removes every meter.
struct meter_mod {
  mod_command command = mod_command::add;
  meter what;
};

/// A port of the switch came, changed or went: no message of OpenFlow, but part of what packets
/// meet. Of a removal only `what.number` counts.
struct port_mod {
  mod_command command = mod_command::add;
  port what;
};

using operation = std::variant<rule_mod, group_mod, meter_mod, port_mod>;

}  // namespace coua::pipeline
