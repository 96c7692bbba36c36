// SPDX-License-Identifier: Apache-2.0
//
// The kernel of kernels.h over one kind of vector.
#pragma once

#include <bit>

#include "simd/index_search/kernels.h"

namespace coua::simd {
namespace {

/// Of the keys that are 0 these are looked at before anything is decided: of some 32 functions
/// hardly one is left then, so the branch is foreseen. After each key it would not be, which took
/// three times as long.
inline constexpr unsigned first_zeros = 6;

/// `Vector`: n_lanes words of 32 bits, with from(first): the numbers from it on; all(word); place<
/// Shift>(base, step): 1 << ((base + *this * step) >> Shift); operator|=; meets(other): a bit for
/// each lane in which both have a common one; lane(i). Several vectors of functions are tried at
/// once, so that each key is loaded for all of them.
template <class Vector, unsigned PlaceBits>
separation index_search_as(const separation_keys& keys, std::uint32_t n_functions) noexcept {
  constexpr unsigned n_vectors = 2, n_lanes = Vector::n_lanes, shift = 32 - PlaceBits;
  constexpr unsigned all_lanes = (1U << n_lanes) - 1;
  const unsigned early = keys.n - keys.n_ones < first_zeros ? keys.n : keys.n_ones + first_zeros;
  for (std::uint32_t first = 0; first < n_functions; first += n_vectors * n_lanes) {
    Vector functions[n_vectors], ones[n_vectors], zeros[n_vectors];
    for (unsigned v = 0; v < n_vectors; ++v) {
      functions[v] = Vector::from(first + v * n_lanes);
      ones[v] = zeros[v] = Vector::all(0);
    }
    const auto add = [&](unsigned k, Vector* to) {
      const Vector base = Vector::all(keys.base[k]), step = Vector::all(keys.step[k]);
      for (unsigned v = 0; v < n_vectors; ++v) {
        to[v] |= functions[v].template place<shift>(base, step);
      }
    };
    for (unsigned k = 0; k < keys.n_ones; ++k) add(k, ones);
    for (unsigned k = keys.n_ones; k < early; ++k) add(k, zeros);
    unsigned failed[n_vectors], left = 0;
    for (unsigned v = 0; v < n_vectors; ++v) {
      failed[v] = ones[v].meets(zeros[v]);
      left |= failed[v] ^ all_lanes;
    }
    if (left == 0) continue;
    for (unsigned k = early; k < keys.n; ++k) add(k, zeros);
    for (unsigned v = 0; v < n_vectors; ++v) {
      failed[v] = ones[v].meets(zeros[v]);
      if (failed[v] == all_lanes) continue;
      const auto lane = static_cast<unsigned>(std::countr_one(failed[v]));
      return {first + v * n_lanes + lane, ones[v].lane(lane)};
    }
  }
  return {separation::none, 0};
}

template <class Vector>
separation index_search_in(const separation_keys& keys, unsigned place_bits,
                           std::uint32_t n_functions) noexcept {
  return place_bits == 3 ? index_search_as<Vector, 3>(keys, n_functions)
                         : index_search_as<Vector, 4>(keys, n_functions);
}

}  // namespace
}  // namespace coua::simd
