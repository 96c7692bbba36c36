// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "bench/fib/fib_options.h"
#include "bench/harness/report.h"

namespace coua::bench {

/// `coua-bench fib`: our table beside the line limit and the tables of others.
result<report> run_fib(const fib_options&);

}  // namespace coua::bench
