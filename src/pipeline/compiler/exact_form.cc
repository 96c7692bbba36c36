// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/exact_form.h"

#include "pipeline/compiler/choose_template.h"

namespace coua::pipeline {

static_assert(template_limits().most_apart() < direct_table::rows_max, "some may be going");

exact_form::exact_form(compile_context& in, table_id table, std::shared_ptr<shared_store> store,
                       std::shared_ptr<direct_form> apart)
    : placed_form(in, table_template::exact, table, {store->store.get(), table}),
      store_(std::move(store)),
      apart_(std::move(apart)) {
  stage_.exact = store_->store.get();
  stage_.apart = &apart_->stage().direct;
}

exact_form::exact_form(compile_context& in, table_id table, std::shared_ptr<shared_store> store)
    : exact_form(in, table, std::move(store), std::make_shared<direct_form>(in, table)) {}

exact_form::exact_form(exact_form& from, std::shared_ptr<shared_store> store)
    : exact_form(from.in_, from.stage().table, std::move(store), from.apart_) {
  take_over(from);
  from.is_taken_over_ = true;
}

bool exact_form::takes(const match& what) const { return !is_apart(what) || apart_->takes(what); }

bool exact_form::takes_all(const std::vector<rule_step>& changes) const {
  std::size_t n_rows = apart_->n_rows();
  for (const rule_step& one : changes) {
    const bool comes = one.before == nullptr && one.after != nullptr;
    if (!comes || !is_apart((*one.after)->match)) continue;
    n_rows += most_ways((*one.after)->match);
    if (n_rows > direct_table::rows_max) return false;
  }
  return true;
}

void exact_form::retire() {
  placed_form::retire();
  if (!is_taken_over_) apart_->retire();
}

}  // namespace coua::pipeline
