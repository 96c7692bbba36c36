// SPDX-License-Identifier: Apache-2.0
//
// For benchmarks only: the worker loop with the switching taken out, on the same ports, queues,
// pools and bursts. What it forwards per second is the ceiling for what the switch can.
#pragma once

#include "dp/switch.h"

namespace coua::dp {

/// On: every worker sends what a port receives to the next port that is up, in the order of port
/// numbers, without a look at the packets. Off: the switch works again. Any thread; takes effect
/// within a round.
void set_raw_io(l2_switch& target, bool on);

/// Packets of the ports' pools that are not in their pool: in drivers, in flight, or leaked. Any
/// thread.
unsigned packets_in_use(const l2_switch& target);

}  // namespace coua::dp
