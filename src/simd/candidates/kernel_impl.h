// SPDX-License-Identifier: Apache-2.0
//
// The kernel of kernels.h over one kind of vector. A row's words are taken several vectors at a
// time, so that the address of a row is worked out once for all of them.
#pragma once

#include "simd/candidates/kernels.h"

/// ThreadSanitizer would report vector loads of words that are written meanwhile (kernels.h). What
/// such a function calls is always inline in it: a function of its own would be looked into.
#define COUA_CANDIDATE_LOADS [[gnu::noinline]] __attribute__((no_sanitize("thread")))

namespace coua::simd {
namespace {

/// `Vector`: a value with `n_words`, load(), store(), ones() and &=.
template <class Vector>
struct candidates_in {
  /// Columns `at` to `at + N * Vector::n_words` of the rows.
  template <std::size_t N>
  [[gnu::always_inline]] static void columns(const candidate_rows& map, const std::uint8_t* key,
                                             std::size_t at, std::uint64_t* ids) noexcept {
    Vector all[N];
    for (std::size_t v = 0; v < N; ++v) all[v] = Vector::ones();
    for (std::size_t i = 0; i < map.n_bytes; ++i) {
      const std::uint64_t* row = map.rows + (i * 256 + key[map.bytes[i]]) * map.n_words + at;
      for (std::size_t v = 0; v < N; ++v) all[v] &= Vector::load(row + v * Vector::n_words);
    }
    for (std::size_t v = 0; v < N; ++v) all[v].store(ids + at + v * Vector::n_words);
  }

  /// `n_words` of the map is a multiple of Vector::n_words.
  [[gnu::always_inline]] static void run(const candidate_rows& map, const std::uint8_t* key,
                                         std::uint64_t* ids) noexcept {
    constexpr std::size_t step = Vector::n_words;
    std::size_t at = 0;
    for (; at + 4 * step <= map.n_words; at += 4 * step) columns<4>(map, key, at, ids);
    for (; at + 2 * step <= map.n_words; at += 2 * step) columns<2>(map, key, at, ids);
    if (at < map.n_words) columns<1>(map, key, at, ids);
  }
};

}  // namespace
}  // namespace coua::simd
