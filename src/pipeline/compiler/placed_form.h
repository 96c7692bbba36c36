// SPDX-License-Identifier: Apache-2.0
//
// A form whose rules stand in places (rule_places.h): the matches of a template, and below them the
// catch-all. Rules without a place are apart, in a direct table: they come and go without the
// others being touched.
//
// `Places` is a store of rule_places, and says besides whether a match has a place, has(match),
// which `Places::where` it is, of(match), and whether rules like one have places, are_for(match).
#pragma once

#include "pipeline/compiler/direct_form.h"
#include "pipeline/compiler/rule_places.h"

namespace coua::pipeline {

template <class Places>
class placed_form : public table_form {
 public:
  result<void> add(const rule_ptr& one) final {
    if (one->match.is_any()) return catch_all_.add(rest_, {}, one);
    const place where = places_.of(one->match);
    return where ? rules_.add(places_, *where, one) : apart_->add(one);
  }
  result<void> replace(const rule_ptr& one) final {
    if (one->match.is_any()) return catch_all_.replace(rest_, {}, one);
    const place where = places_.of(one->match);
    return where ? rules_.replace(places_, *where, one) : apart_->replace(one);
  }
  result<void> remove(const rule_ptr& one) final {
    if (one->match.is_any()) return catch_all_.remove(rest_, *this, {}, one);
    const place where = places_.of(one->match);
    return where ? rules_.remove(places_, *this, *where, one) : apart_->remove(one);
  }
  result<void> finish() final {
    share_later();
    return apart_->finish();
  }
  sharing shared() const final { return rules_.shared(); }
  void share_later() final {
    if (share_is_due_) return;
    if (!has_many()) {
      rules_.forget_young();
      knows_young_ = false;
      return;
    }
    if (!std::exchange(knows_young_, true)) rules_.make_all_young();
    if (!rules_.has_young()) return;
    share_is_due_ = true;
    in_.garbage.emplace_back([form = weak_from_this(), until = in_.making] {
      if (const auto there = form.lock()) there->share_records(until);
    });
  }
  void share_records(version_no until) final {
    share_is_due_ = false;
    const auto place_of = [this](const match& what) { return *places_.of(what); };
    rules_.share(places_, place_of, until, shared_at_once);
    share_later();  // what is left, and what has come meanwhile
  }
  void bury(record_id gone) final {
    rules_.bury(places_, gone);
    catch_all_.bury(rest_, gone);
  }
  void retire() final {
    rules_.retire();
    catch_all_.retire();
    if (!is_taken_over_) apart_->retire();
  }

  bool takes(const match& what) const final {
    return !is_outgrown() && (!is_apart(what) || apart_->takes(what));
  }
  bool takes_all(const std::vector<rule_step>& changes) const final {
    unsigned n_rows = apart_->n_rows();
    bool comes_any = false;
    for (const rule_step& one : changes) {
      const bool comes = one.before == nullptr && one.after != nullptr;
      comes_any |= comes;
      if (comes && is_apart((*one.after)->match)) n_rows += most_ways((*one.after)->match);
    }
    return !comes_any || (!is_outgrown() && n_rows <= direct_table::rows_max);
  }
  bool is_apart(const match& what) const final { return !what.is_any() && !places_.has(what); }
  bool is_for(const match& most) const final { return places_.are_for(most); }
  unsigned n_rows_apart() const final { return apart_->n_rows(); }
  std::uint64_t bytes() const final {
    return bytes_of_places() + (has_rules_apart() ? apart_->bytes() : 0);
  }

 protected:
  placed_form(compile_context& in, table_template kind, table_id table, Places places)
      : placed_form(in, kind, table, std::move(places), std::make_shared<direct_form>(in, table)) {}
  /// With the rules of one that retires next; their entries are copied already.
  placed_form(placed_form& from, Places places)
      : placed_form(from.in_, from.kind(), from.stage().table, std::move(places), from.apart_) {
    rules_.take_over(from.rules_);
    catch_all_.take_over(from.catch_all_);
    const rule_head head = rest_.head({});
    const rule_head other = from.rest_.head({});
    if (head.record == 0 && in_.rule_of(other) != nullptr) (void)rest_.put({}, other);
    from.is_taken_over_ = true;
  }

  Places places_;

 private:
  using place = std::optional<typename Places::where>;

  placed_form(compile_context& in, table_template kind, table_id table, Places places,
              std::shared_ptr<direct_form> apart)
      : table_form(in, kind, table),
        places_(std::move(places)),
        rules_(in, true),
        catch_all_(in),
        apart_(std::move(apart)) {
    stage_.apart = &apart_->stage().direct;
  }

  /// Rules that come to share records after one grace period: some milliseconds.
  static constexpr std::size_t shared_at_once = 16 * 1024;

  /// It was made for fewer rules.
  virtual bool is_outgrown() const { return false; }
  /// So many that it pays that they share records.
  virtual bool has_many() const = 0;
  virtual std::uint64_t bytes_of_places() const = 0;

  catch_all_store rest_{stage_.catch_all};
  rule_places<typename Places::where> rules_;
  rule_places<catch_all_place> catch_all_;
  std::shared_ptr<direct_form> apart_;
  bool is_taken_over_ = false;  // the rules apart are another's
  bool share_is_due_ = false;
  bool knows_young_ = false;  // else any rule may be
};

}  // namespace coua::pipeline
