// SPDX-License-Identifier: Apache-2.0
#include "base/size.h"

#include <array>
#include <cstddef>
#include <cstdio>

#include "base/ascii.h"

namespace coua {
namespace {

constexpr std::string_view unit_letters = "kmgt";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The factor of a unit; 0 when there is no such unit.
std::uint64_t unit_factor(std::string_view unit) {
  if (unit.empty()) return 1;
  const std::size_t power = unit_letters.find(ascii_lower(unit[0]));
  const bool binary = unit.size() == 2 && ascii_lower(unit[1]) == 'i';
  if (power == std::string_view::npos || (unit.size() != 1 && !binary)) return 0;
  std::uint64_t factor = 1;
  for (std::size_t i = 0; i <= power; ++i) factor *= binary ? 1024 : 1000;
  return factor;
}

std::string format_scaled(std::uint64_t number, double step, const char* const* units,
                          std::size_t n_units) {
  double scaled = static_cast<double>(number);
  std::size_t unit = 0;
  // What would be printed as "1000.0 K" is printed as "1.0 M".
  while (unit + 1 < n_units && scaled >= (unit == 0 ? step : step - 0.05)) {
    scaled /= step;
    ++unit;
  }
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), "%.*f%s%s", unit == 0 ? 0 : 1, scaled,
                units[unit][0] == '\0' ? "" : " ", units[unit]);
  return text.data();
}

}  // namespace

result<std::uint64_t> parse_size(std::string_view text) {
  const auto bad = [text](const char* why) {
    return fail(errc::invalid, "size '" + std::string(text) + "'", why);
  };
  using wide = unsigned __int128;
  constexpr wide too_large = wide{1} << 64;
  std::size_t at = 0;
  wide number = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    number = number * 10 + static_cast<unsigned>(text[at] - '0');
    if (number >= too_large) return bad("is larger than 2^64-1");
  }
  if (at == 0) return bad("must start with a digit");
  std::uint64_t divisor = 1;
  if (at < text.size() && text[at] == '.') {
    const std::size_t point = at++;
    for (; at < text.size() && is_digit(text[at]); ++at) {
      if (at - point > 12) return bad("has more than 12 digits after the point");
      number = number * 10 + static_cast<unsigned>(text[at] - '0');
      divisor *= 10;
    }
    if (divisor == 1) return bad("needs a digit after the point");
  }
  const std::uint64_t factor = unit_factor(text.substr(at));
  if (factor == 0) {
    return bad(
        "has an unknown unit: use K, M, G, T (powers of ten) or Ki, Mi, Gi, Ti (powers of two)");
  }
  // number < 2^64 * 10^12 < 2^104: cut the factor's zeros first so that the product fits 128 bits.
  wide product = number;
  std::uint64_t rest = factor;
  while (divisor > 1 && rest % 2 == 0 && divisor % 2 == 0) rest /= 2, divisor /= 2;
  while (divisor > 1 && rest % 5 == 0 && divisor % 5 == 0) rest /= 5, divisor /= 5;
  if (product > ~wide{0} / rest) return bad("is larger than 2^64-1");
  product *= rest;
  if (product % divisor != 0) return bad("is not a whole number");
  product /= divisor;
  if (product >= too_large) return bad("is larger than 2^64-1");
  return static_cast<std::uint64_t>(product);
}

std::string format_bytes(std::uint64_t bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return format_scaled(bytes, 1024, units, std::size(units));
}

std::string format_count(std::uint64_t count) {
  static constexpr const char* units[] = {"", "K", "M", "G", "T", "P", "E"};
  return format_scaled(count, 1000, units, std::size(units));
}

}  // namespace coua
