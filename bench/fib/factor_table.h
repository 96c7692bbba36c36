// SPDX-License-Identifier: Apache-2.0
//
// The steps of CuckooSwitch's factor analysis (section 4.3, figure 5), each with those before it:
//
//   factor/baseline    optimistic cuckoo hashing, atomic counters and barriers, 4 KiB pages
//   factor/+hugepage   on the largest pages that the machine gives
//   factor/+memorder   plain counters
//   factor/+batching   a batch of keys step by step
//   factor/+prefetch   and their buckets fetched ahead
#pragma once

#include <memory>
#include <vector>

#include "bench/fib/lookup_table.h"

namespace coua::bench {

struct factor_params {
  std::uint64_t entries = 0;
  double load = 0.95;
  unsigned value_bits = 0;
  std::uint64_t batch = 14;  // the paper's best
  unsigned load_threads = 0;
};

/// One table for each step, in their order. Errors: as of the tables.
result<std::vector<std::unique_ptr<lookup_table>>> make_factor_tables(const factor_params&);

}  // namespace coua::bench
