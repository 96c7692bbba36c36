// SPDX-License-Identifier: Apache-2.0
//
// The 128-bit hash of keys of one length: two keyed hashes (base/keyed_hash.h) with secrets of
// their own. Two keys that somebody picks without knowing the secret share it with a probability
// of 2^-128, which is taken for never: a table knows keys by their hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/keyed_hash.h"
#include "setsep/keyed_value.h"

namespace coua::setsep {

class key_hasher {
 public:
  static constexpr std::size_t key_bytes_max = 8 * keyed_hash::max_words;

  /// `bytes`: of a key, 1 to key_bytes_max.
  key_hasher(const hash_key& key, std::size_t bytes)
      : high_(key), low_(other(key)), bytes_(bytes), n_words_((bytes + 7) / 8) {}

  std::size_t key_bytes() const noexcept { return bytes_; }
  key_hash operator()(const void* key) const noexcept {
    std::uint64_t words[keyed_hash::max_words];
    words[n_words_ - 1] = 0;
    std::memcpy(words, key, bytes_);
    return {high_(words, n_words_), low_(words, n_words_)};
  }

 private:
  static hash_key other(hash_key key) {
    key.back() ^= 1;
    return key;
  }
  keyed_hash high_, low_;
  std::size_t bytes_, n_words_;
};

}  // namespace coua::setsep
