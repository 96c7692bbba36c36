// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/cases/use_case.h"
#include "bench/harness/options.h"
#include "bench/traffic/l2_traffic.h"

namespace coua::bench {

/// What Open vSwitch asks before its classifier: its cache of whole keys, that of signatures (16
/// bits of a key's hash, which name the mask to ask), or nothing.
enum class ovs_caches { exact_match, signature_match, none };

struct forward_options {
  run_options run;
  std::vector<std::uint64_t> rules = {1000};  // addresses in the FIB, or R of a use case
  std::vector<std::uint64_t> flows = {};      // none: as many as rules, to 1 M
  std::vector<std::uint64_t> sizes = {64};    // of the frames, with the check sequence
  std::vector<std::uint64_t> updates = {0};   // of the FIB or of rules, per second
  /// The learning switch, which has no more than its name; or a use case, but for what is in the
  /// lists above.
  case_params which = {.name = l2_traffic::case_name};
  std::uint64_t sources = 1000;
  unsigned workers = 1;
  unsigned pairs = 50;
  unsigned burst = 32;
  unsigned mbuf_bytes = 0;  // data room; 0: fits the frames
  bool testpmd = true;
  std::vector<ovs_caches> ovs;  // beside Open vSwitch (of use cases), a process for each
  unsigned figure = 0;          // 8, 9, 10
  unsigned table = 0;           // 2, 3
};

}  // namespace coua::bench
