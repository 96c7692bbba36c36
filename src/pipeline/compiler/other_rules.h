// SPDX-License-Identifier: Apache-2.0
//
// The rules of a table that packets can meet: all but the clauses of conjunctions, which are in no
// template (model/conjunction.h).
#pragma once

#include "pipeline/model/conjunction.h"
#include "pipeline/model/rule_table.h"

namespace coua::pipeline {

/// As rule_table::each.
template <class Call>
void each_other_rule(const rule_table& of, Call call) {
  of.each([&](const rule_table::entry& one) {
    if (!is_clause(*one.rule)) call(one);
  });
}

}  // namespace coua::pipeline
