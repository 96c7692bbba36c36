// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "base/result.h"
#include "bench/harness/options.h"
#include "bench/harness/report.h"
#include "simd/setsep_lookup/geometry.h"

namespace coua::bench {

struct setsep_options {
  run_options run;
  std::vector<std::uint64_t> keys;
  std::vector<std::uint64_t> value_bits;
  std::vector<setsep::layout> configs;  // their value_bits mean nothing
  std::vector<std::uint64_t> threads;
  std::vector<std::uint64_t> batches;
  std::vector<isa> simd;           // of the search; none: the best
  std::vector<std::string> peers;  // names; none: only our table
  unsigned figure = 0, table = 0;  // of ScaleBricks: figures 7 and 11, table 1; 0: none
};

/// `coua-bench setsep`: set separation, how fast it is made and asked, and its size.
result<report> run_setsep(const setsep_options&);

}  // namespace coua::bench
