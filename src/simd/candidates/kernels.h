// SPDX-License-Identifier: Apache-2.0
//
// The look-up kernels of the map of candidates (classify/candidate_map.h): the rows that the bytes
// of a key choose, combined by AND. All instruction sets give the same answers.
//
//   rows   for each byte that is looked at, 256 rows of n_words words:
//          row(i, v) = rows + (i * 256 + v) * n_words
//
// A writer sets and clears bits meanwhile, a word at a time; each word that a vector load brings is
// one that was there (aligned words of 8 bytes, x86), and loads are not reordered with those
// behind them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu.h"

namespace coua::simd {

struct candidate_rows {
  const std::uint64_t* rows;
  const std::uint8_t* bytes;  // offsets in the key
  std::size_t n_bytes;
  std::size_t n_words;  // of a row: 1, 2, 4 or a multiple of 8
};

/// Writes the n_words words that are left. Any number of threads, while the map's writer runs.
using candidate_kernel = void (*)(const candidate_rows& map, const std::uint8_t* key,
                                  std::uint64_t* ids) noexcept;

candidate_kernel select_candidates(isa instruction_set);

// The built-in kernels.
void generic_candidates(const candidate_rows& map, const std::uint8_t* key,
                        std::uint64_t* ids) noexcept;
void avx2_candidates(const candidate_rows& map, const std::uint8_t* key,
                     std::uint64_t* ids) noexcept;
void avx512_candidates(const candidate_rows& map, const std::uint8_t* key,
                       std::uint64_t* ids) noexcept;

}  // namespace coua::simd
