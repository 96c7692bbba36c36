// SPDX-License-Identifier: Apache-2.0
//
// How far resubmit goes. It looks up a table as goto does, also an earlier one or the same, runs
// what that leads to, and comes back: the list goes on with the packet as it has become.
//
//   rule in table 2:  resubmit(,5)  output:1
//                       |             ^
//                       table 5 --> goto 7 --> the last table, or no rule
//
// What a packet does in all, copies for buckets included, is bounded, so that no set of rules keeps
// a worker for long. A packet that comes to a bound ends there, or the copy of a bucket does; what
// was sent before stays sent. The first two bounds are those of Open vSwitch 3.1.
#pragma once

#include "pipeline/model/group.h"

namespace coua::pipeline {

/// Within one another, counting those to the same table or an earlier one.
inline constexpr unsigned resubmit_depth_max = 64;
/// Of one packet.
inline constexpr unsigned resubmits_max = 4096;
/// Within one another, all of them: the stack of a packet has so many places.
inline constexpr unsigned resubmit_nesting_max = 512;
/// Buckets within one another. Groups alone do not lead deeper.
inline constexpr unsigned bucket_nesting_max = group_depth_max;
/// Write-actions since the set was clear. Without resubmit there is one for each table.
inline constexpr unsigned set_writes_max = 255;

}  // namespace coua::pipeline
