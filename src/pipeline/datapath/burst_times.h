// SPDX-License-Identifier: Apache-2.0
//
// What bursts take, so that one that was interrupted does not spoil the mean: a worker that loses
// its CPU in the middle of a burst has millions of cycles for it, as many as tens of thousands of
// packets.
//
//   kind    bit width of the cycles less that of the packets: a burst of kind k takes 2^(k-1) to
//           2^(k+1) cycles a packet. No division, since workers ask.
//   usual   all bursts up to 4 kinds above the median one: whatever takes more than 64 times the
//           median is left out, and nothing that takes less than 8 times
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace coua::pipeline {

class burst_times {
 public:
  struct sum {
    std::uint64_t bursts = 0, packets = 0, cycles = 0;

    sum& operator+=(const sum& more) {
      bursts += more.bursts;
      packets += more.packets;
      cycles += more.cycles;
      return *this;
    }
  };
  static constexpr unsigned n_kinds = 48;  // the last: a day of a burst with one packet

  static unsigned kind_of(std::uint64_t n_packets, std::uint64_t n_cycles) noexcept {
    const int kind = std::bit_width(n_cycles) - std::bit_width(n_packets);
    return static_cast<unsigned>(std::clamp(kind, 0, static_cast<int>(n_kinds) - 1));
  }

  sum& of(unsigned kind) noexcept { return kinds_[kind]; }
  const sum& of(unsigned kind) const noexcept { return kinds_[kind]; }

  burst_times& operator+=(const burst_times& more) {
    for (unsigned k = 0; k < n_kinds; ++k) kinds_[k] += more.kinds_[k];
    return *this;
  }
  /// What came after `before`.
  burst_times since(const burst_times& before) const {
    burst_times made;
    for (unsigned k = 0; k < n_kinds; ++k) {
      const sum &now = kinds_[k], &then = before.kinds_[k];
      made.kinds_[k] = {now.bursts - then.bursts, now.packets - then.packets,
                        now.cycles - then.cycles};
    }
    return made;
  }

  sum all() const { return up_to(n_kinds - 1); }
  sum usual() const {
    const std::uint64_t n = all().bursts;
    unsigned median = 0;
    while (up_to(median).bursts * 2 < n) ++median;
    return up_to(std::min(median + 4, n_kinds - 1));
  }

 private:
  sum up_to(unsigned last) const {
    sum made;
    for (unsigned k = 0; k <= last; ++k) made += kinds_[k];
    return made;
  }

  std::array<sum, n_kinds> kinds_{};
};

}  // namespace coua::pipeline
