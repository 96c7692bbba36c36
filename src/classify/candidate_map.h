// SPDX-License-Identifier: Apache-2.0
//
// Which subtables may hold a rule that matches a key, found byte by byte: pruned tuple space search
// (Srinivasan, Suri, Varghese, SIGCOMM 1999, section 5) with bytes of the key in place of prefixes
// of fields, so that any mask will do.
//
//   row(b, v)    for byte b of the key and value v, a bit for each subtable: set when it has a rule
//                that matches keys with this byte
//   candidates   the rows of all bytes of a key, combined by AND: subtables that cannot match fall
//                out as soon as one byte says so
//
// A bit that is set says "maybe": bytes are looked at one by one, and bits of rules that are gone
// stay until the subtable's column is made anew. A bit that is not set is certain. So the writer
// sets bits before it shows a rule, and clears them after it has removed one.
//
// Sizes: 256 rows for each byte that is looked at, a bit in each for every subtable: 2 KiB a byte
// up to 64 subtables, 32 KiB with 1,024. Of long keys the 16 bytes are taken that masks use most.
//
// Thread rules: one writer; any number of readers of rows. Its shape never changes: the owner makes
// a larger one and publishes it.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/atomic_word.h"
#include "classify/subtable.h"
#include "simd/candidates/kernels.h"

namespace coua {

class candidate_map {
 public:
  static constexpr unsigned max_bytes = 16;

  /// For subtables with ids below `n_ids`, looking at these bytes of a key (max_bytes at most).
  candidate_map(std::vector<std::uint8_t> bytes, std::size_t n_ids)
      : bytes_(std::move(bytes)),
        n_words_(std::bit_ceil((n_ids + 63) / 64)),
        rows_(bytes_.size() * 256 * n_words_ / 8),
        view_{rows_.data()->words, bytes_.data(), bytes_.size(), n_words_} {}

  /// The bytes that masks take most bits of, over all subtables; ascending.
  static std::vector<std::uint8_t> choose_bytes(const std::vector<subtable*>& tables,
                                                unsigned n_words);

  std::size_t capacity() const noexcept { return n_words_ * 64; }
  std::size_t n_words() const noexcept { return n_words_; }
  std::uint64_t bytes() const noexcept { return rows_.size() * sizeof(rows_[0]); }
  /// What find() costs, in subtables that could be looked into meanwhile.
  unsigned cost() const noexcept {
    return 1 + static_cast<unsigned>(bytes_.size() * n_words_) / 48;
  }

  // Writer.
  /// A mask takes bits of a byte that is not looked at, and there is room for another.
  bool should_look_at(const wide_words& mask, unsigned n_words) const;
  /// Before the rule is shown.
  void add(subtable_id id, const wide_words& key, const wide_words& mask);
  /// All rules of a subtable, and no others.
  void renew(const subtable& table);
  void clear(subtable_id id);

  /// Writes n_words() words: bit i % 64 of word i / 64 stands for the subtable with id i. `kernel`
  /// is one of simd::select_candidates().
  [[gnu::always_inline]] void find(simd::candidate_kernel kernel, const std::uint64_t* key,
                                   std::uint64_t* ids) const noexcept {
    const auto* key_bytes = reinterpret_cast<const std::uint8_t*>(key);
    if (n_words_ != 1) return kernel(view_, key_bytes, ids);
    std::uint64_t all = ~std::uint64_t{0};
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      all &= load_acquire(view_.rows + i * 256 + key_bytes[bytes_[i]]);
    }
    ids[0] = all;
  }

 private:
  struct alignas(64) line {
    std::uint64_t words[8];
  };

  std::uint64_t* word(std::size_t byte, unsigned value, subtable_id id) {
    return rows_.data()->words + (byte * 256 + value) * n_words_ + id / 64;
  }
  void put(std::size_t byte, unsigned value, subtable_id id, bool set);

  const std::vector<std::uint8_t> bytes_;
  const std::size_t n_words_;
  std::vector<line> rows_;
  const simd::candidate_rows view_;
};

}  // namespace coua
