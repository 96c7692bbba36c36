// SPDX-License-Identifier: Apache-2.0
//
// The lpm template: rules are prefixes of one field, and a rule that matches every packet may stand
// below them.
#pragma once

#include "base/reclaimer.h"
#include "pipeline/compiler/rule_places.h"
#include "pipeline/compiler/table_form.h"

namespace coua::pipeline {

class prefix_form final : public table_form {
 public:
  /// For the rules of a table, about `n_rules` of them, of which `example` is one that matches
  /// something. Errors: no_memory.
  static result<std::shared_ptr<prefix_form>> create(compile_context& in, table_id table,
                                                     field which, const match& example,
                                                     std::size_t n_rules, reclaimer& reclaim);

  bool takes(const match& what) const override;
  result<void> add(const rule_ptr& one) override;
  result<void> replace(const rule_ptr& one) override;
  result<void> remove(const rule_ptr& one) override;
  void bury(record_id gone) override;
  void retire() override;
  std::uint64_t bytes() const override;

 private:
  struct where {
    value128 prefix;
    unsigned length;
    auto operator<=>(const where&) const = default;
  };
  struct slots {
    prefix_table& of;
    record_id head(const where& at) const;
    result<void> put(const where& at, record_id head);
    void erase(const where& at);
  };

  prefix_form(compile_context& in, table_id table, field which);
  /// What a match asks besides the address.
  std::vector<match_term> rest_of(const match& what) const;
  where where_of(const match& what) const;
  std::size_t size() const;

  const field which_;
  std::vector<match_term> rest_;
  bool has_small_root_ = false;
  prefix_table prefixes_;
  rule_places<where> places_;
  rule_places<catch_all_place> catch_all_;
};

}  // namespace coua::pipeline
