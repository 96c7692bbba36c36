// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/harness/options.h"
#include "bench/harness/report.h"

namespace CLI {
class App;
}

namespace coua::bench {

struct stalls_options {
  run_options run;
  std::uint64_t entries = 1'000'000;  // addresses in the FIB
  std::uint64_t rules = 10'000;       // of a bundle of flow rules
  std::uint64_t batch = 65'536;       // addresses that are stored at once
  std::vector<std::string> only;      // actions, by name; empty: all
};

/// The subcommand's part of the grammar.
CLI::App* add_stalls(CLI::App& root, stalls_options& out);

/// `coua-bench stalls`: for how long a worker with traffic is away from its queues while the switch
/// is changed or looked at.
result<report> run_stalls(const stalls_options&);

}  // namespace coua::bench
