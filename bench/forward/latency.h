// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "bench/forward/forward_options.h"
#include "bench/harness/report.h"

namespace coua::bench {

/// `coua-bench forward --measure latency`: how long a packet takes through a switch and the rings
/// before and behind it, at half of the rate that the switch reaches on these ports, and through
/// the rings alone at the same rate. Each switch is started --repetitions times, by turns, and
/// measured for --seconds each time, in 20 windows.
result<report> run_latency(const forward_options&);

}  // namespace coua::bench
