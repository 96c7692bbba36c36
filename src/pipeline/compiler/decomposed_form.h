// SPDX-License-Identifier: Apache-2.0
//
// The decomposed template (decompose.h, datapath/decomposed_table.h). Rules that ask for all of the
// columns are in the set of their values, which is built anew at each version that changes it, as
// the few rules of a direct table are; the others are a direct table beside the sets.
#pragma once

#include <map>
#include <vector>

#include "pipeline/compiler/decompose.h"
#include "pipeline/compiler/direct_form.h"
#include "pipeline/compiler/table_form.h"

namespace coua::pipeline {

class decomposed_form final : public table_form {
 public:
  /// With room for so many rules. Errors: no_memory, io.
  static result<std::shared_ptr<decomposed_form>> create(compile_context& in, table_id table,
                                                         std::shared_ptr<const decomposition> by,
                                                         std::size_t n_rules, unsigned n_workers);

  bool takes(const match& what) const override;
  result<void> add(const rule_ptr& one) override;
  result<void> replace(const rule_ptr& one) override;
  result<void> remove(const rule_ptr& one) override;
  result<void> finish() override;
  void bury(record_id gone) override;
  void retire() override;
  std::uint64_t bytes() const override;

  /// "nw_dst, tp_dst: exact to 100 direct tables".
  std::string by() const override;

 private:
  using set_key = exact_store::key;
  struct entry {
    rule_ptr rule;
    record_id head;
    bool gone;
    std::vector<rule_set::row> rows;
  };
  struct leaf {
    std::vector<entry> entries;  // by rank, the highest first; those that are gone, too
    std::size_t n_rows = 0;
    std::unique_ptr<const rule_set> made;
  };

  decomposed_form(compile_context& in, table_id table, std::shared_ptr<const decomposition> by);

  /// The set that a match belongs to; none: it is apart.
  std::optional<set_key> set_of(const match& what) const;
  /// What a rule of a set asks of the words of `rest`; without answers. None: it takes other bits.
  std::optional<std::vector<rule_set::row>> rows_of(const match& what) const;
  entry& find(const set_key& where, rule_id id);
  result<void> put(const set_key& where, entry& at, const result<record_id>& next);
  result<void> build(const set_key& where);

  const std::shared_ptr<const decomposition> by_;
  decomposed_table table_;
  std::map<set_key, leaf> sets_;
  std::vector<set_key> changed_;
  std::uint64_t set_bytes_ = 0;
  std::shared_ptr<direct_form> apart_;
  burials<set_key> burials_;
};

}  // namespace coua::pipeline
