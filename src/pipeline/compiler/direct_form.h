// SPDX-License-Identifier: Apache-2.0
//
// The direct template: the few rules of the table are built anew at each version that changes them.
// What takes time of that is what rules ask of keys, so it is kept as long as the layout of the
// keys has all bits of the rules: when some of them are gone it may have more.
#pragma once

#include <vector>

#include "pipeline/compiler/table_form.h"

namespace coua::pipeline {

class direct_form final : public table_form {
 public:
  direct_form(compile_context& in, table_id table)
      : table_form(in, table_template::direct, table) {}
  ~direct_form() override;

  bool takes(const match& what) const override {
    return n_rows_ + most_ways(what) <= direct_table::rows_max;
  }
  result<void> add(const rule_ptr& one) override;
  result<void> replace(const rule_ptr& one) override;
  result<void> remove(const rule_ptr& one) override;
  result<void> finish() override;
  void bury(record_id gone) override;
  void retire() override;
  std::uint64_t bytes() const override;

  /// At most, with those of rules that are gone and not buried.
  unsigned n_rows() const { return n_rows_; }

 private:
  struct entry {
    rule_ptr rule;  // also of one that is gone
    record_id head;
    bool gone;
    std::vector<key_words> ways{};  // in keys of layout_; none: not worked out yet
  };
  std::vector<entry>::iterator find(rule_id id);
  result<void> put(entry& at, const result<record_id>& next);
  /// What entries ask of keys; layout_ has all of it.
  void work_out_ways();

  std::vector<entry> entries_;  // the highest priority first, then the one that was added first
  unsigned n_rows_ = 0;         // past rows_max the table is built anew
  key_layout layout_;
  std::size_t n_buried_ = 0;  // since it was made
  std::unique_ptr<const direct_table> table_;
  bool changed_ = true;
};

}  // namespace coua::pipeline
