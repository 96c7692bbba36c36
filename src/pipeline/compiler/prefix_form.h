// SPDX-License-Identifier: Apache-2.0
//
// The lpm template: rules are prefixes of one field and otherwise the same, a rule that matches
// every packet may stand below them, and a few others are apart.
#pragma once

#include "base/reclaimer.h"
#include "pipeline/compiler/placed_form.h"
#include "pipeline/compiler/table_shape.h"

namespace coua::pipeline {

/// Prefixes of the field as places.
struct prefix_places {
  struct where {
    value128 prefix;
    unsigned length;
    auto operator<=>(const where&) const = default;
  };

  bool has(const match& what) const { return of(what).has_value(); }
  bool are_for(const match& most) const { return same_but_for{which}(like, most); }
  /// None: it is no prefix, or asks something else besides.
  std::optional<where> of(const match& what) const;
  rule_head head(const where& at) const;
  result<void> put(const where& at, rule_head head);
  void erase(const where& at);

  field which;
  match like;  // one of the rules, but for what it asks of the field
  prefix_table table{};
};

class prefix_form final : public placed_form<prefix_places> {
 public:
  static constexpr table_template own_kind = table_template::lpm;
  /// A root of 8 bits takes 1 KiB, one of 16 bits 256 KiB, which many small tables would feel.
  static constexpr std::size_t small_root_prefixes = 512;
  /// With more, one that has a small root is to be made anew.
  static constexpr std::size_t outgrown_prefixes = 2 * small_root_prefixes;

  field which() const { return places_.which; }
  /// For rules of a table that are like that one but for the field, and some others: about
  /// `n_rules`. Errors: no_memory.
  static result<std::shared_ptr<prefix_form>> create(compile_context& in, table_id table,
                                                     field which, const match& like,
                                                     std::size_t n_rules, reclaimer& reclaim);
  bool has_small_root() const { return has_small_root_; }
  /// Of a table that has so many rules in forms like this one: they share records as if they were
  /// in one.
  void is_part_of(std::size_t n_rules) { n_of_table_ = n_rules; }
  /// Places, also those of rules that are gone until no batch knows them.
  std::size_t size() const;

 private:
  prefix_form(compile_context& in, table_id table, field which, const match& like);
  bool is_outgrown() const override;
  bool has_many() const override { return std::max(size(), n_of_table_) >= in_.share_from; }
  std::uint64_t bytes_of_places() const override;

  bool has_small_root_ = false;
  std::size_t n_of_table_ = 0;
};

}  // namespace coua::pipeline
