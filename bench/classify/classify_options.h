// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coua/classifier.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/cpu.h"
#include "bench/harness/options.h"

namespace coua::bench {

struct classify_options {
  run_options run;
  std::string kind = "masks";  // or acl, fw, ipc, openflow
  std::vector<std::uint64_t> masks = {10, 20, 30, 100, 1000};
  std::vector<std::uint64_t> rules = {1'000, 10'000};  // of the other kinds
  std::vector<std::uint64_t> flows = {20'000, 100'000, 1'000'000};
  std::vector<std::pair<std::string, coua_classifier_distributor>> distributors;
  std::vector<bool> pruned;                 // whether searches are; a row each
  std::vector<isa> simd;                    // none: what the machine has
  std::uint64_t batch = 32;                 // keys to a call
  unsigned first_percent = 0;               // of the look-ups go to the first mask
  std::vector<std::uint64_t> misses = {0};  // percent of the flows that match no rule
  bool distinct = false;                    // a rule takes every bit, so that no two flows are one
  std::vector<std::string> peers;
  bool patch_table = false;
};

}  // namespace coua::bench
