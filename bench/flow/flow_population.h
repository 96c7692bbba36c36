// SPDX-License-Identifier: Apache-2.0
//
// The flows that a benchmark inserts and looks up. Nothing is stored: key and value of entry i are
// computed from i, and a key that is not in a table is one of an index past its end.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/harness/population.h"

namespace coua::bench {

struct flow_population {
  std::uint64_t entries = 0;  // in the table: indices 0 to entries - 1
  unsigned key_bytes = 16;    // 4 to 128
  unsigned value_bytes = 16;  // 0 to 64
  static constexpr std::size_t most_value_words = 8;

  /// From key to key of an array, and from value to value, in words. Bytes past the width are 0.
  std::size_t key_words() const { return (key_bytes + 7) / 8; }
  std::size_t value_words() const { return std::max(1U, (value_bytes + 7) / 8); }
  /// How many distinct keys there are, at least: indices must stay below.
  std::uint64_t most_keys() const {
    return key_bytes < 8 ? std::uint64_t{1} << 8 * key_bytes : UINT64_MAX;
  }

  /// Random words; the first, of up to 8 bytes, is a bijection of the index.
  void key(std::uint64_t index, std::uint64_t* words) const noexcept {
    const unsigned bits = std::min(8 * key_bytes, 64U);
    const std::uint64_t mask = mask_of(bits);
    // Odd multipliers and right shifts are bijections of `bits` bits.
    std::uint64_t word = ((index ^ 0x15a4e35b9c71) * 0x2c1b3c6d9e3779b1) & mask;
    word ^= word >> (bits / 2 + 1);
    word = (word * 0x19d699a5d1342543) & mask;
    words[0] = word ^ word >> (bits / 2);
    fill(words[0], 1, key_bytes, words);
  }

  /// The value that belongs to a key: depends on every bit of its first word.
  void value(const std::uint64_t* key, std::uint64_t* words) const noexcept {
    words[0] = 1;  // stands for a value of no bytes
    fill(~key[0], 0, value_bytes, words);
  }

  /// What an answer is summed up to: a word that the first and the last byte of it decide.
  std::uint64_t digest(const std::uint64_t* value) const noexcept {
    return value[0] + value[value_words() - 1];
  }

  /// Writes the key of an index, and returns the digest of its value.
  std::uint64_t put(std::uint64_t index, std::uint64_t* words) const noexcept {
    std::uint64_t of_value[most_value_words];
    key(index, words);
    value(words, of_value);
    return digest(of_value);
  }

  /// Writes keys and values of the indices [first, first + count).
  void put_all(std::uint64_t first, std::size_t count, std::uint64_t* keys,
               std::uint64_t* values) const noexcept {
    for (std::size_t i = 0; i < count; ++i, keys += key_words(), values += value_words()) {
      key(first + i, keys);
      value(keys, values);
    }
  }

 private:
  static constexpr std::uint64_t mask_of(unsigned bits) {
    return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  }
  /// Words `from` and on of an item of `bytes`, from a seed.
  static void fill(std::uint64_t seed, unsigned from, unsigned bytes, std::uint64_t* words) {
    random_words random(seed);
    for (unsigned i = from; 8 * i < bytes; ++i) words[i] = random() & mask_of(8 * (bytes - 8 * i));
  }
};

}  // namespace coua::bench
