// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/exact_form.h"

namespace coua::pipeline {

exact_form::exact_form(compile_context& in, table_id table, std::shared_ptr<shared_store> store)
    : placed_form(in, table_template::exact, table, {store->store.get(), table}),
      store_(std::move(store)) {
  stage_.exact = store_->store.get();
}

exact_form::exact_form(exact_form& from, std::shared_ptr<shared_store> store)
    : exact_form(from.in_, from.stage().table, std::move(store)) {
  take_over(from);
}

bool exact_form::takes(const match& what) const {
  return what.is_any() || store_->store->key_of(what, stage_.table).has_value();
}

}  // namespace coua::pipeline
