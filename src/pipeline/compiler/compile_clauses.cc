// SPDX-License-Identifier: Apache-2.0
//
// The clauses of conjunctions: a classifier of their own for each table that has some.
#include <algorithm>

#include "pipeline/compiler/pipeline_compiler.h"
#include "pipeline/model/conjunction.h"

namespace coua::pipeline {

result<void> pipeline_compiler::change_clauses(table_id table, const rule_changes& changes) {
  table_state& of = tables_[table];
  if (model_.tables()[table].n_clauses() == 0) {
    install_clauses(table, nullptr);
    return {};
  }
  if (of.clauses == nullptr || !of.clauses->takes_all(changes)) return build_clauses(table);
  touched_clauses_.insert(table);
  // More masks than there is room for may be those of rules that are gone.
  return change_form(*of.clauses, changes) ? result<void>{} : build_clauses(table);
}

result<void> pipeline_compiler::build_clauses(table_id table) {
  std::vector<rule_ptr> all;
  std::vector<match> matches;
  model_.tables()[table].each([&](const rule_table::entry& one) {
    if (!is_clause(*one.rule)) return;
    all.push_back(one.rule);
    matches.push_back(one.rule->match);
  });
  if (all.empty()) {
    install_clauses(table, nullptr);
    return {};
  }
  const auto layout = key_layout::of(matches, key_layout::width::fields);
  auto made = wildcard_table::create(layout, n_workers_);
  if (!made) return tl::unexpected(std::move(made.error()));
  for (const match& each : matches) {
    if (auto good = (*made)->check(each); !good) return good;
  }
  auto form = std::make_shared<wildcard_form>(context_, table, std::move(*made),
                                              wildcard_form::order::by_mask);
  for (const rule_ptr& each : all) {
    if (auto good = form->add(each); !good) {
      discard(std::move(form));
      return good;
    }
  }
  install_clauses(table, std::move(form));
  return {};
}

void pipeline_compiler::install_clauses(table_id table, std::shared_ptr<wildcard_form> made) {
  std::shared_ptr<wildcard_form>& there = tables_[table].clauses;
  plan_changes_ = true;
  touched_clauses_.insert(table);
  if (there != nullptr) discard(std::move(there));
  there = std::move(made);
}

}  // namespace coua::pipeline
