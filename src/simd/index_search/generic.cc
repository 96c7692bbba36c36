// SPDX-License-Identifier: Apache-2.0
#include "simd/index_search/kernels.h"

namespace coua::simd {

separation generic_index_search(const separation_keys& keys, unsigned place_bits,
                                std::uint32_t n_functions) noexcept {
  const unsigned shift = 32 - place_bits;
  for (std::uint32_t i = 0; i < n_functions; ++i) {
    const auto place = [&](unsigned k) {
      return std::uint32_t{1} << ((keys.base[k] + i * keys.step[k]) >> shift);
    };
    std::uint32_t ones = 0;
    for (unsigned k = 0; k < keys.n_ones; ++k) ones |= place(k);
    unsigned k = keys.n_ones;
    while (k < keys.n && (place(k) & ones) == 0) ++k;
    if (k >= keys.n) return {i, ones};
  }
  return {separation::none, 0};
}

}  // namespace coua::simd
