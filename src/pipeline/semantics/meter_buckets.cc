// SPDX-License-Identifier: Apache-2.0
#include "pipeline/semantics/meter_buckets.h"

#include <algorithm>

namespace coua::pipeline {
namespace {

constexpr std::uint64_t tokens_per_packet = 1'000'000'000;
constexpr std::uint64_t tokens_per_bit = 1'000'000;
constexpr std::uint64_t tokens_per_kilobit = 1'000 * tokens_per_bit;
constexpr std::uint64_t default_burst_kbit_min = 128;

}  // namespace

// rate kbit/s = rate * 1000 bit / 10^9 ns = rate * 10^-6 bit/ns: the number itself, in tokens.
meter_buckets::meter_buckets(const meter& of, time_ns now) : unit_(of.unit), last_(now) {
  const bool packets = unit_ == meter_unit::pktps;
  for (const meter_band& band : of.bands) {
    const std::uint64_t least = packets ? 1 : default_burst_kbit_min;
    const std::uint64_t burst =
        of.has_burst ? band.burst_size : std::max<std::uint64_t>(band.rate, least);
    const std::uint64_t size = burst * (packets ? tokens_per_packet : tokens_per_kilobit);
    bands_.push_back({band.rate, size, size});
  }
}

std::optional<std::size_t> meter_buckets::charge(std::size_t n_bytes, time_ns now) {
  const time_ns passed = now > last_ ? now - last_ : 0;
  last_ = std::max(last_, now);
  const std::uint64_t cost =
      unit_ == meter_unit::pktps ? tokens_per_packet : n_bytes * 8 * tokens_per_bit;
  std::optional<std::size_t> taken_by;
  for (std::size_t i = 0; i < bands_.size(); ++i) {
    token_bucket& band = bands_[i];
    const auto filled = static_cast<unsigned __int128>(band.rate) * passed + band.level;
    band.level = filled < band.size ? static_cast<std::uint64_t>(filled) : band.size;
    if (band.level >= cost) {
      band.level -= cost;
    } else if (!taken_by || band.rate > bands_[*taken_by].rate) {
      taken_by = i;
    }
  }
  return taken_by;
}

}  // namespace coua::pipeline
