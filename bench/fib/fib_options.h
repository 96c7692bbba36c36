// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coua/fib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/arena.h"
#include "bench/harness/options.h"

namespace coua::bench {

struct fib_options {
  run_options run;
  std::vector<std::uint64_t> entries = {16'000'000};
  std::vector<double> loads = {0.95};
  std::vector<std::string> modes = {"batch", "ahead", "pipeline"};
  std::vector<std::uint64_t> batches = {32};
  std::vector<std::uint64_t> misses = {0};  // percent
  std::vector<std::uint64_t> threads = {1};
  std::vector<std::uint64_t> updates = {0};  // per second
  unsigned pairs = 50;                       // windows with and without updates
  unsigned value_bits = 0;                   // 0: the widest that cost a table nothing
  unsigned load_threads = 0;                 // 0: all CPUs
  unsigned fills = 0;                        // times that tables are filled by inserts
  coua_fib_layout layout = COUA_FIB_LAYOUT_AUTO;
  page_kind pages = page_kind::automatic;
  std::vector<std::string> peers;  // names; none: only our table
  unsigned figure = 0;             // of CuckooSwitch: 5, 6, 7; 0: none
};

}  // namespace coua::bench
