// SPDX-License-Identifier: Apache-2.0
//
// Which other row of the same run a row is related to, beside that of rte_hash.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "bench/harness/report.h"

namespace coua::bench {

struct flow_ratio {
  const char* field;
  std::string name;  // of the other row; empty: this row has no such ratio
  json params;       // of the other row
};

/// `name` is that of a row ("bloom-timer/batch"), `params` what tells it apart from others of that
/// name: its numbers of misses and threads are those of the other row, too.
inline std::array<flow_ratio, 2> flow_ratios(const std::string& name, const json& params) {
  std::array<flow_ratio, 2> out = {flow_ratio{"ratio_to_untimed", "", params},
                                   flow_ratio{"ratio_to_single", "", params}};
  constexpr std::string_view timer = "-timer";
  const std::size_t at = name.find("-timer/");
  if (at != std::string::npos) out[0].name = std::string(name).erase(at, timer.size());
  if (params.value("sync", "") == "one-writer") {
    out[1].name = name;
    out[1].params["sync"] = "single";
  }
  return out;
}

}  // namespace coua::bench
