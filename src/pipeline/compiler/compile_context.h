// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the compiler share while they carry out one version: the records, the numbers
// of rules, and what workers may still use of what has been replaced.
//
// A record that was replaced is freed a grace period after the version is published. So is what an
// unlinked thing held: each part puts it among the `garbage`, and nothing is freed before.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash_index.h"
#include "pipeline/compiler/compile_actions.h"
#include "pipeline/compiler/count_book.h"
#include "pipeline/compiler/shared_records.h"

namespace coua::pipeline {

class compile_context {
 public:
  /// Of the records, `n_reserved` are for recovery. `share_from`: as compiler_params has it.
  compile_context(action_records records, std::size_t n_reserved, std::size_t share_from,
                  count_book counts, op_references references)
      : share_from(share_from),
        counts(std::move(counts)),
        actions(std::move(references)),
        records_(std::move(records)),
        n_reserved_(n_reserved) {}

  version_no making = 0;
  bool recovering = false;  // then the reserve may be taken
  const std::size_t share_from;
  count_book counts;
  action_compiler actions;
  std::vector<std::function<void()>> garbage;  // run after a grace period

  const action_records& records() const { return records_; }

  // Rules by number: that of their counts.
  /// Errors: no_room.
  result<void> number(const rule_ptr& one);
  /// The same rule, with other instructions.
  void renumber(const rule_ptr& one) { rules_[number_of(one->id)] = one; }
  /// After a grace period, unless no worker has seen it.
  void forget(rule_id gone);
  bool has_number(rule_id id) const { return numbers_.find(id) != nullptr; }
  std::uint32_t number_of(rule_id id) const { return *numbers_.find(id); }
  /// By number; null: no rule has it.
  const std::vector<rule_ptr>& rules() const { return rules_; }

  /// Counts of the rule with this number that came another way than under it (join_tables.h).
  void owe(std::uint32_t number, const traffic& more) { owed_[number] += more; }
  traffic take_owed(std::uint32_t number) {
    const auto at = owed_.find(number);
    return at == owed_.end() ? traffic() : owed_.extract(at).mapped();
  }
  /// By number, of all rules that have some.
  std::unordered_map<std::uint32_t, traffic> take_owed() { return std::exchange(owed_, {}); }

  // Records.
  /// Before anything is touched. Errors: no_room: recovery would not have its reserve.
  result<void> check_reserve() const;
  /// That of a numbered rule from the version that is being made on. Errors: no_room.
  result<record_id> make(const rule& of, record_id previous);
  /// So many, and recovery would still have its reserve.
  bool can_make(std::size_t n) const { return n_left() >= n_reserved_ + n; }
  /// One that counts at all versions, under a number that is no rule's. Errors: no_room.
  result<record_id> make_for_ever(const rule& of, std::uint32_t counters);
  /// That says that the rule before is gone.
  result<record_id> make_gone(record_id previous);
  /// The rule that counts in the newest version. Null: none.
  rule_ptr rule_of(rule_head head) const;
  bool is_of(rule_head head, rule_id one) const;
  /// The record that rules share which do the same as that one, for one rule more; no batch is at a
  /// version from before it. 0: it stays as it is.
  record_id join_shared(record_id one);
  /// A record of its own for the rule of a head that leads to a shared one, as it was at all
  /// versions so far. Any other head has its own: that. Errors: no_room.
  result<record_id> give_own(rule_head head);
  /// So many rules do not lead to it any more.
  void leave_shared(record_id shared, std::size_t n_rules);
  /// That are in use.
  std::size_t n_records() const { return records_.max_size() - 1 - n_left(); }
  std::size_t n_shared_records() const { return shared_.size(); }
  /// Nobody will find it any more who does not have it already.
  void retire(record_id id);

 private:
  result<record_id> take();
  result<record_id> make(const rule& of, version_no from, record_id previous,
                         std::uint32_t counters);
  /// One that does the same.
  result<record_id> copy(record_id of);
  std::size_t n_left() const {
    return free_.size() + records_.max_size() - std::max<std::size_t>(held_.size(), 1);
  }

  action_records records_;
  shared_records shared_;
  const std::size_t n_reserved_;
  std::vector<std::shared_ptr<const stored_ops>> held_;  // by record
  std::vector<record_id> free_;
  std::vector<rule_ptr> rules_;  // by number
  hash_index<std::uint32_t> numbers_;
  std::unordered_map<std::uint32_t, traffic> owed_;  // by number
};

}  // namespace coua::pipeline
