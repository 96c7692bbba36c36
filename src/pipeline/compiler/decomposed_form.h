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
#include <vector>

#include "pipeline/compiler/decompose.h"
#include "pipeline/compiler/direct_form.h"
#include "pipeline/compiler/prefix_form.h"
#include "pipeline/compiler/table_form.h"

namespace coua::pipeline {

class decomposed_form final : public table_form {
 public:
  /// For these rules; they are added next, and finish() tells that it was all. Errors: no_memory,
  /// io.
  static result<std::shared_ptr<decomposed_form>> create(compile_context& in, table_id table,
                                                         std::shared_ptr<const decomposition> by,
                                                         const rule_table& rules,
                                                         unsigned n_workers, reclaimer& reclaim);

  bool takes(const match& what) const override;
  bool takes_all(const std::vector<rule_step>& changes) const override;
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
    bool was_small = false;  // when it was made
  };
  /// Of sets of prefixes: how many rules, by values.
  using size_of_sets = std::unordered_map<match, std::size_t, hash_of_match>;

  decomposed_form(compile_context& in, table_id table, std::shared_ptr<const decomposition> by,
                  reclaimer& reclaim);

  static size_of_sets prefix_sets_of(const decomposition& by, const rule_table& rules,
                                     std::size_t& n_sets);

  /// The set that a match belongs to; none: it is apart.
  std::optional<set_key> set_of(const match& what) const;
  /// Whether a rule of that set, which has none yet, begins one of prefixes.
  bool begins_prefixes(const match& what) const;
  bool is_in_prefixes(const set_key& where, const match& what) const;
  bool is_outgrown(const prefix_set& of) const;
  /// Makes it, if it is not there.
  result<prefix_set*> prefixes_at(const set_key& where, const rule& one);
  void drop_if_empty(const set_key& where);

  /// What a rule of a set asks of the words of `rest`; without answers. None: it takes other bits.
  std::optional<std::vector<rule_set::row>> rows_of(const match& what) const;
  result<void> add_compared(const set_key& where, const rule_ptr& one);
  entry& find(const set_key& where, rule_id id);
  result<void> put(const set_key& where, entry& at, const result<record_id>& next);
  result<void> build(const set_key& where);

  const std::shared_ptr<const decomposition> by_;
  reclaimer& reclaim_;
  decomposed_table table_;
  std::optional<size_of_sets> planned_;  // until all rules are there
  std::map<set_key, compared_set> compared_;
  std::vector<set_key> changed_;  // of these
  std::uint64_t compared_bytes_ = 0;
  std::map<set_key, prefix_set> prefixes_;
  std::set<set_key> touched_;  // of these
  std::size_t n_in_prefixes_ = 0;
  std::shared_ptr<direct_form> apart_;
  burials<set_key> burials_;  // of rules of sets that are compared with
};

}  // namespace coua::pipeline
