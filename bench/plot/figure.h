// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "bench/harness/report.h"
#include "bench/plot/chart.h"

namespace coua::bench {

/// The chart that fits the rows of a report: the x axis is the number that varies (entries, rules,
/// size, updates...), each series one row name with its other parameters; rows that differ in
/// nothing but names become bars, as all do of a report with `params.bars`. `field` is what is
/// drawn; empty: the most telling one of those that are there. Errors: invalid (no report, or no
/// row to draw).
result<chart> make_figure(const json& report, const std::string& field = {});

/// Charts side by side, line by line.
struct panels {
  std::vector<chart> charts;
  std::size_t columns = 1;
};

/// One chart for each pair of values of the two parameters that the report names in
/// `params.panels`; else make_figure() alone. Errors: as there.
result<panels> make_panels(const json& report, const std::string& field = {});

}  // namespace coua::bench
