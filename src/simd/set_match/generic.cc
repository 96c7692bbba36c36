// SPDX-License-Identifier: Apache-2.0
#include "simd/set_match/kernels.h"

namespace coua::simd {

void generic_set_match(unsigned n_words, const std::uint64_t* keys, std::size_t key_stride,
                       const std::uint64_t* sets, std::size_t n, std::uint32_t* matched) noexcept {
  for (std::size_t i = 0; i < n; ++i, keys += key_stride) {
    const std::uint64_t* line = set_match::lines(sets[i]);
    std::uint32_t bits = 0;
    for (unsigned g = 0; g < set_match::n_groups(sets[i]); ++g) {
      std::uint64_t differs[set_match::group] = {};
      for (unsigned w = 0; w < n_words; ++w, line += set_match::line_words) {
        for (unsigned r = 0; r < set_match::group; ++r) {
          differs[r] |= (keys[w] & line[set_match::group + r]) ^ line[r];
        }
      }
      for (unsigned r = 0; r < set_match::group; ++r) {
        bits |= std::uint32_t{differs[r] == 0} << (set_match::group * g + r);
      }
    }
    matched[i] = bits;
  }
}

}  // namespace coua::simd
