// SPDX-License-Identifier: Apache-2.0
//
// The kernel of kernels.h over one kind of vector.
#pragma once

#include "simd/direct_match/kernels.h"

namespace coua::simd {
namespace {

/// `Vector`: as many words as rules are compared at once, with `n_rules` and load(). It also holds
/// the result so far: all(), agree(key, mask, value), and bits(), one for each rule with which all
/// words agreed.
template <class Vector>
struct direct_match_in {
  struct keys_in {
    const std::uint64_t* keys;
    std::size_t stride;
    std::size_t n;
    std::uint64_t* matched;
  };

  /// With `NRules` rules, from `rule` on. `NWords`: of a key. All that is asked lies in a row:
  /// wherever it does not stay in registers, it is an operand in memory, at an offset that is
  /// known.
  template <unsigned NRules, unsigned NWords>
  [[gnu::always_inline]] static void few_words(const direct_rules& rules, unsigned rule,
                                               const keys_in& in) noexcept {
    constexpr unsigned n_vectors = NRules / Vector::n_rules;
    Vector masks[n_vectors][NWords], values[n_vectors][NWords];
    for (unsigned v = 0; v < n_vectors; ++v) {
      for (unsigned w = 0; w < NWords; ++w) {
        const std::size_t at = std::size_t{w} * rules.n_rules + rule + v * Vector::n_rules;
        masks[v][w] = Vector::load(rules.masks + at);
        values[v][w] = Vector::load(rules.values + at);
      }
    }
    for (std::size_t i = 0; i < in.n; ++i) {
      const std::uint64_t* const key = in.keys + i * in.stride;
      std::uint64_t bits = 0;
#pragma GCC unroll 4
      for (unsigned v = 0; v < n_vectors; ++v) {
        Vector agree = Vector::all();
#pragma GCC unroll 4
        for (unsigned w = 0; w < NWords; ++w) agree.agree(key[w], masks[v][w], values[v][w]);
        bits |= agree.bits() << v * Vector::n_rules;
      }
      add(in.matched[i], rule, bits);
    }
  }

  [[gnu::always_inline]] static void any_words(const direct_rules& rules, unsigned rule,
                                               const keys_in& in) noexcept {
    for (std::size_t i = 0; i < in.n; ++i) {
      const std::uint64_t* const key = in.keys + i * in.stride;
      Vector agree = Vector::all();
      for (unsigned w = 0; w < rules.n_words; ++w) {
        const std::size_t at = std::size_t{w} * rules.n_rules + rule;
        agree.agree(key[w], Vector::load(rules.masks + at), Vector::load(rules.values + at));
      }
      add(in.matched[i], rule, agree.bits());
    }
  }

  [[gnu::always_inline]] static void add(std::uint64_t& matched, unsigned rule,
                                         std::uint64_t bits) noexcept {
    matched = rule == 0 ? bits : matched | bits << rule;
  }

  template <unsigned NRules>
  [[gnu::always_inline]] static void some_rules(const direct_rules& rules, unsigned rule,
                                                const keys_in& in) noexcept {
    switch (rules.n_words) {
      case 1: return few_words<NRules, 1>(rules, rule, in);
      case 2: return few_words<NRules, 2>(rules, rule, in);
      case 3: return few_words<NRules, 3>(rules, rule, in);
      default: return few_words<NRules, 4>(rules, rule, in);
    }
  }

  [[gnu::always_inline]] static void run(const direct_rules& rules, const keys_in& in) noexcept {
    constexpr unsigned group = direct_rules::group;
    unsigned rule = 0;
    if (rules.n_words > 4) {
      for (; rule < rules.n_rules; rule += Vector::n_rules) any_words(rules, rule, in);
      return;
    }
    for (; rule + 2 * group <= rules.n_rules; rule += 2 * group) {
      some_rules<2 * group>(rules, rule, in);
    }
    if (rule < rules.n_rules) some_rules<group>(rules, rule, in);
  }
};

}  // namespace
}  // namespace coua::simd
