// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/decomposed_form.h"

#include <algorithm>

#include "base/cpu.h"

namespace coua::pipeline {

decomposed_form::decomposed_form(compile_context& in, table_id table,
                                 std::shared_ptr<const decomposition> by)
    : table_form(in, table_template::decomposed, table),
      by_(std::move(by)),
      apart_(std::make_shared<direct_form>(in, table)) {
  stage_.decomposed = &table_;
}

result<std::shared_ptr<decomposed_form>> decomposed_form::create(
    compile_context& in, table_id table, std::shared_ptr<const decomposition> by,
    std::size_t n_rules, unsigned n_workers) {
  std::shared_ptr<decomposed_form> made(new decomposed_form(in, table, std::move(by)));
  // Each rule may have a set of its own; and what comes later needs room, too.
  auto store = exact_store::create(made->by_->values, 2 * n_rules, n_workers);
  if (!store) return tl::unexpected(std::move(store.error()));
  made->table_.by_value = std::move(*store);
  made->table_.rest = made->by_->whole.narrowed(made->by_->words_left);
  made->table_.match = simd::select_set_match(active_isa());
  made->table_.apart = &made->apart_->stage().direct;
  return made;
}

std::optional<decomposed_form::set_key> decomposed_form::set_of(const match& what) const {
  const std::optional<match> values = by_->values_of(what);
  if (!values) return std::nullopt;
  return table_.by_value->key_of(*values, stage_.table);
}

std::optional<std::vector<rule_set::row>> decomposed_form::rows_of(const match& what) const {
  const auto ways = by_->whole.words_of(what);
  if (!ways) return std::nullopt;
  std::vector<rule_set::row> rows;
  for (const key_words& way : *ways) {
    rule_set::row row;
    for (unsigned w = 0; w < by_->whole.n_words(); ++w) {
      if ((by_->words_left >> w & 1) == 0) continue;  // the values say it all
      const std::uint64_t mask = way.mask[w] & ~by_->known.mask[w];
      row.asks.push_back(way.value[w] & mask);
      row.asks.push_back(mask);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

bool decomposed_form::takes(const match& what) const {
  const auto where = set_of(what);
  if (!where) return apart_->takes(what);
  const auto rows = rows_of(what);
  if (!rows) return false;
  const auto at = sets_.find(*where);
  return at == sets_.end() || at->second.n_rows + rows->size() <= rule_set::rows_max;
}

decomposed_form::entry& decomposed_form::find(const set_key& where, rule_id id) {
  std::vector<entry>& all = sets_.at(where).entries;
  return *std::find_if(all.begin(), all.end(),
                       [id](const entry& one) { return !one.gone && one.rule->id == id; });
}

result<void> decomposed_form::put(const set_key& where, entry& at, const result<record_id>& next) {
  if (!next) return tl::unexpected(next.error());
  in_.retire(at.head);
  at.head = *next;
  changed_.push_back(where);
  return {};
}

result<void> decomposed_form::add(const rule_ptr& one) {
  const auto where = set_of(one->match);
  if (!where) return apart_->add(one);
  auto rows = rows_of(one->match);
  if (!rows) {
    return fail(errc::no_room, "table " + std::to_string(stage_.table),
                "a rule takes other bits than those of its set");
  }
  const result<record_id> made = in_.make(*one, 0);
  if (!made) return tl::unexpected(made.error());
  leaf& to = sets_[*where];
  const auto behind = std::find_if(to.entries.begin(), to.entries.end(), [&](const entry& other) {
    return rank_of(*other.rule) < rank_of(*one);
  });
  to.n_rows += rows->size();
  to.entries.insert(behind, {one, *made, false, std::move(*rows)});
  changed_.push_back(*where);
  return {};
}

result<void> decomposed_form::replace(const rule_ptr& one) {
  const auto where = set_of(one->match);
  if (!where) return apart_->replace(one);
  entry& at = find(*where, one->id);
  at.rule = one;
  return put(*where, at, in_.make(*one, at.head));
}

result<void> decomposed_form::remove(const rule_ptr& one) {
  const auto where = set_of(one->match);
  if (!where) return apart_->remove(one);
  entry& at = find(*where, one->id);
  if (auto good = put(*where, at, in_.make_gone(at.head)); !good) return good;
  at.gone = true;
  burials_.add(in_, *this, at.head, *where);
  return {};
}

result<void> decomposed_form::finish() {
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  for (const set_key& each : std::exchange(changed_, {})) {
    if (auto good = build(each); !good) return good;
  }
  return apart_->finish();
}

result<void> decomposed_form::build(const set_key& where) {
  leaf& of = sets_.at(where);
  std::vector<rule_set::row> rows;
  for (const entry& one : of.entries) {
    for (const rule_set::row& each : one.rows) {
      rows.push_back(each);
      rows.back().found = {rank_of(*one.rule), one.head};
    }
  }
  if (rows.size() > rule_set::rows_max) {
    return fail(errc::no_room, "table " + std::to_string(stage_.table),
                "a set of its rules, with those that are going, is too large");
  }
  auto made = std::make_unique<const rule_set>(table_.rest.n_words(), rows);
  if (!table_.by_value->put(where, made->reference())) {
    return fail(errc::no_room, "hash table", "no room for an entry");
  }
  set_bytes_ += made->bytes();
  if (of.made != nullptr) {
    set_bytes_ -= of.made->bytes();
    in_.garbage.emplace_back([old = std::shared_ptr<const rule_set>(std::move(of.made))] {});
  }
  of.made = std::move(made);
  return {};
}

void decomposed_form::bury(record_id gone) {
  const std::optional<set_key> where = burials_.take(gone);
  if (!where) return;
  leaf& of = sets_.at(*where);
  const auto at = std::find_if(of.entries.begin(), of.entries.end(),
                               [gone](const entry& one) { return one.head == gone; });
  of.n_rows -= at->rows.size();
  of.entries.erase(at);
  in_.retire(gone);
  if (!of.entries.empty()) {
    COUA_CHECK(build(*where).has_value());  // a value that is there has room
    return;
  }
  table_.by_value->erase(*where);
  set_bytes_ -= of.made->bytes();
  in_.garbage.emplace_back([old = std::shared_ptr<const rule_set>(std::move(of.made))] {});
  sets_.erase(*where);
}

void decomposed_form::retire() {
  // Workers may still be in the sets: they go with this.
  for (auto& [where, of] : sets_) {
    for (const entry& one : of.entries) in_.retire(one.head);
    of.entries.clear();
  }
  (void)burials_.clear();
  apart_->retire();
}

std::string decomposed_form::by() const {
  return by_->to_string() + ": exact to " + std::to_string(sets_.size()) + " direct tables";
}

std::uint64_t decomposed_form::bytes() const {
  return table_.by_value->bytes() + set_bytes_ + apart_->bytes();
}

}  // namespace coua::pipeline
