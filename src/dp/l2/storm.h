// SPDX-License-Identifier: Apache-2.0
//
// Storm control: how much a port may bring that is to be flooded, of each kind apart: frames or
// bits a second, a share of what its link carries, or nothing. A frame above that is dropped, and
// one counter for each kind says so. Knows no DPDK.
//
//   destination                         kind               limit of the port
//   FF:FF:FF:FF:FF:FF                   broadcast          storm.broadcast
//   any other group address             multicast          storm.multicast
//   a station that the FIB lacks        unknown_unicast    storm.unknown_unicast
//
// A bucket of tokens for each port and kind, kept as the time at which it will be full again: a
// frame moves that time by what it costs, and is one too many if it then is further away than a
// whole burst takes. It costs the time between two frames, or that of its bytes:
//
//   packets/s  1 / limit
//   bits/s     8 * length / limit           length: as rx_bytes counts it, so that a limit can be
//                                           compared with what `coua stats --rate` shows
//   percent    8 * (length + 24) / (share of the link's bits/s): check sequence, preamble and gap
//              are there on the wire, too. So short frames count as much of a link as they take
//   block      more than a burst
//
// All workers that poll queues of the port share the bucket: shares of the workers would let a
// single flow, which comes by one queue, have one share only, and many flows all of them. It is one
// word that they exchange; a frame that is dropped only reads it, so the storm itself does not move
// the line from core to core. Who floods nothing never comes here.
//
// Times are of cycles(), with `fraction_bits` more, so that the rates that links can bring are
// exact to 0.4 %; the time of a byte has `byte_bits` more than that. They are compared by their
// signed difference: a bucket must be used once in 2^63 / 16 cycles (six years at 3 GHz), or it is
// empty for as long again.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "base/cache_line.h"
#include "base/flood_limit.h"

namespace coua::dp {

enum class storm_kind : unsigned { broadcast, multicast, unknown_unicast };
inline constexpr unsigned n_storm_kinds = 3;

/// What a limit says, in the units of a bucket.
struct storm_rate {
  static constexpr unsigned fraction_bits = 4, byte_bits = 16;
  // What may come at once: a tenth of a second's worth, and at least so many frames; or bytes that
  // the longest frame (MTU 9600) fits in.
  static constexpr std::uint64_t burst_share = 10, burst_min = 32, burst_bytes_min = 16384;
  // Of a frame on the wire, beyond its bytes: check sequence 4, preamble 8, gap 12.
  static constexpr std::uint64_t wire_bytes = 24;

  std::uint64_t between = 0;   // that a frame costs, whatever its length; 0: no limit
  std::uint64_t per_byte = 0;  // and each of its bytes
  std::uint64_t room = 0;      // a burst

  // At the slowest limit of 1 Kbps and 4 GHz a byte takes 2^45 of its units: the 2^14 bytes of a
  // burst, and the 2^16 that a frame can have, stay below 2^63.
  std::uint64_t cost(std::uint64_t bytes) const noexcept {
    return between + (bytes * per_byte >> byte_bits);
  }

  static constexpr std::uint64_t burst(std::uint64_t per_second) {
    return std::max(per_second / burst_share, burst_min);
  }
  /// `per_second` 0: no limit. `hz`: of the clock.
  static storm_rate of(std::uint64_t per_second, double hz) noexcept {
    if (per_second == 0) return {};
    const double exact = hz * (1u << fraction_bits) / static_cast<double>(per_second);
    const std::uint64_t between =
        std::max<std::uint64_t>(static_cast<std::uint64_t>(exact + 0.5), 1);
    return {between, 0, between * burst(per_second)};
  }
  /// `more_bytes`: that each frame has beside its own.
  static storm_rate of_bits(double per_second, std::uint64_t more_bytes, double hz) noexcept {
    const double exact = 8 * hz * (std::uint64_t{1} << (fraction_bits + byte_bits)) / per_second;
    storm_rate made;
    made.per_byte = std::max<std::uint64_t>(static_cast<std::uint64_t>(exact + 0.5), 1);
    made.between = std::max<std::uint64_t>(more_bytes * made.per_byte >> byte_bits, 1);
    const double at_once = std::max(per_second / 8 / burst_share, double{burst_bytes_min});
    made.room =
        static_cast<std::uint64_t>(at_once * static_cast<double>(made.per_byte)) >> byte_bits;
    return made;
  }
  static storm_rate nothing() noexcept { return {1, 0, 0}; }

  /// `mbps`: of the link. 0: not known; then a share of it is nothing while the link is down, since
  /// it will be known when frames can come, and no limit while it is up.
  static storm_rate of(const flood_limit& limit, unsigned mbps, bool link_up, double hz) noexcept {
    switch (limit.unit) {
      case flood_limit::units::packets: break;
      case flood_limit::units::bits: return of_bits(static_cast<double>(limit.value), 0, hz);
      case flood_limit::units::percent:
        if (mbps == 0) return link_up ? storm_rate{} : nothing();
        return of_bits(1e6 * mbps * static_cast<double>(limit.value) / flood_limit::whole,
                       wire_bytes, hz);
      case flood_limit::units::block: return nothing();
    }
    return of(limit.value, hz);
  }
};

/// Any threads.
class storm_bucket {
 public:
  /// False: the frame is one too many. `now`: cycles(), of this thread's last look at it.
  bool take(const storm_rate& rate, std::uint64_t bytes, std::uint64_t now) noexcept {
    const std::uint64_t cost = rate.cost(bytes);
    // Relaxed: nothing but the word itself is shared.
    std::uint64_t seen = full_at_.load(std::memory_order_relaxed);
    for (;;) {
      const std::uint64_t next = after(seen, cost, now);
      if (!fits(next, rate, now)) return false;
      if (full_at_.compare_exchange_weak(seen, next, std::memory_order_relaxed)) return true;
    }
  }
  /// What take() would say, which takes nothing.
  bool would_take(const storm_rate& rate, std::uint64_t bytes, std::uint64_t now) const noexcept {
    const std::uint64_t full_at = full_at_.load(std::memory_order_relaxed);
    return fits(after(full_at, rate.cost(bytes), now), rate, now);
  }
  /// All tokens are there: for another limit.
  void fill(std::uint64_t now) noexcept {
    full_at_.store(now << storm_rate::fraction_bits, std::memory_order_relaxed);
  }

 private:
  static std::uint64_t after(std::uint64_t full_at, std::uint64_t cost,
                             std::uint64_t now) noexcept {
    const std::uint64_t at = now << storm_rate::fraction_bits;
    const bool is_full = static_cast<std::int64_t>(full_at - at) < 0;
    return (is_full ? at : full_at) + cost;
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
