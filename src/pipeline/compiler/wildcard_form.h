// SPDX-License-Identifier: Apache-2.0
//
// The classifier template: rules of any kind (datapath/wildcard_table.h).
#pragma once

#include <map>
#include <unordered_map>

#include "pipeline/compiler/table_form.h"

namespace coua::pipeline {

class wildcard_form final : public table_form {
 public:
  static constexpr table_template own_kind = table_template::classifier;

  /// What is ranked within one priority. by_mask: two rules that match a packet differ in rank,
  /// however many there are, but there is no order of age.
  enum class order { by_age, by_mask };

  wildcard_form(compile_context& in, table_id table, std::unique_ptr<wildcard_table> made,
                order within = order::by_age);

  const wildcard_table& rules() const { return *rules_; }
  bool takes(const match& what) const override;
  /// There are places for so many of its priority.
  bool takes_quickly(const rule_mod& added, std::size_t n_changes) const override;
  result<void> add(const rule_ptr& one) override;
  result<void> replace(const rule_ptr& one) override;
  result<void> remove(const rule_ptr& one) override;
  void bury(record_id gone) override;
  void retire() override;
  std::uint64_t bytes() const override;

 private:
  struct entry {
    std::uint32_t rank;
    record_id head;
  };
  struct grave {
    match what;
    std::uint32_t rank;
  };

  // Of a priority. When the places are used up, but not by rules that are there, the table is to be
  // built anew: of two rules in one place that match a packet, one that is gone but not buried
  // would hide the other.
  struct places {
    std::uint32_t n_added = 0;  // ever
    std::uint32_t n_rules = 0;
    bool are_used_up() const;
  };

  result<std::uint32_t> rank_of(const rule& one);

  std::unique_ptr<wildcard_table> rules_;
  const order within_;
  std::map<std::vector<std::pair<field, value128>>, std::uint32_t> masks_;  // ever, by_mask
  std::unordered_map<rule_id, entry> entries_;
  std::map<std::uint16_t, places> places_;  // by priority, by_age
  burials<grave> burials_;
};

}  // namespace coua::pipeline
