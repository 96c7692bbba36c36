// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/exact_form.h"

#include "pipeline/compiler/choose_template.h"

namespace coua::pipeline {

static_assert(template_limits().most_apart() < direct_table::rows_max, "some may be going");

exact_form::exact_form(compile_context& in, table_id table, std::shared_ptr<shared_store> store)
    : placed_form(in, own_kind, table, {store->store.get(), table}), store_(std::move(store)) {
  stage_.exact = store_->store.get();
}

exact_form::exact_form(exact_form& from, std::shared_ptr<shared_store> store)
    : placed_form(from, {store->store.get(), from.stage().table}), store_(std::move(store)) {
  stage_.exact = store_->store.get();
}

}  // namespace coua::pipeline
