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
  enum class units : std::uint8_t { packets, bits, percent, block };

  static constexpr std::uint64_t packets_max = 200'000'000;  // 100 Gbit/s at 64 bytes
  static constexpr std::uint64_t bits_min = 1'000, bits_max = 1'000'000'000'000;
  static constexpr std::uint64_t hundredths_min = 1;
  static constexpr std::uint64_t whole = 10'000;  // a link, in hundredths of a percent

  units unit = units::packets;
  std::uint64_t value = 0;  // packets/s, 0: no limit; bits/s; hundredths of a percent; block: 0

  constexpr flood_limit() = default;
  constexpr flood_limit(std::uint64_t packets) : value(packets) {}  // NOLINT: as it is written
  static constexpr flood_limit bits(std::uint64_t a_second) { return {units::bits, a_second}; }
  /// 150: 1.5 %.
  static constexpr flood_limit percent_hundredths(std::uint64_t hundredths) {
    return {units::percent, hundredths};
  }
  static constexpr flood_limit block() { return {units::block, 0}; }

  constexpr bool any() const { return unit != units::packets || value != 0; }
  bool operator==(const flood_limit&) const = default;

 private:
  constexpr flood_limit(units of, std::uint64_t n) : unit(of), value(n) {}
};

/// Upper or lower case, except that "MBps" is refused: by it people mean bytes. No sign, no blanks.
/// Errors: invalid, with the text and the reason in `what`. Ranges are for check_flood_limit().
result<flood_limit> parse_flood_limit(std::string_view text);

/// "0 to 200000000 packets/s, 1Kbps to 1Tbps, 0.01% to 100%, block": what check_flood_limit()
/// lets pass.
std::string flood_limit_range();

/// Empty when the value is in the range of its unit, else the reason.
std::string check_flood_limit(const flood_limit& limit);

/// As short as it can be and still be read as the same: "1000", "10Mbps", "0.25%", "block".
std::string format_flood_limit(const flood_limit& limit);

}  // namespace coua
