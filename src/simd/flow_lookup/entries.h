// SPDX-License-Identifier: Apache-2.0
//
// Where entries of one shape lie, and how they are fetched and copied out. Widths that are
// constants of the shape are constants of the code.
#pragma once

#include "simd/flow_lookup/key_words.h"
#include "simd/flow_lookup/view.h"

namespace coua::simd {
namespace {

template <class Shape>
struct flow_entries {
  [[gnu::always_inline]] static unsigned key_words(const flow_view& view) noexcept {
    if constexpr (Shape::key_words != 0) return Shape::key_words;
    return view.key_words;
  }
  [[gnu::always_inline]] static unsigned value_words(const flow_view& view) noexcept {
    if constexpr (Shape::value_words != 0) return Shape::value_words;
    return view.value_words;
  }
  [[gnu::always_inline]] static std::uint64_t entry_words(const flow_view& view) noexcept {
    if constexpr (Shape::key_words != 0 && Shape::value_words != 0) {
      return Shape::key_words + Shape::value_words;
    }
    return view.entry_words;
  }
  [[gnu::always_inline]] static const std::uint64_t* entry(const flow_view& view,
                                                           std::uint64_t where) noexcept {
    return view.entries + where * entry_words(view);
  }

  /// An entry of 32 bytes never straddles two lines, nor does one of 16.
  static constexpr bool one_line =
      Shape::key_words + Shape::value_words == 4 && Shape::value_words != 0;

  /// Into the second-level cache, as for the FIB (docs/fib.md).
  [[gnu::always_inline]] static void fetch(const void* memory) noexcept {
    __builtin_prefetch(memory, 0, 2);
  }
  /// An entry, or a line that is in the cache already instead of a branch around the fetch.
  [[gnu::always_inline]] static void fetch_entry(const flow_view& view, const flow_line& line,
                                                 std::uint64_t where, bool wanted) noexcept {
    const void* first = entry(view, where);
    const void* at = wanted ? first : &line;
    fetch(at);
    if constexpr (!one_line) {
      fetch(wanted ? static_cast<const char*>(first) + entry_words(view) * 8 - 1
                   : static_cast<const char*>(at));
    }
  }

  [[gnu::always_inline]] static void put_value(const flow_view& view, const std::uint64_t* words,
                                               std::uint8_t* value) noexcept {
    if (value == nullptr) return;
    if constexpr (Shape::value_words > 1) {  // whole words
      // Word by word: a copy that was stored so is not loaded as a vector without waiting.
      for (unsigned w = 0; w < Shape::value_words; ++w) std::memcpy(value + 8 * w, words + w, 8);
    } else {
      // Widths that are one or two moves; a call for the others.
      if (view.value_bytes == 4) {
        std::memcpy(value, words, 4);
      } else if (view.value_bytes == 8) {
        std::memcpy(value, words, 8);
      } else {
        std::memcpy(value, words, view.value_bytes);
      }
    }
  }
};

}  // namespace
}  // namespace coua::simd
