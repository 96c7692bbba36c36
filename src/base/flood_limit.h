// SPDX-License-Identifier: Apache-2.0
//
// How much may be flooded, as people write it:
//
//   0                none: all of it
//   1000, 5K         packets a second; also 1000pps
//   10Mbps, 1.5Gbps  bits a second
//   2%, 0.25%        of what the link carries
//   block            nothing
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace coua {

struct flood_limit {
  enum class unit : std::uint8_t { packets, bits, percent, block };

  static constexpr std::uint64_t packets_max = 200'000'000;  // 100 Gbit/s at 64 bytes
  static constexpr std::uint64_t bits_min = 1'000, bits_max = 1'000'000'000'000;
  static constexpr std::uint64_t whole = 10'000;  // a link, in hundredths of a percent

  unit in = unit::packets;
  std::uint64_t value = 0;  // packets/s, 0: no limit; bits/s; hundredths of a percent; block: 0

  constexpr flood_limit() = default;
  constexpr flood_limit(std::uint64_t packets) : value(packets) {}  // NOLINT: as it is written
  static constexpr flood_limit bits(std::uint64_t a_second) { return {unit::bits, a_second}; }
  static constexpr flood_limit percent(std::uint64_t hundredths) {
    return {unit::percent, hundredths};
  }
  static constexpr flood_limit block() { return {unit::block, 0}; }

  constexpr bool any() const { return in != unit::packets || value != 0; }
  bool operator==(const flood_limit&) const = default;

 private:
  constexpr flood_limit(unit of, std::uint64_t n) : in(of), value(n) {}
};

/// Upper or lower case; no sign, no blanks. Errors: invalid, with the text and the reason in
/// `what`. Ranges are for check().
result<flood_limit> parse_flood_limit(std::string_view text);

/// Empty when the value is in the range of its unit, else the reason.
std::string check(const flood_limit& limit);

/// As short as it can be and still be read as the same: "1000", "10Mbps", "0.25%", "block".
std::string format_flood_limit(const flood_limit& limit);

}  // namespace coua
