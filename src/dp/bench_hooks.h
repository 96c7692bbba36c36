// SPDX-License-Identifier: Apache-2.0
//
// For benchmarks only: the worker loop with the switching taken out, on the same ports, queues,
// pools and bursts. What it forwards per second is the ceiling for what the switch can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "coua/fib.h"
#include "dp/switch.h"

namespace coua::dp {

/// On: every worker sends what a port receives to the next port that is up, in the order of port
/// numbers, without a look at the packets. Off: the switch works again. Any thread; takes effect
/// within a round.
void set_raw_io(l2_switch& target, bool on);

/// On: the workers leave the ports alone, and sleep if the idle mode lets them; when it returns,
/// none is in a call of a driver any more, and what they had to send is with the drivers. Off: they
/// work again, within a round, or within 5 ms where they sleep. Any thread but theirs.
void set_paused(l2_switch& target, bool on);

/// Stores entries, or removes them, up to 4,096 by one command to the owner of the FIB: at the
/// rates of a benchmark a command for each entry would measure the commands, and one for any number
/// would keep all others waiting. Keys and values are those of the table, unchecked. Return how
/// many were stored or removed. Any thread.
std::size_t fib_store(l2_switch& target, std::span<const coua_fib_record> records);
std::size_t fib_remove(l2_switch& target, std::span<const std::uint64_t> keys);

/// Packets of the ports' pools that are not in their pool: in drivers, in flight, or leaked. Any
/// thread.
unsigned packets_in_use(const l2_switch& target);

}  // namespace coua::dp
