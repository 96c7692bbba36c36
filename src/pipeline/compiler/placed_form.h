// SPDX-License-Identifier: Apache-2.0
//
// A form whose rules stand in places (rule_places.h): the matches of a template, and below them the
// catch-all.
//
// `Places` is a store of rule_places, and says besides in which `Places::where` a match stands:
// of(match). Of exact, a match may have none: such a rule is another form's, apart().
#pragma once

#include "pipeline/compiler/rule_places.h"

namespace coua::pipeline {

template <class Places>
class placed_form : public table_form {
 public:
  result<void> add(const rule_ptr& one) final {
    if (one->match.is_any()) return catch_all_.add(rest_, {}, one);
    const place where = places_.of(one->match);
    return where ? rules_.add(places_, *where, one) : apart()->add(one);
  }
  result<void> replace(const rule_ptr& one) final {
    if (one->match.is_any()) return catch_all_.replace(rest_, {}, one);
    const place where = places_.of(one->match);
    return where ? rules_.replace(places_, *where, one) : apart()->replace(one);
  }
  result<void> remove(const rule_ptr& one) final {
    if (one->match.is_any()) return catch_all_.remove(rest_, *this, {}, one);
    const place where = places_.of(one->match);
    return where ? rules_.remove(places_, *this, *where, one) : apart()->remove(one);
  }
  void bury(record_id gone) final {
    rules_.bury(places_, gone);
    catch_all_.bury(rest_, gone);
  }
  void retire() override {
    rules_.retire();
    catch_all_.retire();
  }

 protected:
  placed_form(compile_context& in, table_template kind, table_id table, Places places)
      : table_form(in, kind, table), places_(std::move(places)), rules_(in), catch_all_(in) {}

  /// The rules of one that retires next; their entries are copied already.
  void take_over(placed_form& from) {
    rules_.take_over(from.rules_);
    catch_all_.take_over(from.catch_all_);
    const record_id head = rest_.head({});
    const record_id other = from.rest_.head({});
    if (head == 0 && in_.rule_of(other) != nullptr) (void)rest_.put({}, other);
  }

  /// For matches that have no place. Null: all have one.
  virtual table_form* apart() { return nullptr; }

  Places places_;

 private:
  using place = std::optional<typename Places::where>;

  catch_all_store rest_{stage_.catch_all};
  rule_places<typename Places::where> rules_;
  rule_places<catch_all_place> catch_all_;
};

}  // namespace coua::pipeline
