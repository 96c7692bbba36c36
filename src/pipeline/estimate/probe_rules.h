// SPDX-License-Identifier: Apache-2.0
//
// The small pipelines that are measured for the performance model (calibrate.h). Each has one thing
// more than another one of them.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/model/operation.h"

namespace coua::pipeline {

enum class small_pipeline : std::uint8_t {
  // One table with a rule for every packet. All but the first two have packets parsed to the end.
  link,     // sends it, and looks at nothing
  network,  // the same, parsed as far as the network header
  whole,    // the same, parsed to the end
  dropped,  // does not send it
  // The same, and before it ...
  two_tables,    // another such table
  direct_8,      // a direct table with 8 rules
  direct_16,     // with 16 rules
  direct_wide,   // with 8 rules, and keys of 5 words
  exact,         // an exact table with keys of 2 words
  exact_wide,    // of 5 words
  lpm,           // prefixes of which the root tells all
  lpm_group,     // prefixes that are in one group
  masks_4,       // a classifier with 4 masks
  masks_16,      // with 16
  eight_direct,  // a direct table, and behind it eight tables with a rule for every packet
  eight_exact,   // a direct table, and behind it eight exact ones
  // One direct table with 8 rules ...
  one_shape,     // that send packets
  eight_shapes,  // that have 0 to 7 ops before that
  // One table that sends every packet ...
  push,
  note,
  copy,       // twice
  write_set,  // by its action set
  group,
  meter,
  // ... and of IPv4 packets
  ip,  // as they are
  set_mac,
  set_ip,
  set_field,
  decrement,
  // ... and of tagged packets
  tagged,
  pop,
};
inline constexpr std::size_t n_small_pipelines = static_cast<std::size_t>(small_pipeline::pop) + 1;

std::vector<operation> rules_of(small_pipeline which);
constexpr bool is_tagged(small_pipeline which) { return which >= small_pipeline::tagged; }

}  // namespace coua::pipeline
