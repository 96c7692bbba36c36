// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

namespace coua::bench {
namespace {

double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10.0, 5 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

void put(json& object, const char* name, const std::optional<double>& value) {
  if (value) object[name] = rounded(*value);
}

/// With nulls for what is not known.
json all_of(const row& each) {
  json out = {{"name", each.name}, {"params", each.params}};
  put(out, "mops", each.mops);
  put(out, "ns_per_op", each.ns_per_op);
  put(out, "limit_mops", each.limit_mops);
  put(out, "ratio_to_limit", each.ratio_to_limit);
  put(out, "bytes_per_entry", each.bytes_per_entry);
  put(out, "spread", each.spread);
  if (each.mops && !each.spread) out["spread"] = nullptr;
  for (const auto& [name, value] : each.more.items()) {
    out[name] = value.is_number_float() ? json(rounded(value.get<double>())) : value;
  }
  return out;
}

json row_json(const row& each) {
  json out = json::object();
  const json all = all_of(each);
  for (const auto& [name, value] : all.items()) {
    if (!value.is_null()) out[name] = value;
  }
  return out;
}

std::string cell(const json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return value.dump();
  char text[32];
  const double number = value.get<double>();
  const double size = std::fabs(number);
  // A share may be small and still be what the row is about.
  const int decimals = size >= 100 ? 1 : size == 0 || size >= 0.01 ? 3 : 5;
  std::snprintf(text, sizeof text, "%.*f", decimals, number);
  return text;
}

/// Names in the order in which the rows first use them.
std::vector<std::string> columns(const std::vector<json>& rows) {
  std::vector<std::string> names;
  for (const json& each : rows) {
    for (const auto& [name, value] : each.items()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

/// The row as one flat object: params first, then the numbers.
json flat(const row& each) {
  json out = {{"name", each.name}};
  out.update(each.params);
  const json numbers = all_of(each);
  for (const auto& [name, value] : numbers.items()) {
    if (name != "name" && name != "params") out[name] = value;
  }
  return out;
}

bool is_param(const std::vector<row>& rows, const std::string& name) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const row& each) { return each.params.contains(name); });
}

std::string print(const std::vector<std::vector<std::string>>& cells) {
  std::vector<std::size_t> widths(cells.front().size());
  for (const auto& line : cells) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string out;
  for (const auto& line : cells) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string blanks(widths[i] - line[i].size(), ' ');
      text += i == 0 ? line[i] + blanks : "  " + blanks + line[i];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

}  // namespace

void row::set_rate(double millions_per_second, unsigned threads) {
  mops = millions_per_second;
  if (millions_per_second > 0) ns_per_op = 1000.0 * threads / millions_per_second;
}

void row::set_limit(double millions_per_second) {
  limit_mops = millions_per_second;
  if (mops && millions_per_second > 0) ratio_to_limit = *mops / millions_per_second;
}

report start_report(std::string bench, const run_options& run, unsigned pairs) {
  report out;
  out.bench = std::move(bench);
  out.params = {{"repetitions", run.repetitions},
                {"seconds", run.seconds},
                {"pairs", pairs},
                {"seed", run.seed}};
  return out;
}

json to_json(const report& whole, const json& machine) {
  json rows = json::array();
  for (const row& each : whole.rows) rows.push_back(row_json(each));
  json out = {
      {"bench", whole.bench}, {"params", whole.params}, {"machine", machine}, {"rows", rows}};
  if (!whole.notes.empty()) out["notes"] = whole.notes;
  return out;
}

std::string to_table(const report& whole, const json& machine) {
  std::vector<json> rows;
  for (const row& each : whole.rows) rows.push_back(flat(each));
  std::string head =
      whole.bench + " on " + machine.value("cpu", "?") + ", " +
      cell(machine.value("cpus", json(0))) + " CPUs" +
      (machine.contains("built_for") ? ", built for " + machine.value("built_for", "") +
                                           ", which makes it slow: see make bench\n"
                                     : "\n");
  std::string foot;
  for (const std::string& each : whole.notes) foot += "note: " + each + "\n";
  if (rows.empty()) return head + foot;

  std::string same;
  std::vector<std::string> shown;
  for (const std::string& name : columns(rows)) {
    std::set<std::string> values;
    for (const json& each : rows) values.insert(each.contains(name) ? cell(each[name]) : "");
    if (rows.size() > 1 && values.size() == 1 && is_param(whole.rows, name)) {
      same += (same.empty() ? "" : ", ") + name + " " + *values.begin();
    } else {
      shown.push_back(name);
    }
  }
  if (!same.empty()) head += same + "\n";

  std::vector<std::vector<std::string>> cells = {shown};
  for (const json& each : rows) {
    auto& line = cells.emplace_back();
    for (const std::string& name : shown)
      line.push_back(each.contains(name) ? cell(each[name]) : "");
  }
  return head + print(cells) + foot;
}

}  // namespace coua::bench
