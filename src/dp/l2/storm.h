// SPDX-License-Identifier: Apache-2.0
//
// Storm control: how many frames a second a port may bring that are to be flooded, of each kind
// apart. A frame above that is dropped, and one counter for each kind says so. Knows no DPDK.
//
//   destination                         kind               limit of the port
//   FF:FF:FF:FF:FF:FF                   broadcast          storm.broadcast
//   any other group address             multicast          storm.multicast
//   a station that the FIB lacks        unknown_unicast    storm.unknown_unicast
//
// A bucket of tokens for each port and kind, kept as the time at which it will be full again: a
// frame moves that time by the time between two frames, and is one too many if it then is further
// away than a whole burst takes. All workers that poll queues of the port share the bucket: shares
// of the workers would let a single flow, which comes by one queue, have one share only, and as
// many flows all of them. It is one word that they exchange; a frame that is dropped only reads it,
// so the storm itself does not move the line from core to core. Who floods nothing never comes
// here.
//
// Times are of cycles(), with `fraction_bits` more, so that the rates that links can bring are
// exact to 0.4 %. They are compared by their signed difference: a bucket must be used once in
// 2^63 / 16 cycles (six years at 3 GHz), or it is empty for as long again.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "base/cache_line.h"

namespace coua::dp {

enum class storm_kind : unsigned { broadcast, multicast, unknown_unicast };
inline constexpr unsigned n_storm_kinds = 3;

/// What a limit says, in the units of a bucket.
struct storm_rate {
  static constexpr unsigned fraction_bits = 4;
  // Frames that may come at once: of a tenth of a second, and a burst of a worker at least.
  static constexpr std::uint64_t burst_share = 10, burst_min = 32;

  std::uint64_t between = 0;  // two frames; 0: no limit
  std::uint64_t room = 0;     // a burst

  static constexpr std::uint64_t burst(std::uint64_t per_second) {
    return std::max(per_second / burst_share, burst_min);
  }
  /// `per_second` 0: no limit. `hz`: of the clock.
  static storm_rate of(std::uint64_t per_second, double hz) noexcept {
    if (per_second == 0) return {};
    const double exact = hz * (1u << fraction_bits) / static_cast<double>(per_second);
    const std::uint64_t between =
        std::max<std::uint64_t>(static_cast<std::uint64_t>(exact + 0.5), 1);
    return {between, between * burst(per_second)};
  }
};

/// Any threads.
class storm_bucket {
 public:
  /// False: the frame is one too many. `now`: cycles(), of this thread's last look at it.
  bool take(const storm_rate& rate, std::uint64_t now) noexcept {
    // Relaxed: nothing but the word itself is shared.
    std::uint64_t seen = full_at_.load(std::memory_order_relaxed);
    for (;;) {
      const std::uint64_t next = after(seen, rate, now);
      if (!fits(next, rate, now)) return false;
      if (full_at_.compare_exchange_weak(seen, next, std::memory_order_relaxed)) return true;
    }
  }
  /// What take() would say, which takes nothing.
  bool would_take(const storm_rate& rate, std::uint64_t now) const noexcept {
    return fits(after(full_at_.load(std::memory_order_relaxed), rate, now), rate, now);
  }
  /// All tokens are there: for another limit.
  void fill(std::uint64_t now) noexcept {
    full_at_.store(now << storm_rate::fraction_bits, std::memory_order_relaxed);
  }

 private:
  static std::uint64_t after(std::uint64_t full_at, const storm_rate& rate,
                             std::uint64_t now) noexcept {
    const std::uint64_t at = now << storm_rate::fraction_bits;
    const bool is_full = static_cast<std::int64_t>(full_at - at) < 0;
    return (is_full ? at : full_at) + rate.between;
  }
  static bool fits(std::uint64_t next, const storm_rate& rate, std::uint64_t now) noexcept {
    return next - (now << storm_rate::fraction_bits) <= rate.room;
  }

  std::atomic<std::uint64_t> full_at_{0};
};

/// Of a port, on a line of their own.
struct alignas(cache_line_bytes) storm_buckets {
  std::array<storm_bucket, n_storm_kinds> of;
  storm_bucket& operator[](storm_kind kind) noexcept { return of[static_cast<unsigned>(kind)]; }
  void fill(std::uint64_t now) noexcept {
    for (storm_bucket& each : of) each.fill(now);
  }
};

/// Of the destination of a frame that is to be flooded; the VLAN above it is not looked at.
inline storm_kind storm_kind_of(std::uint64_t destination) noexcept {
  constexpr std::uint64_t all_stations = 0xFFFF'FFFF'FFFFu, group = std::uint64_t{1} << 40;
  if ((destination & all_stations) == all_stations) return storm_kind::broadcast;
  return (destination & group) != 0 ? storm_kind::multicast : storm_kind::unknown_unicast;
}

}  // namespace coua::dp
