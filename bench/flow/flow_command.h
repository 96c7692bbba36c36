// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "bench/flow/flow_options.h"
#include "bench/harness/report.h"

namespace coua::bench {

/// `coua-bench flow`: our flow tables beside the line limit and DPDK's hash.
result<report> run_flow(const flow_options&);

}  // namespace coua::bench
