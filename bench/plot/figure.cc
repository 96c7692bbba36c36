// SPDX-License-Identifier: Apache-2.0
#include "bench/plot/figure.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/size.h"

namespace coua::bench {
namespace {

struct axis {
  const char* param;
  const char* label;
  bool logarithmic;
  bool bytes;
};

/// What may become the x axis, the most telling first.
constexpr axis axes[] = {
    {"entries", "entries in the table", true, false},
    {"nodes", "nodes of the cluster", false, false},
    {"keys", "keys in the table", true, false},
    {"capacity", "slots of a table", true, false},
    {"masks", "masks", true, false},
    {"rules", "rules", true, false},
    {"size", "bytes", true, true},
    {"updates", "updates per second", false, false},
    {"churn", "inserts and erases per second", false, false},
    {"flows", "flows", true, false},
    {"batch", "keys to a batch", true, false},
    {"misses", "misses, percent", false, false},
    {"threads", "threads", false, false},
    {"workers", "workers", false, false},
    {"moved", "entries of a bucket that are elsewhere", false, false},
    {"load", "share of the slots that are filled", false, false},
    {"second", "seconds since the first packet", false, false},
    {"attack", "packets of the attack, percent", false, false},
};

struct quantity {
  std::string field;
  std::string label;
};

/// What may become the y axis, the most telling first.
const quantity quantities[] = {
    {"mean_us", "mean time of a packet, us"},
    {"rest_mops", "millions per second of packets that do not attack"},
    {"mops", "millions per second"},
    {"gib", "GiB"},
    {"false_positive_rate", "false positives, share of the misses"},
    {"in_secondary", "share of the entries in their secondary bucket"},
    {"share", "share of the buckets"},
    {"lines", "lines of code"},
    {"million_entries", "millions of entries in the cluster"},
    {"bytes_per_entry", "bytes per entry"},
    {"updates_per_s", "changes per second"},
    {"gap_us", "median of the longest gaps between two polls, us"},
};

using rows = std::vector<json>;

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Params with more than one value, and not merely an echo of the row's name.
std::set<std::string> varying(const rows& all) {
  std::map<std::string, std::set<std::string>> values;
  for (const json& each : all) {
    for (const auto& [name, value] : each["params"].items()) values[name].insert(text_of(value));
  }
  std::set<std::string> out;
  for (const auto& [name, seen] : values) {
    if (seen.size() > 1) out.insert(name);
  }
  return out;
}

/// Whether the parameter tells apart rows of the same name, and of the same `x` where one is given:
/// a layout that follows from the number of entries does not.
bool tells_apart(const rows& all, const std::string& param, const char* x) {
  std::map<std::string, std::set<std::string>> seen;
  for (const json& each : all) {
    if (!each["params"].contains(param)) continue;
    std::string key = each["name"].get<std::string>();
    if (x != nullptr && each["params"].contains(x)) key += " " + text_of(each["params"][x]);
    seen[key].insert(text_of(each["params"][param]));
  }
  return std::any_of(seen.begin(), seen.end(), [](const auto& it) { return it.second.size() > 1; });
}

const axis* choose_axis(const rows& all, const std::set<std::string>& params) {
  for (const axis& each : axes) {
    if (params.contains(each.param) && tells_apart(all, each.param, nullptr)) return &each;
  }
  return nullptr;
}

std::string label_of(const json& each, const rows& all, const std::set<std::string>& params,
                     const char* without) {
  std::string out = each["name"].get<std::string>();
  for (const std::string& name : params) {
    if ((without != nullptr && name == without) || !each["params"].contains(name)) continue;
    if (!tells_apart(all, name, without)) continue;
    const json& value = each["params"][name];
    const std::string words = value.is_number_unsigned() && name != "misses"
                                  ? format_count(value.get<std::uint64_t>())
                                  : text_of(value);
    out += " " + name + " " + words;
  }
  return out;
}

std::string title_of(const json& report, const rows& all, const std::set<std::string>& params) {
  const std::string bench = report.value("bench", "?");
  std::string out = "coua-bench " + bench;
  const std::string paper = bench == "flow"     ? "Cuckoo++"
                            : bench == "setsep" ? "ScaleBricks"
                                                : "CuckooSwitch";
  const json own = report.value("params", json::object());
  if (own.contains("figure")) out += ", " + paper + " figure " + text_of(own["figure"]);
  if (own.contains("table")) out += ", " + paper + " table " + text_of(own["table"]);
  for (const axis& each : axes) {
    const json& first = all.front()["params"];
    if (!params.contains(each.param) && first.contains(each.param) &&
        text_of(first[each.param]) != "0") {
      out += ", " + std::string(each.param) + " " + text_of(first[each.param]);
    }
  }
  return out;
}

class figure {
 public:
  figure(rows all, quantity y)
      : rows_(std::move(all)), field_(std::move(y.field)), label_(std::move(y.label)) {}

  chart make(const json& report) {
    const std::set<std::string> params = varying(rows_);
    const json own = report.value("params", json::object());
    const axis* const x = own.value("bars", false) ? nullptr : choose_axis(rows_, params);
    chart out;
    out.title = title_of(report, rows_, params);
    out.y_label = label_;
    if (x == nullptr) {
      bars(out, params);
    } else {
      lines(out, params, *x);
    }
    return out;
  }

 private:
  chart_point point_of(const json& each, double x) const {
    const double y = each[field_].get<double>();
    return {x, y, field_ == "mops" ? y * each.value("spread", 0.0) : 0};
  }

  void bars(chart& out, const std::set<std::string>& params) const {
    chart_series all{"measured", {}, false};
    double limit = 0;
    for (const json& each : rows_) {
      const auto x = static_cast<double>(out.categories.size());
      out.categories.push_back(label_of(each, rows_, params, nullptr));
      all.points.push_back(point_of(each, x));
      limit = std::max(limit, each.value("limit_mops", 0.0));
    }
    out.series.push_back(all);
    if (limit > 0) out.x_label = "limit " + std::to_string(std::lround(limit)) + " " + out.y_label;
  }

  void lines(chart& out, const std::set<std::string>& params, const axis& x) const {
    out.x_label = x.label;
    out.logarithmic = x.logarithmic;
    out.bytes = x.bytes && rows_.front()["name"] == "limit";
    std::map<double, std::vector<double>> limits;
    for (const json& each : rows_) {
      if (!each["params"].contains(x.param)) continue;
      const double at = each["params"][x.param].get<double>();
      if (x.logarithmic && at <= 0) continue;
      const std::string name = label_of(each, rows_, params, x.param);
      auto found = std::find_if(out.series.begin(), out.series.end(),
                                [&](const chart_series& it) { return it.name == name; });
      if (found == out.series.end()) found = out.series.insert(found, {name, {}, false});
      found->points.push_back(point_of(each, at));
      if (each.contains("limit_mops")) limits[at].push_back(each["limit_mops"].get<double>());
    }
    if (limits.size() < 2 || field_ != "mops") return;
    chart_series limit{"limit", {}, true};
    for (auto& [at, values] : limits) {
      limit.points.push_back({at, *std::max_element(values.begin(), values.end())});
    }
    out.series.push_back(limit);
  }

  rows rows_;
  std::string field_;
  std::string label_;
};

bool is_filling(const json& row) {
  const std::string name = row["name"].get<std::string>();
  return name.ends_with("/load") || name.ends_with("/insert") || name.ends_with("/insert-batch");
}

/// Rows that have the field. Filling a table is another matter than look-up: it is drawn only where
/// there is nothing else.
rows rows_with(const json& report, const std::string& field) {
  rows out;
  for (const json& each : report["rows"]) {
    if (!each.contains("name") || !each.contains("params") || !each.contains(field) ||
        !each[field].is_number()) {
      continue;
    }
    out.push_back(each);
  }
  if (!std::all_of(out.begin(), out.end(), is_filling)) std::erase_if(out, is_filling);
  return out;
}

}  // namespace

result<chart> make_figure(const json& report, const std::string& field) {
  if (!report.is_object() || !report.contains("rows") || !report["rows"].is_array()) {
    return fail(errc::invalid, "plot", "this is not what coua-bench prints with --json");
  }
  if (!field.empty()) {
    const auto known = std::find_if(std::begin(quantities), std::end(quantities),
                                    [&](const quantity& it) { return it.field == field; });
    rows found = rows_with(report, field);
    if (found.empty()) return fail(errc::invalid, "plot", "no row has a number " + field);
    return figure(std::move(found), known == std::end(quantities) ? quantity{field, field} : *known)
        .make(report);
  }
  for (const quantity& each : quantities) {
    rows found = rows_with(report, each.field);
    if (!found.empty()) return figure(std::move(found), each).make(report);
  }
  return fail(errc::invalid, "plot", "there is no row with a number to draw");
}

result<panels> make_panels(const json& report, const std::string& field) {
  panels out;
  const json own = report.is_object() ? report.value("params", json::object()) : json::object();
  const json names = own.is_object() ? own.value("panels", json::array()) : json::array();
  if (!names.is_array() || names.size() != 2 || !names[0].is_string() || !names[1].is_string() ||
      !report.contains("rows") || !report["rows"].is_array()) {
    result<chart> only = make_figure(report, field);
    if (!only) return tl::unexpected(only.error());
    out.charts.push_back(std::move(*only));
    return out;
  }
  // In the order in which the rows first have them.
  std::vector<std::pair<json, std::vector<json>>> grid;
  for (const json& each : report["rows"]) {
    const json params = each.value("params", json::object());
    const json down = params.value(names[0].get<std::string>(), json());
    const json across = params.value(names[1].get<std::string>(), json());
    auto line = std::find_if(grid.begin(), grid.end(), [&](auto& it) { return it.first == down; });
    if (line == grid.end()) line = grid.emplace(line, down, std::vector<json>());
    if (std::find(line->second.begin(), line->second.end(), across) == line->second.end()) {
      line->second.push_back(across);
    }
  }
  for (const auto& [down, line] : grid) {
    out.columns = std::max(out.columns, line.size());
    for (const json& across : line) {
      json part = report;
      part["rows"] = json::array();
      for (const json& each : report["rows"]) {
        const json params = each.value("params", json::object());
        if (params.value(names[0].get<std::string>(), json()) == down &&
            params.value(names[1].get<std::string>(), json()) == across) {
          part["rows"].push_back(each);
        }
      }
      result<chart> made = make_figure(part, field);
      if (!made) return tl::unexpected(made.error());
      out.charts.push_back(std::move(*made));
    }
  }
  if (out.charts.empty()) return fail(errc::invalid, "plot", "there is no row to draw");
  return out;
}

}  // namespace coua::bench
