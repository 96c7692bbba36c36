// SPDX-License-Identifier: Apache-2.0
//
// Which rules of another subtable overlap a rule: those that some key matches together with it.
// Two rules overlap when their keys agree in the bits that both masks have.
//
// The rules of a subtable are compared one by one, except where its mask has only bits that the
// rule's mask has too: then one key of it overlaps, and the hash finds it.
#pragma once

#include <cstdint>

#include "classify/subtable.h"

namespace coua {

/// A rule with whole words: key under its mask, and the mask.
struct whole_rule {
  wide_words key, mask;
  std::uint32_t priority;
};

/// What one update may still spend on comparisons.
class compare_budget {
 public:
  explicit compare_budget(std::uint64_t n) : left_(n) {}
  bool spend(std::uint64_t n) {
    if (n > left_) return false;
    left_ -= n;
    return true;
  }

 private:
  std::uint64_t left_;
};

/// The part of a rule that a subtable's keys are compared with.
class overlap_test {
 public:
  overlap_test(const whole_rule& rule, const compact_mask& mask) : n_(mask.n()) {
    for (unsigned i = 0; i < n_; ++i) {
      common_[i] = mask.bits(i) & rule.mask.words[mask.at(i)];
      wanted_[i] = rule.key.words[mask.at(i)] & common_[i];
      inside_ &= common_[i] == mask.bits(i);
    }
  }
  /// The subtable's mask takes no bit that the rule leaves out: `key()` is the one that overlaps.
  bool is_one_key() const { return inside_; }
  const std::uint64_t* key() const { return wanted_; }

  bool operator()(const std::uint64_t* key) const {
    std::uint64_t differs = 0;
    for (unsigned i = 0; i < n_; ++i) differs |= (key[i] & common_[i]) ^ wanted_[i];
    return differs == 0;
  }

 private:
  unsigned n_;
  bool inside_ = true;
  std::uint64_t common_[compact_mask::max], wanted_[compact_mask::max];
};

/// Calls `each(position)` for the rules of `table` that overlap `rule`, which belongs to another
/// subtable, until it returns false. Of rules with one key only the one that readers see is sure to
/// be told. False: it would have gone beyond the budget, and nothing was told.
template <class Each>
bool each_overlap(const subtable& table, const whole_rule& rule, compare_budget& budget,
                  Each each) {
  const overlap_test test(rule, table.mask());
  if (test.is_one_key()) {
    if (!budget.spend(1)) return false;
    const subtable::position at = table.top(test.key());
    if (at != subtable::none) each(at);
    return true;
  }
  const std::size_t n = table.n_rules();
  if (!budget.spend(n)) return false;
  for (std::size_t at = 0; at < n; ++at) {
    const auto position = static_cast<subtable::position>(at);
    if (test(table.key(position)) && !each(position)) break;
  }
  return true;
}

}  // namespace coua
