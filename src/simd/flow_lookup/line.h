// SPDX-License-Identifier: Apache-2.0
//
// The bucket line of the flow table, and how a hash leads to it.
//
//   0           32          48        56                        64 bytes
//   | 8 x {tag, timer} | 8 x more | filter | version:32 via:24 moved:8 |
//
//   tag     bits 0-15 of the hash, never 0: a slot whose pair is 0 is empty
//   timer   expiry time in units, mod 2^16; constant 0 in a table without timers
//   more    bits 16-31 of the hash: with the tag they lead from either bucket of an entry to the
//           other, and to its bits of the filter; read by the writer alone
//   filter  of the entries whose primary bucket this is and that are elsewhere: 64 Bloom bits, or
//           21 Horton entries of 3 bits
//   via     3 bits a slot: 0 for an entry that is at home here, else the function (1 to 7) that led
//           it here as a guest
//   moved   how many entries the filter stands for
//   version grows whenever a slot is about to be filled, and whenever an entry whose primary bucket
//           this is has moved
//
// Tag and timer share a word of 32 bits so that a reader can renew the timer by compare-exchange,
// and fails when the slot has changed hands. Key and value of slot s of bucket b are entry 8 b + s
// of an array beside the buckets. With timers or without, an entry costs the same.
//
// Buckets. The primary is floor(h * B / 2^64), which the upper bits decide. The alternative of b is
// (g - b) mod B, with g in [0, B) from the lower 32 bits: its own inverse, for any B up to 2^32.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/atomic_word.h"

namespace coua::simd {

static_assert(std::endian::native == std::endian::little);

struct alignas(64) flow_line {
  static constexpr unsigned n_slots = 8;
  std::uint32_t pairs[n_slots];
  std::uint16_t more[n_slots];
  std::uint64_t filter;
  std::uint64_t meta;
};
static_assert(sizeof(flow_line) == 64 && offsetof(flow_line, more) == 32 &&
              offsetof(flow_line, filter) == 48 && offsetof(flow_line, meta) == 56);

inline constexpr unsigned flow_version_shift = 32;
inline constexpr unsigned flow_via_shift = 8;

/// Whether two meta words of one bucket were read at the same version.
[[gnu::always_inline]] constexpr bool same_version(std::uint64_t a, std::uint64_t b) {
  return (a ^ b) >> flow_version_shift == 0;
}

/// Of an entry: tag in the lower half, `more` in the upper. All that a bucket keeps of the hash.
using fingerprint = std::uint32_t;

[[gnu::always_inline]] constexpr fingerprint fingerprint_of(std::uint64_t hash) {
  const auto low = static_cast<std::uint32_t>(hash);
  return low + ((low & 0xffff) == 0);
}
[[gnu::always_inline]] constexpr fingerprint fingerprint_of(std::uint32_t pair,
                                                            std::uint16_t more) {
  return (pair & 0xffff) | std::uint32_t{more} << 16;
}
[[gnu::always_inline]] constexpr std::uint32_t tag_of(fingerprint print) { return print & 0xffff; }

[[gnu::always_inline]] constexpr std::uint64_t home_bucket(std::uint64_t hash,
                                                           std::uint64_t n_buckets) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(hash) * n_buckets) >> 64);
}
[[gnu::always_inline]] constexpr std::uint64_t mirrored(std::uint64_t bucket, std::uint32_t bits,
                                                        std::uint64_t n_buckets) {
  const std::uint64_t sum = (std::uint64_t{bits} * n_buckets) >> 32;
  return sum - bucket + (sum < bucket ? n_buckets : 0);
}

/// Live: the expiry time is 1 to 1,024 units ahead. The same for all 2^16 values of `now`.
inline constexpr std::uint32_t flow_units_max = 1024;
[[gnu::always_inline]] constexpr std::uint32_t units_left(std::uint32_t pair, std::uint64_t now) {
  const std::uint32_t ahead = ((pair >> 16) - static_cast<std::uint32_t>(now) - 1) & 0xffff;
  return ahead < flow_units_max ? ahead + 1 : 0;
}

}  // namespace coua::simd
