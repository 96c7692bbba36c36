// SPDX-License-Identifier: Apache-2.0
//
// The search that set separation consists of (ScaleBricks, SIGCOMM 2015, section 4): among many
// hash functions one that sends all keys of a set whose value is 1 to other places than those whose
// value is 0. All instruction sets find the same one.
//
//   function i   place of key k = upper bits of (base[k] + i * step[k])     of 8 or 16 places
//   found        no place has a 1 and a 0; then a bit for each place says which of both it has
//
// A vector tries as many functions at once as it has lanes. Of the keys that are 1 all must be
// looked at; of the others few, until every lane has a place with both.
#pragma once

#include <cstdint>

#include "base/cpu.h"

namespace coua::simd {

struct separation_keys {
  const std::uint32_t* base;
  const std::uint32_t* step;  // odd
  unsigned n_ones;            // keys whose value is 1: the first ones
  unsigned n;                 // all; any number, 0 too
};

struct separation {
  std::uint32_t index;   // of the function, or `none`
  std::uint32_t places;  // bit p: keys at place p are 1; 0 where there are none

  static constexpr std::uint32_t none = ~std::uint32_t{0};
  bool operator==(const separation&) const = default;
};

/// The first of the functions 0 to n_functions - 1 that separates the keys. `place_bits`: 3 or 4.
/// n_functions: a multiple of 32, to 65,536. Any number of threads.
using index_search_kernel = separation (*)(const separation_keys& keys, unsigned place_bits,
                                           std::uint32_t n_functions) noexcept;

index_search_kernel select_index_search(isa instruction_set);

// The built-in kernels.
separation generic_index_search(const separation_keys& keys, unsigned place_bits,
                                std::uint32_t n_functions) noexcept;
separation avx2_index_search(const separation_keys& keys, unsigned place_bits,
                             std::uint32_t n_functions) noexcept;
separation avx512_index_search(const separation_keys& keys, unsigned place_bits,
                               std::uint32_t n_functions) noexcept;

}  // namespace coua::simd
