// SPDX-License-Identifier: Apache-2.0
//
// A running bridge as the performance model sees it (outline.h).
//
// How often packets come to a table, and which rules they meet there, is told by the counters of
// rules, as far as the owner of the bridge has collected them. Where no rule of a table has met a
// packet, all are as likely. Of a large table a share of the rules is looked at, chosen as if at
// random: a thousand of them tell what the others do, and take no longer than a millisecond.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "pipeline/compiler/running_bridge.h"
#include "pipeline/estimate/outline.h"

namespace coua::pipeline {

/// Packets that rules had met when they were looked at.
struct met_until {
  std::unordered_map<rule_id, std::uint64_t> packets;
  rule_id newest = 0;  // of all rules that there were: later ones had met none
};

/// The thread that owns the bridge. With `until`, of the packets since then, and it is as of now
/// afterwards; of a table of whose rules none has met a packet since, of all that they ever met.
pipeline_outline outline_of(const running_bridge& what, met_until* until = nullptr);

}  // namespace coua::pipeline
