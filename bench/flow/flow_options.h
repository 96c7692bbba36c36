// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coua/flow_table.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/arena.h"
#include "bench/harness/options.h"

namespace coua::bench {

/// A word of --variants.
struct flow_variant_word {
  std::string word;  // of the rows' names
  coua_flow_variant variant = COUA_FLOW_BLOOM;
  bool timers = false;
};

struct flow_options {
  run_options run;
  std::vector<std::uint64_t> capacities = {std::uint64_t{32} << 20};  // slots
  std::vector<double> loads = {0.95};
  unsigned key_bytes = 16, value_bytes = 16;
  std::vector<flow_variant_word> variants;
  std::vector<coua_flow_sync> syncs = {COUA_FLOW_SINGLE};
  std::vector<std::string> modes;  // batch, ahead, pipeline
  std::vector<std::uint64_t> batches = {32};
  std::vector<std::uint64_t> misses = {0, 20, 50, 100};  // percent
  std::vector<std::uint64_t> threads = {1};
  std::vector<std::uint64_t> churns = {0};  // inserts and erases per second
  unsigned pairs = 50;                      // windows with and without churn
  unsigned fills = 0;  // times that each table is filled; 0: as many as repetitions
  page_kind pages = page_kind::automatic;
  std::vector<std::string> peers;  // names; none: only our tables
  bool peers_asked = false;        // by the user, not by a figure
  unsigned figure = 0;             // of Cuckoo++; 0: none
  std::string table;               // of Cuckoo++: 1, 2 or memory; empty: none
};

}  // namespace coua::bench
