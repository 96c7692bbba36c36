// SPDX-License-Identifier: Apache-2.0
//
// The kinds of storms (l2/storm.h) by their names, and which limit of a port is theirs.
#pragma once

#include "dp/l2/storm.h"
#include "dp/switch.h"

namespace coua::dp {

struct storm_kind_row {
  const char* field;  // of `storm` in the configuration; with "storm_" before: what shut a port
  const char* text;   // of logs
  flood_limit storm_limits::*limit;
};

/// In the order of storm_kind.
inline constexpr storm_kind_row storm_kinds[n_storm_kinds] = {
    {"broadcast", "broadcast", &storm_limits::broadcast},
    {"multicast", "multicast", &storm_limits::multicast},
    {"unknown_unicast", "unknown unicast", &storm_limits::unknown_unicast}};

}  // namespace coua::dp
