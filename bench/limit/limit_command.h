// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "bench/harness/options.h"
#include "bench/harness/report.h"
#include "bench/limit/line_reader.h"

namespace coua::bench {

struct limit_options {
  run_options run;
  std::vector<std::uint64_t> sizes;  // bytes
  std::vector<page_kind> pages;
  std::vector<std::uint64_t> threads;
  std::vector<hint> hints;
};

/// `coua-bench limit`: one row for each size, page size, number of threads and prefetch hint.
result<report> run_limit(const limit_options&);

}  // namespace coua::bench
