// SPDX-License-Identifier: Apache-2.0
//
// Long random sequences of keys, made before the clock runs, in the same way for every table. The
// right answers are known as one sum per chunk, so that every timed window is also a check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/arena.h"
#include "bench/harness/population.h"

namespace coua::bench {

/// Keys are asked in chunks: between two chunks the clock is read.
inline constexpr std::size_t chunk_keys = 4096;
/// Keys past the end of a sequence that repeat its start, so that a look-up may always look ahead.
inline constexpr std::size_t slack_keys = 4096;

/// How a table writes an answer: a hit of value v as the word v * scale + offset, a miss as `miss`.
struct answer_code {
  std::uint32_t scale = 1;
  std::uint32_t offset = 0;
  std::uint32_t miss = UINT32_MAX;
};

/// What one thread asks for: keys of one or more words, or byte offsets of lines.
class sequence {
 public:
  /// `keys` a multiple of chunk_keys. Errors: no_memory.
  static result<sequence> create(std::size_t keys, std::size_t key_words = 1);

  /// Uniform over a population, `miss_percent` of the keys not in it: their places and their number
  /// in a batch vary. `People` has `entries`, and put(index, words), which writes a key and returns
  /// its value.
  template <typename People>
  void fill_keys(const People& people, unsigned miss_percent, std::uint64_t seed);
  /// Uniform over the lines of `bytes` of memory.
  void fill_lines(std::uint64_t bytes, std::uint64_t seed);

  std::size_t chunks() const { return keys_ / chunk_keys; }
  const std::uint64_t* chunk(std::size_t i) const {
    return static_cast<const std::uint64_t*>(memory_.data()) + i * chunk_keys * key_words_;
  }
  /// Whether key `k` of chunk `i` is in the table.
  bool present(std::size_t i, std::size_t k) const {
    return present_.data()[i * chunk_keys + k] != 0;
  }
  /// Sum of the right answers of chunk `i`, modulo 2^64.
  std::uint64_t expected(std::size_t i, const answer_code&) const;
  /// The value that belongs to key `k` of chunk `i`; none for one that is not in the table.
  std::optional<std::uint32_t> expected_value(std::size_t i, std::size_t k,
                                              const population&) const;

 private:
  struct tally {
    std::uint64_t hits = 0;
    std::uint64_t values = 0;  // their sum
  };
  std::uint64_t* data() { return static_cast<std::uint64_t*>(memory_.data()); }
  void repeat_start();

  arena memory_;
  std::size_t keys_ = 0, key_words_ = 1;
  std::vector<tally> tallies_;
  // By key. Not of bits: unoptimized, as tests build it, each access of these takes several calls,
  // which came to half the time of the tests of `flow`.
  std::vector<std::uint8_t> present_;
};

template <typename People>
void sequence::fill_keys(const People& people, unsigned miss_percent, std::uint64_t seed) {
  random_words random(seed);
  std::uint8_t* const is_there = present_.data();
  std::size_t at = 0;
  for (tally& each : tallies_) {
    each = {};
    for (std::size_t i = 0; i < chunk_keys; ++i) {
      std::uint64_t index = random.below(people.entries);
      const bool miss = miss_percent != 0 && random.below(100) < miss_percent;
      if (miss) index += people.entries;
      const std::uint64_t value = people.put(index, data() + at * key_words_);
      if (!miss) {
        ++each.hits;
        each.values += value;
      }
      is_there[at++] = !miss;
    }
  }
  repeat_start();
}

/// How many keys a sequence needs so that no part of a table of `bytes` becomes a hot subset:
/// 4 M, which touch 256 MiB of lines; a quarter of a million for small tables, which is too long
/// for a branch predictor to learn.
std::size_t sequence_words(std::uint64_t bytes);

}  // namespace coua::bench
