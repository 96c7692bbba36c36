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
  wildcard_form(compile_context& in, table_id table, std::unique_ptr<wildcard_table> made);

  bool takes(const match& what) const override;
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

  std::unique_ptr<wildcard_table> rules_;
  std::unordered_map<rule_id, entry> entries_;
  std::map<std::uint16_t, std::uint32_t> n_added_;  // by priority, ever
  burials<grave> burials_;
};

}  // namespace coua::pipeline
