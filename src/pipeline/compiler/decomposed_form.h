// SPDX-License-Identifier: Apache-2.0
//
// The decomposed template (decompose.h, datapath/decomposed_table.h). Rules that ask for all of the
// columns are in the set of their values; the others are a direct table beside the sets.
//
//   compared with     a few rules, built anew at each version that changes them, as those of a
//                     direct table are
//   prefixes          an lpm form, in which rules come and go. Which sets are such is found out
//   when
//                     the table is built; of one that comes later its first rule decides
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "pipeline/compiler/decompose.h"
#include "pipeline/compiler/direct_form.h"
#include "pipeline/compiler/prefix_form.h"
#include "pipeline/compiler/table_form.h"

namespace coua::pipeline {

class decomposed_form final : public table_form {
 public:
  static constexpr table_template own_kind = table_template::decomposed;

  /// For these rules; they are added next, and finish() tells that it was all. Errors: no_memory,
  /// io.
  static result<std::shared_ptr<decomposed_form>> create(compile_context& in, table_id table,
                                                         std::shared_ptr<const decomposition> by,
                                                         const rule_table& rules,
                                                         unsigned n_workers, reclaimer& reclaim);

  bool takes(const match& what) const override;
  bool takes_all(const std::vector<rule_step>& changes) const override;
  bool takes_quickly(const rule_mod& added, std::size_t n_changes) const override;
  result<void> add(const rule_ptr& one) override;
  result<void> replace(const rule_ptr& one) override;
  result<void> remove(const rule_ptr& one) override;
  result<void> finish() override;
  sharing shared() const override;
  void bury(record_id gone) override;
  void retire() override;
  std::uint64_t bytes() const override;

  /// "nw_dst, tp_dst: exact to 100 direct tables", "metadata: exact to 3 direct and 12 lpm tables".
  std::string by() const override;

  /// What is looked up as prefixes.
  struct in_prefixes {
    std::size_t sets = 0, rules = 0;
    std::uint64_t bytes = 0;
  };
  in_prefixes prefixes() const;

 private:
  using set_key = exact_store::key;
  struct entry {
    rule_ptr rule;
    record_id head;
    bool gone;
    std::vector<rule_set::row> rows;
  };
  struct compared_set {
    std::vector<entry> entries;  // by rank, the highest first; those that are gone, too
    std::size_t n_rows = 0;
    std::unique_ptr<const rule_set> made;
  };
  struct prefix_set {
    std::shared_ptr<prefix_form> form;
    prefix_shape shape;
    std::size_t n_rules = 0;

    bool has_outgrown_its_root() const {
      return form->has_small_root() && n_rules > prefix_form::outgrown_prefixes;
    }
  };
  /// A set of prefixes that is to be made.
  struct planned_set {
    field which;
    std::size_t n_rules;
  };
  using plan = std::unordered_map<match, planned_set, hash_of_match>;

  decomposed_form(compile_context& in, table_id table, std::shared_ptr<const decomposition> by,
                  reclaimer& reclaim);

  static plan plan_prefixes(const decomposition& by, const rule_table& rules, std::size_t& n_sets);

  /// The set that a match belongs to; none: it is apart.
  std::optional<set_key> set_of(const match& what) const;
  /// Of which field a set has prefixes, or would have if this were the first rule of it; none: it
  /// is compared with.
  std::optional<field> prefixes_at(const set_key& where, const match& what) const;
  bool is_outgrown(const prefix_set& of) const;
  /// As takes(), of a match that belongs to that set.
  bool takes_at(const std::optional<set_key>& where, const match& what) const;
  /// Also by its priority: longer prefixes stay above shorter ones.
  bool takes_one(const match& what, std::uint16_t priority, rule_id id) const;
  /// Makes it, if it is not there.
  result<prefix_set*> make_prefixes(const set_key& where, field which, const match& what);
  void count(prefix_set& in, bool comes);
  void drop_if_empty(const set_key& where);
  result<void> add_apart(const rule_ptr& one);

  /// What a rule of a set asks of the words of `rest`; without answers. None: it takes other bits.
  std::optional<std::vector<rule_set::row>> rows_of(const match& what) const;
  result<void> add_compared(const set_key& where, const rule_ptr& one);
  entry& find(const set_key& where, rule_id id);
  result<void> put(const set_key& where, entry& at, const result<record_id>& next);
  result<void> build(const set_key& where);

  const std::shared_ptr<const decomposition> by_;
  reclaimer& reclaim_;
  decomposed_table table_;
  std::optional<plan> planned_;  // until all rules are there
  std::map<set_key, compared_set> compared_;
  std::vector<set_key> changed_;  // of these
  std::uint64_t compared_bytes_ = 0;
  std::map<set_key, prefix_set> prefixes_;
  std::set<set_key> touched_;      // of these
  std::size_t n_in_prefixes_ = 0;  // rules
  std::size_t n_outgrown_ = 0;     // of these, in sets that were made for fewer
  std::size_t n_small_ = 0;        // sets of prefixes that could be compared with
  std::shared_ptr<direct_form> apart_;
  std::unordered_set<rule_id> apart_from_sets_;  // though they have the values of one
  burials<set_key> burials_;                     // of rules of sets that are compared with
};

}  // namespace coua::pipeline
