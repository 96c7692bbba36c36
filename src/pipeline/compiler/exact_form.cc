// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/exact_form.h"

namespace coua::pipeline {

exact_form::exact_form(compile_context& in, table_id table, std::shared_ptr<shared_store> store)
    : table_form(in, table_template::exact, table),
      store_(std::move(store)),
      places_(in),
      catch_all_(in) {
  stage_.exact = store_->store.get();
}

bool exact_form::fits(const key_layout& layout, const match& what) {
  const std::optional<key_layout> own = key_layout::of({&what, 1});
  return own && *own == layout;
}

bool exact_form::takes(const match& what) const {
  return what.is_any() || fits(store_->store->layout(), what);
}

result<void> exact_form::add(const rule_ptr& one) {
  if (one->match.is_any()) {
    catch_all_store at{stage_.catch_all};
    return catch_all_.add(at, {}, one);
  }
  entries at = store_of_entries();
  return places_.add(at, place_of(one->match), one);
}

result<void> exact_form::replace(const rule_ptr& one) {
  if (one->match.is_any()) {
    catch_all_store at{stage_.catch_all};
    return catch_all_.replace(at, {}, one);
  }
  entries at = store_of_entries();
  return places_.replace(at, place_of(one->match), one);
}

result<void> exact_form::remove(const rule_ptr& one) {
  if (one->match.is_any()) {
    catch_all_store at{stage_.catch_all};
    return catch_all_.remove(at, *this, {}, one);
  }
  entries at = store_of_entries();
  return places_.remove(at, *this, place_of(one->match), one);
}

void exact_form::bury(record_id gone) {
  entries at = store_of_entries();
  places_.bury(at, gone);
  catch_all_store rest{stage_.catch_all};
  catch_all_.bury(rest, gone);
}

void exact_form::retire() {
  places_.retire();
  catch_all_.retire();
}

}  // namespace coua::pipeline
