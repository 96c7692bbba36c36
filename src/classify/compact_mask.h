// SPDX-License-Identifier: Apache-2.0
//
// A mask, kept as the words of 64 bits that it takes bits from. A key under the mask is those words
// alone: a rule that matches an address and a port costs two words, however wide the keys are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "coua/classifier.h"

namespace coua {

/// A key of `n_bytes` as words, the last one padded with zero bits. Reads nothing beyond the key.
[[gnu::always_inline]] inline void load_words(const std::uint8_t* bytes, unsigned n_bytes,
                                              std::uint64_t* words) noexcept {
  const auto whole_word = [](const std::uint8_t* at) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    return word;
  };
  if (n_bytes == 16) {  // so common that it is not left to a loop
    words[0] = whole_word(bytes);
    words[1] = whole_word(bytes + 8);
    return;
  }
  const unsigned n_whole = n_bytes / 8;
  for (unsigned w = 0; w < n_whole; ++w) words[w] = whole_word(bytes + 8 * w);
  if (n_bytes % 8 != 0) {
    words[n_whole] = 0;
    std::memcpy(words + n_whole, bytes + 8 * n_whole, n_bytes % 8);
  }
}

/// Room for the longest key.
struct wide_words {
  static constexpr unsigned max = COUA_CLASSIFIER_KEY_BYTES_MAX / 8;
  std::uint64_t words[max];

  static unsigned count(unsigned n_bytes) { return (n_bytes + 7) / 8; }
};

/// `Max`: the most words that it takes bits from.
template <unsigned Max>
class compact_mask_of {
 public:
  static constexpr unsigned max = Max;
  static_assert(Max <= 256, "a word's number is a byte");

  static bool takes(const wide_words& mask, unsigned n_words) {
    const auto n = std::count_if(mask.words, mask.words + n_words,
                                 [](std::uint64_t word) { return word != 0; });
    return n <= static_cast<std::ptrdiff_t>(max);
  }

  /// A mask without any bit takes word 0, with none of its bits: a key of it is one word, 0.
  compact_mask_of(const wide_words& mask, unsigned n_words) {
    for (unsigned w = 0; w < n_words; ++w) {
      if (mask.words[w] != 0) add(w, mask.words[w]);
    }
    if (n_ == 0) add(0, 0);
  }

  unsigned n() const noexcept { return n_; }
  unsigned at(unsigned i) const noexcept { return at_[i]; }
  std::uint64_t bits(unsigned i) const noexcept { return bits_[i]; }

  [[gnu::always_inline]] void take(const std::uint64_t* key, std::uint64_t* words) const noexcept {
    for (unsigned i = 0; i < n_; ++i) words[i] = key[at_[i]] & bits_[i];
  }

  bool operator==(const compact_mask_of& other) const noexcept {
    if (n_ != other.n_) return false;
    for (unsigned i = 0; i < n_; ++i) {
      if (at_[i] != other.at_[i] || bits_[i] != other.bits_[i]) return false;
    }
    return true;
  }

 private:
  void add(unsigned word, std::uint64_t bits) {
    at_[n_] = static_cast<std::uint8_t>(word);
    bits_[n_++] = bits;
  }

  std::uint32_t n_ = 0;
  std::uint8_t at_[max];
  std::uint64_t bits_[max];
};
/// Of a subtable, whose keys are those of a flow table.
using compact_mask = compact_mask_of<COUA_CLASSIFIER_MASK_WORDS_MAX>;
/// The bits that any of several masks takes.
using joint_mask = compact_mask_of<wide_words::max>;

}  // namespace coua
