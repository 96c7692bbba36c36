// SPDX-License-Identifier: Apache-2.0
//
// What a benchmark prints: one JSON object, or a plain table. The meaning of every field is in
// docs/benchmarks.md.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/options.h"

namespace coua::bench {

using json = nlohmann::ordered_json;

/// Null where it is not known.
inline json or_null(const std::optional<double>& value) { return value ? json(*value) : json(); }

struct row {
  std::string name;
  json params = json::object();
  std::optional<double> mops;             // millions per second, all threads together
  std::optional<double> ns_per_op;        // time that one thread spends on one operation
  std::optional<double> limit_mops;       // line limit of the same run
  std::optional<double> ratio_to_limit;   // mops / limit_mops
  std::optional<double> bytes_per_entry;  // memory taken by the table / entries in it
  std::optional<double> spread;           // median absolute deviation, as a share of the median
  json more = json::object();             // further numbers, by name, on the level of `mops`

  /// One of `more`; nothing: it is not known.
  void put(const std::string& name, const std::optional<double>& value) {
    more[name] = or_null(value);
  }
  void set_rate(double millions_per_second, unsigned threads = 1);
  void set_limit(double millions_per_second);  // after set_rate
};

struct report {
  std::string bench;
  json params = json::object();
  std::vector<row> rows;
  std::vector<std::string> notes = {};  // what was left out, and why
};

/// Without rows yet; its parameters are those of a run with windows in pairs.
report start_report(std::string bench, const run_options&, unsigned pairs);

/// {"bench", "params", "machine", "rows"}, and "notes" where there are any; numbers rounded to six
/// significant digits. What is not known (null) is left out.
json to_json(const report&, const json& machine);

/// Columns for what differs between the rows; what is the same everywhere stands above, notes
/// below. What is not known is "-": also the spread of a rate that was measured once.
std::string to_table(const report&, const json& machine);

}  // namespace coua::bench
