// SPDX-License-Identifier: Apache-2.0
//
// Keys and values as words of 64 bits, the last one padded with zero bits. Nothing is read beyond
// the end of a key: the last word is loaded so that it ends there, and shifted.
#pragma once

#include <cstdint>
#include <cstring>

#include "simd/flow_lookup/line.h"

namespace coua::simd {

inline constexpr unsigned max_value_words = 8;

/// Widths in words; 0: known at run time only.
template <unsigned KeyWords, unsigned ValueWords>
struct flow_shape {
  static constexpr unsigned key_words = KeyWords, value_words = ValueWords;
};

[[gnu::always_inline]] inline std::uint64_t load_8(const std::uint8_t* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, 8);
  return word;
}
[[gnu::always_inline]] inline std::uint64_t load_4(const std::uint8_t* bytes) {
  std::uint32_t word;
  std::memcpy(&word, bytes, 4);
  return word;
}

/// `n_bytes` (4 or more) as `n_words` words.
[[gnu::always_inline]] inline void to_words(const std::uint8_t* key, unsigned n_bytes,
                                            unsigned n_words, std::uint64_t* words) {
  if (n_words == 1) {
    words[0] = load_4(key) | load_4(key + n_bytes - 4) >> (8 * (8 - n_bytes)) << 32;
    return;
  }
  for (unsigned i = 0; i + 1 < n_words; ++i) words[i] = load_8(key + 8 * i);
  words[n_words - 1] = load_8(key + n_bytes - 8) >> (64 * n_words - 8 * n_bytes);
}

}  // namespace coua::simd
