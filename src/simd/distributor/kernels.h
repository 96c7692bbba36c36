// SPDX-License-Identifier: Apache-2.0
//
// The look-up kernels of the cuckoo distributor: which hint a table of short signatures holds for a
// hash. All instruction sets give the same answers.
//
//   0                         32                        64 bytes
//   | 16 signatures of 16 bits | 16 hints of 16 bits     |
//
//   signature   bits 48-63 of the hash, never 0: 0 is an empty slot
//   first       bucket from the lower bits of the hash
//   second      first ^ a mix of the signature, so that each leads to the other (the partial-key
//               cuckoo hashing of Fan et al., "Cuckoo filter: practically better than Bloom",
//               CoNEXT 2014, section 4.2)
//
// One thread owns a distributor: nothing here is atomic.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu.h"

namespace coua::simd {

struct alignas(64) hint_line {
  static constexpr unsigned n_slots = 16;
  std::uint16_t signatures[n_slots];
  std::uint16_t hints[n_slots];
};
static_assert(sizeof(hint_line) == 64);

inline constexpr std::uint16_t no_hint = 0xffff;

[[gnu::always_inline]] constexpr std::uint16_t signature_of(std::uint64_t hash) {
  const auto upper = static_cast<std::uint16_t>(hash >> 48);
  return static_cast<std::uint16_t>(upper + (upper == 0));
}
[[gnu::always_inline]] constexpr std::uint64_t first_bucket(std::uint64_t hash,
                                                            std::uint64_t bucket_mask) {
  return hash & bucket_mask;
}
[[gnu::always_inline]] constexpr std::uint64_t second_bucket(std::uint64_t first,
                                                             std::uint16_t signature,
                                                             std::uint64_t bucket_mask) {
  return (first ^ (signature * std::uint64_t{0x9e3779b97f4a7c15} >> 16)) & bucket_mask;
}

/// Writes the hint for each of `n` hashes; no_hint where there is none. Where both buckets have the
/// signature, the first one's counts.
using hint_kernel = void (*)(const hint_line* lines, std::uint64_t bucket_mask,
                             const std::uint64_t* hashes, std::size_t n,
                             std::uint16_t* hints) noexcept;

struct hint_kernels {
  const char* name;  // of the instruction set
  hint_kernel find;
};
const hint_kernels& select_hint_kernels(isa instruction_set);

// The built-in sets.
extern const hint_kernels generic_hints, avx2_hints, avx512_hints;

}  // namespace coua::simd
