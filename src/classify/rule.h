// SPDX-License-Identifier: Apache-2.0
//
// A rule as the entry of a subtable holds it: two words.
//
//   answer   priority:32 value:32
//   rivals   4 x 16 bits, the subtables that hold a rule of higher priority which overlaps this
//            one, as id + 1; 0: no further one; all bits: more than four, or not known
//
// What rivals are for: a hint of the distributor leads to a rule that matches, not yet to the one
// that counts. A rule without rivals is the answer: whatever else matches the key overlaps it, so
// it would be a rival if it had a higher priority. With rivals, only their subtables are asked.
#pragma once

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
  static constexpr unsigned max = 4;
  static constexpr std::uint64_t many = ~std::uint64_t{0};

  rival_set() = default;
  explicit rival_set(std::uint64_t word) : word_(word) {}
  std::uint64_t word() const { return word_; }
  bool is_many() const { return word_ == many; }
  bool has(subtable_id id) const {
    if (is_many()) return true;
    for (std::uint64_t left = word_; left != 0; left >>= 16) {
      if ((left & 0xffff) == id + 1u) return true;
    }
    return false;
  }
  void add(subtable_id id) {
    if (has(id)) return;
    unsigned n = 0;
    while (n < max && (word_ >> 16 * n & 0xffff) != 0) ++n;
    word_ = n == max ? many : word_ | static_cast<std::uint64_t>(id + 1u) << 16 * n;
  }

 private:
  std::uint64_t word_ = 0;
};

}  // namespace coua
