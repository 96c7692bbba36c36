// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "bench/forward/forward_options.h"
#include "bench/harness/report.h"

namespace coua::bench {

/// `coua-bench forward --measure cold-start`: what leaves a switch in the first seconds in which
/// packets of flows come that it has never seen, one switch after the other. Windows follow each
/// other: --repetitions of --seconds each, by the clock on the wall.
result<report> run_cold_start(const forward_options&);

}  // namespace coua::bench
