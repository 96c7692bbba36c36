// SPDX-License-Identifier: Apache-2.0
//
// The kernel of kernels.h over one kind of vector.
#pragma once

#include "simd/direct_match/kernels.h"

namespace coua::simd {
namespace {

/// `Vector`: as many words as rules are compared at once, with `n_rules` and load(). It is what
/// differs, too: none(), add(key, mask, value), and zeros(), a bit for each rule of which nothing
/// differs.
template <class Vector>
struct direct_match_in {
  struct keys_in {
    const std::uint64_t* keys;
    std::size_t stride;
    std::size_t n;
    std::uint64_t* matched;

    template <class Match>
    [[gnu::always_inline]] void each(unsigned rule, Match match) const noexcept {
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t bits = match(keys + i * stride) << rule;
        matched[i] = rule == 0 ? bits : matched[i] | bits;
      }
    }
  };

  /// The rules from `rule` on. `W`: the numbers of the words; as a pack, not a loop, since gcc
  /// would leave a loop of three or four in place, and the vectors in memory.
  template <unsigned... W>
  [[gnu::always_inline]] static void few_words(const direct_rules& rules, unsigned rule,
                                               const keys_in& in) noexcept {
    const Vector masks[] = {Vector::load(rules.masks + W * rules.n_rules + rule)...};
    const Vector values[] = {Vector::load(rules.values + W * rules.n_rules + rule)...};
    in.each(rule, [&](const std::uint64_t* key) {
      Vector differs = Vector::none();
      (differs.add(key[W], masks[W], values[W]), ...);
      return differs.zeros();
    });
  }

  [[gnu::always_inline]] static void any_words(const direct_rules& rules, unsigned rule,
                                               const keys_in& in) noexcept {
    in.each(rule, [&](const std::uint64_t* key) {
      Vector differs = Vector::none();
      for (unsigned w = 0; w < rules.n_words; ++w) {
        const std::size_t at = std::size_t{w} * rules.n_rules + rule;
        differs.add(key[w], Vector::load(rules.masks + at), Vector::load(rules.values + at));
      }
      return differs.zeros();
    });
  }

  [[gnu::always_inline]] static void run(const direct_rules& rules, const keys_in& in) noexcept {
    for (unsigned rule = 0; rule < rules.n_rules; rule += Vector::n_rules) {
      switch (rules.n_words) {
        case 1: few_words<0>(rules, rule, in); break;
        case 2: few_words<0, 1>(rules, rule, in); break;
        case 3: few_words<0, 1, 2>(rules, rule, in); break;
        case 4: few_words<0, 1, 2, 3>(rules, rule, in); break;
        default: any_words(rules, rule, in);
      }
    }
  }
};

}  // namespace
}  // namespace coua::simd
