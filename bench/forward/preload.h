// SPDX-License-Identifier: Apache-2.0
//
// What programs of others are started with, so that they have the ports and the packets of our
// switch: the library of the folder preload.
#pragma once

#include <string>

#include "base/result.h"
#include "bench/forward/bench_switch.h"
#include "bench/harness/foreign_program.h"

namespace coua::bench {

/// Settings of the environment of who gets this plan's ports: LD_PRELOAD and the others; none where
/// `pool_packets` is 0 and the source needs nothing. `pool_packets` is how many Open vSwitch's pool
/// shall have. Errors: not_found (the library).
result<word_list> preload_settings(const port_plan&, std::uint64_t pool_packets = 0);

}  // namespace coua::bench
