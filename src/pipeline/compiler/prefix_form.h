// SPDX-License-Identifier: Apache-2.0
//
// The lpm template: rules are prefixes of one field, and a rule that matches every packet may stand
// below them.
#pragma once

#include "base/reclaimer.h"
#include "pipeline/compiler/placed_form.h"

namespace coua::pipeline {

/// Prefixes of the field as places.
struct prefix_places {
  struct where {
    value128 prefix;
    unsigned length;
    auto operator<=>(const where&) const = default;
  };

  where of(const match& what) const;
  record_id head(const where& at) const;
  result<void> put(const where& at, record_id head);
  void erase(const where& at);

  field which;
  prefix_table table{};
};

class prefix_form final : public placed_form<prefix_places> {
 public:
  /// For the rules of a table, about `n_rules` of them, of which `example` is one that matches
  /// something. Errors: no_memory.
  static result<std::shared_ptr<prefix_form>> create(compile_context& in, table_id table,
                                                     field which, const match& example,
                                                     std::size_t n_rules, reclaimer& reclaim);

  bool takes(const match& what) const override;
  std::uint64_t bytes() const override;

 private:
  prefix_form(compile_context& in, table_id table, field which);
  /// What a match asks besides the address.
  std::vector<match_term> rest_of(const match& what) const;
  std::size_t size() const;

  std::vector<match_term> rest_;
  bool has_small_root_ = false;
};

}  // namespace coua::pipeline
