// SPDX-License-Identifier: Apache-2.0
//
// A few rules that packets of one kind are compared with: the leaves of a decomposed table
// (decomposed_table.h). Never changed: a change makes another one.
//
//   lines     what the rules ask of the words of a key, 4 rules to a group (simd/set_match)
//   answers   behind them a cache line for each group: rank and head of each rule
//
// A rule may have two rows (key_layout.h). Rows are by rank, the highest first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/datapath/action_record.h"
#include "pipeline/datapath/rule_rank.h"
#include "simd/set_match/kernels.h"

namespace coua::pipeline {

class rule_set {
 public:
  static constexpr unsigned rows_max = simd::set_match::rules_max;

  struct answer {
    rule_rank rank;
    record_id head;
  };
  struct row {
    std::vector<std::uint64_t> asks;  // by word: value, mask
    answer found{};
  };

  /// 1 to rows_max rows.
  rule_set(unsigned n_words, std::span<const row> rows);

  /// What leads workers to it: as simd/set_match has it.
  std::uint64_t reference() const;
  std::uint64_t bytes() const { return lines_.size() * sizeof(line); }

  // Of references.
  static const answer* answers(std::uint64_t reference, unsigned n_words) noexcept {
    const std::size_t behind = simd::set_match::n_groups(reference) * n_words;
    return reinterpret_cast<const answer*>(simd::set_match::lines(reference) +
                                           behind * simd::set_match::line_words);
  }
  static void prefetch(std::uint64_t reference, unsigned n_words) noexcept {
    const auto* at = reinterpret_cast<const char*>(simd::set_match::lines(reference));
    const unsigned n_lines = simd::set_match::n_groups(reference) * (n_words + 1);
    for (unsigned i = 0; i < n_lines && i < prefetched_max; ++i) {
      __builtin_prefetch(at + i * simd::set_match::line_bytes);
    }
  }

 private:
  // A burst asks for so many of each of its packets; the rest comes in a row behind them.
  static constexpr unsigned prefetched_max = 8;

  struct alignas(simd::set_match::line_bytes) line {
    std::uint64_t words[simd::set_match::line_words];
  };
  static_assert(sizeof(answer) * simd::set_match::group == sizeof(line));

  std::size_t n_groups_;
  std::vector<line> lines_;
};

}  // namespace coua::pipeline
