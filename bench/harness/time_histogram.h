// SPDX-License-Identifier: Apache-2.0
//
// How often each time came, to within 1 %: what percentiles of millions of packets are read from,
// in the same room for any number of them. As in HdrHistogram the buckets are even within a power
// of two, 128 of them, and below 128 ns one for each nanosecond:
//
//   ns        0 ... 127 | 128 ... 255 | 256 ... 511  | 512 ... 1023 | ...
//   width     1         | 1           | 2            | 4            |
#pragma once

#include <cstdint>
#include <vector>

namespace coua::bench {

class time_histogram {
 public:
  /// Below 0 counts as 0.
  void add(double us);

  std::uint64_t count() const { return count_; }
  /// In us, what a share (0 to 1) of all times does not exceed: the upper end of its bucket, so at
  /// most 1/128 too much. 0 for none.
  double at(double share) const;
  /// In us, exact.
  double longest() const { return longest_; }

 private:
  std::vector<std::uint64_t> buckets_;  // as far as times came
  std::uint64_t count_ = 0;
  double longest_ = 0;
};

}  // namespace coua::bench
