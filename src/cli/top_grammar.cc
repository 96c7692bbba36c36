// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.h"

namespace coua::cli {

std::vector<verb> top_verbs() {
  return {
      {.path = "top",
       .summary = "Shows live what ports, workers and tables do",
       .details =
           "Rates are of the time between two readings. Keys: q ends, s sorts the ports by another "
           "column, p holds the view, + and - change the interval, h shows this. A daemon that "
           "does "
           "not answer is asked again until it does. With --batch, or where the output is no "
           "terminal, each view is printed below the one before.",
       .options =
           {{.name = "interval",
             .value = "SECONDS",
             .help = "between two readings (1)",
             .type = kind::real,
             .high = 3600,
             .letter = 'd'},
            {.name = "sort",
             .value = "COLUMN",
             .help = "order of the ports (name)",
             .choices = {"name", "rx", "tx", "drops"}},
            {.name = "batch", .help = "print, do not draw", .type = kind::flag, .letter = 'b'},
            {.name = "count",
             .value = "COUNT",
             .help = "end after so many views",
             .type = kind::number,
             .low = 1,
             .letter = 'n'}},
       .example = "coua top --batch -n 3",
       .json = R"({"views": [{"seconds": 1.0,
  "ports": {"p0": {"rx_pps": 10.0, "tx_pps": 9.0, "rx_bps": 6720.0, "tx_bps": 6048.0,
    "drop_pps": 0.0, "drops": 0, "link_up": true, "link_mbps": 10000, "learned": 2}},
  "totals": {"rx_pps": 10.0, "tx_pps": 9.0, "rx_bps": 6720.0, "tx_bps": 6048.0,
    "drop_pps": 0.0, "drops": 0},
  "workers": [{"number": 0, "core": 1, "busy": 0.31, "cycles_per_packet": 97.5, "pps": 10.0,
    "mean_burst": 1.0, "bursts": {"1": 1.0, "2-7": 0.0, "8-31": 0.0, "32-63": 0.0, "64": 0.0}}],
  "drops": {"drop_hairpin": {"per_second": 0.0, "total": 7}},
  "fib": {"entries": 2, "slots": 4000, "load": 0.0005,
    "counters": {"refused": {"per_second": 0.0, "total": 0}}},
  "learning": {"ring_full": {"per_second": 0.0, "total": 0}},
  "rules": 1, "groups": 0, "meters": 0}]})",
       .id = top_run},
  };
}

}  // namespace coua::cli
