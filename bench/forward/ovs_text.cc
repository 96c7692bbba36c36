// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/ovs_text.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

namespace coua::bench {

std::uint64_t number_behind(const std::string& text, const std::string& label, std::size_t at) {
  const std::size_t found = text.find(label + ":", at);
  return found == std::string::npos
             ? 0
             : std::strtoull(text.c_str() + found + label.size() + 1, nullptr, 10);
}

double fraction_behind(const std::string& text, const std::string& label, std::size_t at) {
  const std::size_t found = text.find(label + ":", at);
  return found == std::string::npos ? 0
                                    : std::strtod(text.c_str() + found + label.size() + 1, nullptr);
}

std::uint64_t count_masks(const std::string& flows) {
  std::set<std::string> masks;
  std::istringstream lines(flows);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t end = line.find(", packets:");
    if (end == std::string::npos) continue;
    std::string mask;
    bool value = false;
    for (const char c : line.substr(0, end)) {
      if (c == '/' || c == ',' || c == ')' || c == '(') value = false;
      if (!value) mask += c;
      if (c == '=') value = true;
    }
    masks.insert(std::move(mask));
  }
  return masks.size();
}

std::string mask_of(const std::vector<unsigned>& cpus) {
  std::string digits(*std::max_element(cpus.begin(), cpus.end()) / 4 + 1, '0');
  for (const unsigned cpu : cpus) {
    char& digit = digits[digits.size() - 1 - cpu / 4];
    const unsigned value = static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    digit = "0123456789abcdef"[value | 1U << cpu % 4];
  }
  return "0x" + digits;
}

}  // namespace coua::bench
