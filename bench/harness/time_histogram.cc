// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/time_histogram.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace coua::bench {
namespace {

constexpr unsigned digits = 7;  // of a bucket's number within its power of two
constexpr std::uint64_t half = std::uint64_t{1} << digits;
constexpr double most_ns = 1e18;  // 30 years: no time is longer

std::size_t bucket_of(std::uint64_t ns) {
  if (ns < half) return ns;
  const unsigned shift = static_cast<unsigned>(std::bit_width(ns)) - digits - 1;
  return shift * half + (ns >> shift);
}

/// Its last nanosecond.
std::uint64_t end_of(std::size_t bucket) {
  if (bucket < 2 * half) return bucket;
  const std::size_t shift = bucket / half - 1;
  return ((bucket - shift * half + 1) << shift) - 1;
}

}  // namespace

void time_histogram::add(double us) {
  const auto ns = static_cast<std::uint64_t>(std::clamp(us * 1e3, 0.0, most_ns));
  const std::size_t bucket = bucket_of(ns);
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  ++buckets_[bucket];
  ++count_;
  longest_ = std::max(longest_, us);
}

double time_histogram::at(double share) const {
  if (count_ == 0) return 0;
  auto left = static_cast<std::uint64_t>(share * static_cast<double>(count_ - 1));
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (left < buckets_[i]) return std::min(longest_, static_cast<double>(end_of(i)) / 1e3);
    left -= buckets_[i];
  }
  return longest_;
}

}  // namespace coua::bench
