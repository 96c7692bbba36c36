// SPDX-License-Identifier: Apache-2.0
//
// A rule as the entry of a subtable holds it: two words.
//
//   answer   priority:32 value:32
//   rivals   the subtables that hold a rule of higher priority which overlaps this one
//
//            up to four   4 x 16 bits: id + 1; 0: no further one
//            more         0xffff:16, then a filter of 48 bits: subtable id may be a rival when bit
//                         id % 48 is set. All set: nothing is known
//
// What rivals are for: a hint of the distributor leads to a rule that matches, not yet to the one
// that counts. A rule without rivals is the answer: whatever else matches the key overlaps it, so
// it would be a rival if it had a higher priority. With rivals, only their subtables are asked.
#pragma once

#include <bit>
#include <cstdint>

#include "coua/classifier.h"

namespace coua {

using subtable_id = std::uint16_t;
inline constexpr unsigned n_subtables_max = COUA_CLASSIFIER_MASKS_MAX;

constexpr std::uint64_t answer_word(std::uint32_t priority, std::uint32_t value) {
  return std::uint64_t{priority} << 32 | value;
}
constexpr std::uint32_t priority_of(std::uint64_t answer) {
  return static_cast<std::uint32_t>(answer >> 32);
}
constexpr std::uint32_t value_of(std::uint64_t answer) {
  return static_cast<std::uint32_t>(answer);
}

class rival_set {
 public:
  static constexpr unsigned max_listed = 4;

  rival_set() = default;
  explicit rival_set(std::uint64_t word) : word_(word) {}
  /// Any subtable may be a rival.
  static rival_set unknown() { return rival_set(~std::uint64_t{0}); }

  std::uint64_t word() const { return word_; }
  bool empty() const { return word_ == 0; }
  bool is_unknown() const { return word_ == ~std::uint64_t{0}; }
  bool is_listed() const { return word_ < marker; }
  /// Of those that are listed.
  unsigned size() const { return (static_cast<unsigned>(std::bit_width(word_)) + 15) / 16; }
  /// Of those that are not: the share of all subtables that it says may be rivals.
  double density() const { return std::popcount(word_ & ~marker) / double{filter_bits}; }

  /// False is certain.
  bool may_have(subtable_id id) const {
    if (!is_listed()) return (word_ & filter_bit(id)) != 0;
    for (std::uint64_t left = word_; left != 0; left >>= 16) {
      if ((left & 0xffff) == id + 1u) return true;
    }
    return false;
  }
  void add(subtable_id id) {
    if (may_have(id)) return;
    if (!is_listed()) {
      word_ |= filter_bit(id);
    } else if (const unsigned n = size(); n < max_listed) {
      word_ |= static_cast<std::uint64_t>(id + 1u) << 16 * n;
    } else {
      std::uint64_t filter = marker | filter_bit(id);
      each_listed([&](subtable_id one) { filter |= filter_bit(one); });
      word_ = filter;
    }
  }
  template <class Each>
  [[gnu::always_inline]] void each_listed(Each each) const {
    for (std::uint64_t left = word_; left != 0; left >>= 16) {
      each(static_cast<subtable_id>((left & 0xffff) - 1));
    }
  }

 private:
  static constexpr unsigned filter_bits = 48;
  static constexpr std::uint64_t marker = std::uint64_t{0xffff} << filter_bits;
  static_assert(n_subtables_max + 256 < 0xffff, "an id + 1 is not the marker");

  static std::uint64_t filter_bit(subtable_id id) { return std::uint64_t{1} << id % filter_bits; }

  std::uint64_t word_ = 0;
};

}  // namespace coua
