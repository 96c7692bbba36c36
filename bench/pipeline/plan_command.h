// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "bench/harness/options.h"
#include "bench/harness/report.h"

namespace coua::bench {

struct plan_options {
  run_options run;
  std::vector<std::uint64_t> tables = {250, 1000};  // in bridges of 250 at most
  std::uint64_t rules = 20;                         // of each table
};

/// `coua-bench plan`: how long changes of pipelines with many tables take, without traffic.
result<report> run_plan(const plan_options&);

}  // namespace coua::bench
