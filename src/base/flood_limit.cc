// SPDX-License-Identifier: Apache-2.0
#include "base/flood_limit.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/size.h"

namespace coua {
namespace {

using unit = flood_limit::unit;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool ends_in(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::ranges::equal(text.substr(text.size() - word.size()), word, {}, lower);
}

/// "1", "0.25": in hundredths; at most two digits behind the point.
std::optional<std::uint64_t> parse_hundredths(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, point));
  std::string fraction(point < text.size() ? text.substr(point + 1) : "");
  const bool is_empty = digits.empty() || (point < text.size() && fraction.empty());
  if (is_empty || digits.size() > 9 || fraction.size() > 2) return std::nullopt;
  fraction.resize(2, '0');
  std::uint64_t value = 0;
  for (const char c : digits + fraction) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  return value;
}

}  // namespace

result<flood_limit> parse_flood_limit(std::string_view text) {
  if (ends_in(text, "block") && text.size() == 5) return flood_limit::block();
  std::optional<flood_limit> made;
  if (ends_in(text, "%")) {
    if (const auto value = parse_hundredths(text.substr(0, text.size() - 1)))
      made = flood_limit::percent(*value);
  } else {
    const bool is_bits = ends_in(text, "bps");
    const bool has_unit = is_bits || ends_in(text, "pps");
    const std::string_view number = text.substr(0, text.size() - (has_unit ? 3 : 0));
    // 10MBps would be bytes, and links count in powers of ten.
    const bool is_odd = is_bits && (text[number.size()] == 'B' || ends_in(number, "i"));
    const auto value = parse_size(number);
    if (value && !is_odd) made = is_bits ? flood_limit::bits(*value) : flood_limit(*value);
  }
  if (made) return *made;
  return fail(errc::invalid, "limit",
              "'" + std::string(text) +
                  "' is not a limit such as 1000 (packets a second), 10Mbps, 1.5% (of the link) or "
                  "block");
}

std::string check(const flood_limit& limit) {
  const auto outside = [&](std::uint64_t low, std::uint64_t high) {
    return limit.value < low || limit.value > high;
  };
  switch (limit.in) {
    case unit::packets:
      if (!outside(0, flood_limit::packets_max)) return {};
      return std::to_string(limit.value) + " is not from 0 to " +
             std::to_string(flood_limit::packets_max);
    case unit::bits:
      if (!outside(flood_limit::bits_min, flood_limit::bits_max)) return {};
      return format_flood_limit(limit) + " is not from 1Kbps to 1Tbps";
    case unit::percent:
      if (!outside(1, flood_limit::whole)) return {};
      return format_flood_limit(limit) + " is not from 0.01% to 100%";
    case unit::block: break;
  }
  return {};
}

std::string format_flood_limit(const flood_limit& limit) {
  const std::uint64_t n = limit.value;
  switch (limit.in) {
    case unit::packets: return std::to_string(n);
    case unit::bits: {
      constexpr std::array<const char*, 5> units{"bps", "Kbps", "Mbps", "Gbps", "Tbps"};
      std::size_t i = 0;
      std::uint64_t scaled = n;
      for (; scaled != 0 && scaled % 1000 == 0 && i + 1 < units.size(); ++i) scaled /= 1000;
      return std::to_string(scaled) + units[i];
    }
    case unit::percent: {
      std::string text = std::to_string(n / 100);
      if (n % 100 != 0) text += "." + std::to_string(n % 100 / 10);
      if (n % 10 != 0) text += std::to_string(n % 10);
      return text + "%";
    }
    case unit::block: break;
  }
  return "block";
}

}  // namespace coua
