// SPDX-License-Identifier: Apache-2.0
//
// How each operation changes the store. After an error the store may have been changed in part: the
// caller undoes it (bridge.cc).
#pragma once

#include "pipeline/model/operation.h"
#include "pipeline/model/store.h"

namespace coua::pipeline {

of_result<void> perform(store& in, const rule_mod& asked, time_ns now);
of_result<void> perform(store& in, const group_mod& asked, time_ns now);
of_result<void> perform(store& in, const meter_mod& asked, time_ns now);
of_result<void> perform(store& in, const port_mod& asked, time_ns now);

/// Removes every rule for which `is_meant(rule)` holds.
template <class IsMeant>
void drop_rules(store& in, removal_reason reason, IsMeant is_meant) {
  for (rule_table& table : in.tables()) {
    std::vector<store::rule_entry*> meant;
    table.each([&](store::rule_entry& one) {
      if (is_meant(*one.rule)) meant.push_back(&one);
    });
    for (store::rule_entry* one : meant) in.drop_rule(*one, reason);
  }
}

}  // namespace coua::pipeline
