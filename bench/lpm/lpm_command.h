// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/harness/options.h"
#include "bench/harness/report.h"
#include "bench/lpm/route_set.h"

namespace coua::bench {

struct lpm_options {
  run_options run;
  std::vector<ip_family> families;
  std::vector<std::uint64_t> prefixes;
  std::vector<unsigned> roots;  // bits
  std::size_t batch = 32;
  std::vector<std::string> peers;
};

/// `coua-bench lpm`: look-ups and changes of tables of prefixes.
result<report> run_lpm(const lpm_options&);

/// What --peers may name.
const std::vector<std::string>& lpm_peer_names();

}  // namespace coua::bench
