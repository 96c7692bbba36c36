// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "bench/cases/use_case.h"
#include "bench/harness/options.h"
#include "bench/harness/report.h"
#include "bench/traffic/l2_traffic.h"

namespace coua::bench {

struct traffic_options {
  run_options run;  // of it only `json`
  case_params which = {.name = l2_traffic::case_name};
  l2_traffic traffic;     // with that name; `which` has what other cases need
  std::string out;        // packet file; empty: none. Of a case of a pipeline: a folder
  std::string addresses;  // file; empty: none
  std::string port = "p1";
  std::uint64_t packets = 0;  // of the flows of `which`; 0: one of each
};

/// `coua-bench traffic`: writes a packet file, and the addresses that belong to it; of a case of a
/// pipeline, its rules and a packet file for each port.
result<report> run_traffic(const traffic_options&);

}  // namespace coua::bench
