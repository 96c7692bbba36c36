// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/cpu.h"
#include "base/result.h"
#include "bench/cases/use_case.h"
#include "bench/harness/options.h"
#include "bench/harness/report.h"

namespace coua::bench {

struct pipeline_options {
  run_options run;
  case_params which;                 // but for what is in lists below
  std::vector<std::uint64_t> rules;  // none: the default of the case
  std::vector<std::uint64_t> flows = {1000};
  std::vector<std::uint64_t> batches = {32};
  std::vector<isa> simd;  // none: the best, in a row that does not name it
};

/// `coua-bench pipeline`: a compiled pipeline alone, on frames in memory.
result<report> run_pipeline(const pipeline_options&);

}  // namespace coua::bench
