// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <algorithm>

namespace coua::cli {

std::string table::text() const {
  std::vector<std::size_t> widths(rows_[0].size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); i++) widths[i] = std::max(widths[i], row[i].size());
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); i++) {
      line += row[i];
      line.append(widths[i] - row[i].size() + 2, ' ');
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string grouped(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); i++) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

json error_json(const error& e) {
  return {{"code", to_string(e.code)}, {"where", e.where}, {"what", e.what}};
}

error interrupted() { return {errc::interrupted, "coua", to_string(errc::interrupted)}; }

std::string dump(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace coua::cli
