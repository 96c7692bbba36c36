// SPDX-License-Identifier: Apache-2.0
//
// A worker's memory of the reports that it made a moment ago. From the first frame of a new address
// to its entry in the FIB pass some hundred microseconds, in which a busy host sends many frames:
// without this cache each of them would be a report.
//
// Direct-mapped: a slot holds one (key, port) and when it was reported. The same pair is a repeat
// until the hold time is over. At another port the address has moved, which is told sooner; but not
// at once: one that is sent to two ports of a worker moves with every burst, as fast as the FIB
// follows. A single frame there so soon after a report is not told, but the next one. Two addresses
// that share a slot push each other out, which costs repeats, never a lost report. After the hold
// time the report goes out again, in case the owner had to refuse or lost the first.
#pragma once

#include <array>
#include <cstdint>

namespace coua::dp {

class suppress_cache {
 public:
  /// How long a repeat is suppressed, and for how long after a report a move.
  suppress_cache(std::uint64_t hold_cycles, std::uint64_t move_cycles)
      : hold_(hold_cycles), move_(move_cycles) {}

  /// True when the key was remembered less than that before `now`.
  bool is_repeat(std::uint64_t key, std::uint32_t port, std::uint64_t now) const noexcept {
    const slot& s = slots_[index(key)];
    return s.key == key && now - s.time < (s.port == port ? hold_ : move_);
  }

  void remember(std::uint64_t key, std::uint32_t port, std::uint64_t now) noexcept {
    slots_[index(key)] = {key, now, port};
  }

  void clear() noexcept { slots_.fill({}); }

 private:
  static constexpr unsigned index_bits = 10;  // 1,024 slots of 24 bytes stay in the L1/L2 cache
  static constexpr std::uint64_t no_key = ~std::uint64_t{0};
  struct slot {
    std::uint64_t key = no_key;  // no FIB key has its upper bits set
    std::uint64_t time = 0;
    std::uint32_t port = 0;
  };

  static unsigned index(std::uint64_t key) noexcept {
    // Multiplication by the golden ratio spreads sequential addresses; an attacker who makes slots
    // collide gains repeats of his own reports, which the bounded ring limits anyway.
    return static_cast<unsigned>((key * 0x9E3779B97F4A7C15u) >> (64 - index_bits));
  }

  std::uint64_t hold_, move_;
  std::array<slot, std::size_t{1} << index_bits> slots_{};
};

}  // namespace coua::dp
