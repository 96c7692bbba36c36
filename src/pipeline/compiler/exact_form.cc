// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/exact_form.h"

namespace coua::pipeline {

exact_form::exact_form(compile_context& in, table_id table, std::shared_ptr<shared_store> store)
    : placed_form(in, table_template::exact, table, {store->store.get(), table}),
      store_(std::move(store)) {
  stage_.exact = store_->store.get();
}

bool exact_form::takes(const match& what) const {
  if (what.is_any()) return true;
  // It is an entry of the layout, with all of its bits.
  const std::optional<key_layout> own = key_layout::of({&what, 1});
  return own && *own == store_->store->layout();
}

}  // namespace coua::pipeline
