// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "bench/harness/options.h"
#include "bench/harness/report.h"
#include "bench/traffic/l2_traffic.h"

namespace coua::bench {

struct traffic_options {
  run_options run;  // of it only `json`
  l2_traffic traffic;
  std::string packets;    // file; empty: none
  std::string addresses;  // file; empty: none
  std::string port = "p1";
};

/// `coua-bench traffic`: writes a packet file, and the addresses that belong to it.
result<report> run_traffic(const traffic_options&);

}  // namespace coua::bench
