// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "bench/forward/forward_options.h"
#include "bench/harness/report.h"

namespace coua::bench {

/// `coua-bench forward`: the switch between an endless packet source and a sink, beside the raw
/// I/O rate of the same ports and testpmd.
result<report> run_forward(const forward_options&);

}  // namespace coua::bench
