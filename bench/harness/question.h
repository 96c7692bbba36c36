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
/// Words past the end of a sequence that repeat its start, so that a look-up may always look ahead.
inline constexpr std::size_t slack_keys = 4096;

/// How a table writes an answer: a hit of value v as the word v * scale + offset, a miss as `miss`.
struct answer_code {
  std::uint32_t scale = 1;
  std::uint32_t offset = 0;
  std::uint32_t miss = UINT32_MAX;
};

/// The words of one thread: keys, or byte offsets of lines.
class sequence {
 public:
  /// `words` a multiple of chunk_keys. Errors: no_memory.
  static result<sequence> create(std::size_t words);

  /// Uniform over the population, `miss_percent` of the keys not in it.
  void fill_keys(const population&, unsigned miss_percent, std::uint64_t seed);
  /// Uniform over the lines of `bytes` of memory.
  void fill_lines(std::uint64_t bytes, std::uint64_t seed);

  std::size_t chunks() const { return words_ / chunk_keys; }
  const std::uint64_t* chunk(std::size_t i) const {
    return static_cast<const std::uint64_t*>(memory_.data()) + i * chunk_keys;
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
  std::size_t words_ = 0;
  std::vector<tally> tallies_;
  std::vector<bool> present_;  // by key
};

/// How many words a sequence needs so that no part of a table of `bytes` becomes a hot subset:
/// 4 M, which touch 256 MiB of lines; a quarter of a million for small tables, which is too long
/// for a branch predictor to learn.
std::size_t sequence_words(std::uint64_t bytes);

}  // namespace coua::bench
