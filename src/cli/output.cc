// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

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

std::string counted(std::uint64_t n, const std::string& one, const std::string& many) {
  return grouped(n) + " " + (n == 1 ? one : many.empty() ? one + "s" : many);
}

void put(std::string_view text) {
  std::fflush(stdout);
  while (!text.empty()) {
    // fwrite() would leave out what a signal kept it from writing.
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      std::fwrite(text.data(), 1, text.size(), stdout);  // it fails in the same way, and remembers
      std::fflush(stdout);
      return;
    }
  }
}

json error_json(const error& e) {
  return {{"code", to_string(e.code)}, {"where", e.where}, {"what", e.what}};
}

error interrupted() { return {errc::interrupted, "coua", to_string(errc::interrupted)}; }

std::string dump(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace coua::cli
