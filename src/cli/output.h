// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace coua::cli {

using json = nlohmann::ordered_json;

/// Rows in columns as wide as their widest cell, with two blanks between; the first row is the
/// head.
class table {
 public:
  explicit table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// "12,345,678"
std::string grouped(std::uint64_t number);
/// "1 change", "2 changes"; `many`: where it is not the one with an s.
std::string counted(std::uint64_t n, const std::string& one, const std::string& many = "");
/// The JSON text as it is printed. Bytes that are no UTF-8 are replaced.
std::string dump(const json& value);
/// To standard output, at once and whole, whatever signal comes meanwhile. A failure is stdout's.
void put(std::string_view text);
/// {"code", "where", "what"}
json error_json(const error& e);

/// A signal ended the verb.
error interrupted();

/// Names of a message as a list.
/// "p0 p1", or "-".
template <typename Names>
std::string joined(const Names& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : " ") + name;
  return out.empty() ? "-" : out;
}

template <typename Names>
json names_json(const Names& names) {
  json out = json::array();
  for (const auto& name : names) out.push_back(name);
  return out;
}

/// Counters of a message as an object.
template <typename Counters>
json counters_json(const Counters& counters) {
  json out = json::object();
  for (const auto& counter : counters) out[counter.name()] = counter.value();
  return out;
}

/// Counters that are not zero, one to a line, indented.
template <typename Counters>
std::string counters_text(const Counters& counters) {
  std::string out;
  for (const auto& counter : counters) {
    if (counter.value() == 0) continue;
    std::string name = counter.name();
    name.resize(std::max<std::size_t>(name.size() + 1, 26), ' ');
    std::string value = grouped(counter.value());
    value.insert(0, value.size() < 20 ? 20 - value.size() : 0, ' ');
    out += "  " + name + value + "\n";
  }
  return out;
}

}  // namespace coua::cli
