// SPDX-License-Identifier: Apache-2.0
#include "base/flood_limit.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/ascii.h"
#include "base/size.h"

namespace coua {
namespace {

using units = flood_limit::units;

bool ends_in(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::ranges::equal(text.substr(text.size() - word.size()), word, {}, ascii_lower);
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

struct bounds {
  flood_limit low, high;
  const char* after;  // which numbers of this unit are written without
};
constexpr bounds ranges[] = {
    {0, flood_limit::packets_max, " packets/s"},
    {flood_limit::bits(flood_limit::bits_min), flood_limit::bits(flood_limit::bits_max), ""},
    {flood_limit::percent_hundredths(flood_limit::hundredths_min),
     flood_limit::percent_hundredths(flood_limit::whole), ""}};

std::string range_text(const bounds& of) {
  return format_flood_limit(of.low) + " to " + format_flood_limit(of.high) + of.after;
}

}  // namespace

result<flood_limit> parse_flood_limit(std::string_view text) {
  if (ends_in(text, "block") && text.size() == 5) return flood_limit::block();
  const auto bad = [text](const char* why) {
    return fail(errc::invalid, "limit", "'" + std::string(text) + "' is not a limit" + why);
  };
  std::optional<flood_limit> made;
  if (ends_in(text, "%")) {
    if (const auto value = parse_hundredths(text.substr(0, text.size() - 1)))
      made = flood_limit::percent_hundredths(*value);
  } else {
    const bool is_bits = ends_in(text, "bps");
    const bool has_unit = is_bits || ends_in(text, "pps");
    const std::string_view number = text.substr(0, text.size() - (has_unit ? 3 : 0));
    if (text.ends_with("Bps"))
      return bad(": B would be bytes, and bits are counted; write bps, Kbps, Mbps, Gbps or Tbps");
    const auto value = parse_size(number);
    // Links count in powers of ten.
    const bool is_binary = is_bits && ends_in(number, "i");
    if (value && !is_binary) made = is_bits ? flood_limit::bits(*value) : flood_limit(*value);
  }
  if (made) return *made;
  return bad(" such as 1000 (packets a second), 10Mbps, 1.5% (of the link) or block");
}

std::string flood_limit_range() {
  std::string all;
  for (const bounds& each : ranges) all += range_text(each) + ", ";
  return all + format_flood_limit(flood_limit::block());
}

std::string check_flood_limit(const flood_limit& limit) {
  for (const bounds& each : ranges) {
    const bool inside = limit.value >= each.low.value && limit.value <= each.high.value;
    if (limit.unit == each.low.unit && !inside)
      return format_flood_limit(limit) + " is not from " + range_text(each);
  }
  return {};
}

std::string format_flood_limit(const flood_limit& limit) {
  const std::uint64_t n = limit.value;
  switch (limit.unit) {
    case units::packets: return std::to_string(n);
    case units::bits: {
      constexpr std::array<const char*, 5> units{"bps", "Kbps", "Mbps", "Gbps", "Tbps"};
      std::size_t i = 0;
      std::uint64_t scaled = n;
      for (; scaled != 0 && scaled % 1000 == 0 && i + 1 < units.size(); ++i) scaled /= 1000;
      return std::to_string(scaled) + units[i];
    }
    case units::percent: {
      std::string text = std::to_string(n / 100);
      if (n % 100 != 0) text += "." + std::to_string(n % 100 / 10);
      if (n % 10 != 0) text += std::to_string(n % 10);
      return text + "%";
    }
    case units::block: break;
  }
  return "block";
}

}  // namespace coua
