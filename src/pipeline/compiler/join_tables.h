// SPDX-License-Identifier: Apache-2.0
//
// Keeps the first table and those behind it joined (join_pairs.h) while their rules stay as they
// are.
//
//   a change of one of their rules    what there is goes, before the version of the change
//   some time without one             it is made anew
//
// So rules that change all the time are not joined, and others cost the look-ups of two tables only
// for a moment. Packets that meet a pair are counted once, under a number of the pair's own: both
// rules, and the table of the second, get them when counts are collected. (Table 0 is counted as
// ever.)
#pragma once

#include <array>
#include <bitset>
#include <memory>
#include <unordered_map>
#include <vector>

#include "pipeline/compiler/compile_context.h"
#include "pipeline/compiler/join_pairs.h"
#include "pipeline/datapath/plan.h"
#include "pipeline/model/change.h"

namespace coua::pipeline {

class table_joiner {
 public:
  /// `after`: so long after the last change; `never`: not at all.
  static constexpr time_ns never = ~time_ns{0};
  table_joiner(const bridge& model, compile_context& in, published_plan& published,
               unsigned n_workers, time_ns after)
      : model_(model), in_(in), published_(published), n_workers_(n_workers), after_(after) {}

  /// Before a version with these is published, or its plan. What is joined goes if a rule of its
  /// tables changes.
  void note(const change_list& changes, time_ns now);
  /// What is joined goes.
  void end();
  /// Joins tables, where it is time. `is_exact`: as pairs_to_join() has it.
  void make_when_due(time_ns now, const std::function<bool(table_id)>& is_exact);

  /// What was counted under pairs is owed to their rules (compile_context::owe), and to tables.
  void collect();
  /// Likewise, of the pairs of one rule.
  void collect_of(rule_id one);
  /// Matches of a table that are not told to the model yet, and were not counted there.
  std::uint64_t news_of_table(table_id id) { return std::exchange(of_tables_[id], 0); }

  /// That are joined now, of all tables, or with rules of one behind the first.
  std::size_t n_pairs(table_id id = 0) const { return now_ == nullptr ? 0 : now_->n_pairs[id]; }
  const exact_store* entries() const {
    return now_ == nullptr ? nullptr : now_->joined.entries.get();
  }
  std::uint64_t bytes() const;
  /// Packets that met such pairs since the tables were joined.
  std::uint64_t n_met(table_id id = 0) const { return now_ == nullptr ? 0 : now_->n_met[id]; }
  /// Their share of those that met rules of the table since then; before there are any, as if all
  /// its rules were met alike.
  double share_met(table_id id) const;

 private:
  struct counted_pair {
    std::uint32_t number;                // of its own
    std::array<std::uint32_t, 2> rules;  // their numbers
    table_id next;
  };
  struct joining {
    joined_tables joined;
    std::vector<counted_pair> pairs;
    std::vector<record_id> records;
    std::vector<std::pair<instructions, record_id>> kinds;            // of some, what they do
    std::unordered_map<rule_id, std::vector<std::uint32_t>> of_rule;  // places of its pairs
    std::size_t n_first = 0;                                          // rules
    // By table; of the first one all.
    std::array<std::size_t, n_tables_max> n_pairs{};
    std::array<std::uint64_t, n_tables_max> n_met{}, n_matched_before{};
  };

  /// False: there is no room, or no memory. True also where there is nothing to join.
  bool make(const std::function<bool(table_id)>& is_exact);
  result<record_id> record_of(joining& to, const rule& does, std::uint32_t number);
  /// False: there is no room.
  bool add(joining& to, const joined_pair& one);
  void collect(joining& of);
  void collect(joining& of, const counted_pair& one);
  void let_go(joining& of);
  void wait_from(time_ns now);
  /// When batches have gone on.
  void let_go_later(std::shared_ptr<joining> gone);

  const bridge& model_;
  compile_context& in_;
  published_plan& published_;
  const unsigned n_workers_;
  const time_ns after_;
  std::shared_ptr<joining> now_;
  std::vector<std::shared_ptr<joining>> ending_;  // that batches may still count under
  std::bitset<n_tables_max> watched_{1};          // whose changes say what can be joined
  bool is_due_ = true;
  time_ns not_before_ = 0, took_ = 0;
  std::array<std::uint64_t, n_tables_max> of_tables_{};
};

}  // namespace coua::pipeline
