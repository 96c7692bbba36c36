// SPDX-License-Identifier: Apache-2.0
//
// A running bridge as the performance model sees it (outline.h).
//
// How often packets come to a table, and which rules they meet there, is told by the counters of
// rules, as far as the owner of the bridge has collected them. Where no rule of a table has met a
// packet, all are as likely. Of a large table a share of the rules is looked at, chosen as if at
// random: a thousand of them tell what the others do, and take no longer than a millisecond.
#pragma once

#include "pipeline/compiler/running_bridge.h"
#include "pipeline/estimate/outline.h"

namespace coua::pipeline {

/// The thread that owns the bridge.
pipeline_outline outline_of(const running_bridge& what);

}  // namespace coua::pipeline
