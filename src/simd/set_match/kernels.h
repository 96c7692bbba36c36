// SPDX-License-Identifier: Apache-2.0
//
// The kernel of tables that are split (pipeline/datapath/decomposed_table.h): each key is compared
// with all rules of a small set of its own. All instruction sets give the same answers.
//
//   set        groups of 4 rules; a group has a cache line for each word of the key:
//              4 values, 4 masks. What fills up the last group never matches (`never`)
//   reference  the address of a set, plus its number of groups: sets are aligned to cache lines, so
//              the number is known, and all lines can be fetched, before one of them is read
//   key        matches rule r when (word w & mask) == value for all w; then bit r is set
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu.h"

namespace coua::simd {

struct set_match {
  static constexpr unsigned group = 4;       // rules
  static constexpr unsigned groups_max = 8;  // of a set
  static constexpr unsigned rules_max = group * groups_max;
  static constexpr std::size_t line_words = 8;
  static constexpr std::size_t line_bytes = line_words * sizeof(std::uint64_t);
  /// The value, under a mask of 0, of every word of a rule that never matches.
  static constexpr std::uint64_t never = 1;

  static unsigned n_groups(std::uint64_t reference) noexcept {
    return static_cast<unsigned>(reference % line_bytes);
  }
  static const std::uint64_t* lines(std::uint64_t reference) noexcept {
    return reinterpret_cast<const std::uint64_t*>(reference - reference % line_bytes);
  }
};

/// Key i begins at keys + i * key_stride, in words, and is compared with sets[i]; n may be 0.
/// n_words: of keys, 1 or more.
using set_match_kernel = void (*)(unsigned n_words, const std::uint64_t* keys,
                                  std::size_t key_stride, const std::uint64_t* sets, std::size_t n,
                                  std::uint32_t* matched) noexcept;

set_match_kernel select_set_match(isa instruction_set);

// The built-in kernels.
void generic_set_match(unsigned n_words, const std::uint64_t* keys, std::size_t key_stride,
                       const std::uint64_t* sets, std::size_t n, std::uint32_t* matched) noexcept;
void avx2_set_match(unsigned n_words, const std::uint64_t* keys, std::size_t key_stride,
                    const std::uint64_t* sets, std::size_t n, std::uint32_t* matched) noexcept;

}  // namespace coua::simd
