// SPDX-License-Identifier: Apache-2.0
//
// The kernel of kernels.h over one kind of vector.
#pragma once

#include <bit>

#include "simd/index_search/kernels.h"

namespace coua::simd {
namespace {

/// `Vector`: n_lanes words of 32 bits, with from(first): the numbers from it on; place(base, step,
/// shift): 1 << ((base + *this * step) >> shift); operator|=; meets(other): a bit for each lane in
/// which both have a common one; lane(i).
template <class Vector>
separation index_search_in(const separation_keys& keys, unsigned place_bits,
                           std::uint32_t n_functions) noexcept {
  constexpr unsigned all_lanes = (1U << Vector::n_lanes) - 1;
  const unsigned shift = 32 - place_bits;
  for (std::uint32_t first = 0; first < n_functions; first += Vector::n_lanes) {
    const Vector functions = Vector::from(first);
    Vector ones = Vector::none();
    for (unsigned k = 0; k < keys.n_ones; ++k) {
      ones |= functions.place(keys.base[k], keys.step[k], shift);
    }
    unsigned failed = 0;
    for (unsigned k = keys.n_ones; k < keys.n && failed != all_lanes; ++k) {
      failed |= functions.place(keys.base[k], keys.step[k], shift).meets(ones);
    }
    if (failed != all_lanes) {
      const auto lane = static_cast<unsigned>(std::countr_one(failed));
      return {first + lane, ones.lane(lane)};
    }
  }
  return {separation::none, 0};
}

}  // namespace
}  // namespace coua::simd
