// SPDX-License-Identifier: Apache-2.0
//
// The kernels of tables with few rules: each key is compared with all rules at once. All
// instruction sets give the same answers.
//
//   rules    values and masks, word-major: word w of rule r at [w * n_rules + r], so that a vector
//            holds the same word of neighbouring rules
//            n_rules is a multiple of 8; what fills it up never matches (`never`)
//   packet   matches rule r when (word w & mask) == value for all w; then bit r is set
//
// With up to four words, two groups of rules, or the last one, are compared with a key at once, and
// with all keys before the next ones are looked at.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu.h"

namespace coua::simd {

struct direct_rules {
  static constexpr unsigned max_rules = 64;
  static constexpr unsigned max_words = 32;
  static constexpr unsigned group = 8;  // n_rules is a multiple of it
  /// The value, under a mask of 0, of every word of a rule that never matches.
  static constexpr std::uint64_t never = 1;

  unsigned n_words;  // 1 to max_words
  unsigned n_rules;  // 8 to max_rules
  const std::uint64_t* values;
  const std::uint64_t* masks;
};

/// Key i begins at keys + i * key_stride, in words; n may be 0. Any number of threads, while nobody
/// changes the rules.
using direct_match_kernel = void (*)(const direct_rules& rules, const std::uint64_t* keys,
                                     std::size_t key_stride, std::size_t n,
                                     std::uint64_t* matched) noexcept;

direct_match_kernel select_direct_match(isa instruction_set);

// The built-in kernels.
void generic_direct_match(const direct_rules& rules, const std::uint64_t* keys,
                          std::size_t key_stride, std::size_t n, std::uint64_t* matched) noexcept;
void avx2_direct_match(const direct_rules& rules, const std::uint64_t* keys, std::size_t key_stride,
                       std::size_t n, std::uint64_t* matched) noexcept;
void avx512_direct_match(const direct_rules& rules, const std::uint64_t* keys,
                         std::size_t key_stride, std::size_t n, std::uint64_t* matched) noexcept;

}  // namespace coua::simd
