// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/decomposed_form.h"

#include <algorithm>

#include "base/cpu.h"
#include "pipeline/compiler/other_rules.h"

namespace coua::pipeline {

decomposed_form::decomposed_form(compile_context& in, table_id table,
                                 std::shared_ptr<const decomposition> by, reclaimer& reclaim)
    : table_form(in, own_kind, table),
      by_(std::move(by)),
      reclaim_(reclaim),
      apart_(std::make_shared<direct_form>(in, table)) {
  stage_.decomposed = &table_;
}

result<std::shared_ptr<decomposed_form>> decomposed_form::create(
    compile_context& in, table_id table, std::shared_ptr<const decomposition> by,
    const rule_table& rules, unsigned n_workers, reclaimer& reclaim) {
  std::shared_ptr<decomposed_form> made(new decomposed_form(in, table, std::move(by), reclaim));
  // Each rule may have a set of its own; and what comes later needs room, too.
  std::size_t n_sets = rules.size();
  made->planned_ = plan_prefixes(*made->by_, rules, n_sets);
  auto store = exact_store::create(made->by_->values, 2 * n_sets, n_workers);
  if (!store) return tl::unexpected(std::move(store.error()));
  made->table_.by_value = std::move(*store);
  made->table_.rest = made->by_->whole.narrowed(made->by_->words_left);
  made->table_.match = simd::select_set_match(active_isa());
  made->table_.apart = &made->apart_->stage().direct;
  return made;
}

/// `n_sets`: as many as there are, and some more; as it is where none is of prefixes.
decomposed_form::plan decomposed_form::plan_prefixes(const decomposition& by,
                                                     const rule_table& rules, std::size_t& n_sets) {
  plan made;
  if (by.prefixes.empty()) return made;
  sets_as_prefixes sets;
  each_other_rule(rules, [&](const rule_table::entry& one) {
    if (std::optional<match> values = by.values_of(one.rule->match))
      sets[std::move(*values)].add(by, *one.rule);
  });
  constexpr std::size_t room = 256;
  n_sets = std::max(room, 2 * sets.size());
  std::size_t n_small = 0;
  for (const auto& [values, set] : sets) {
    const auto most = set.find_most();
    if (most.of == nullptr || !most.of->why_not_all().empty()) continue;
    const bool has_others = set.n_others() != 0;
    if (has_others && set.n_rows() <= rule_set::rows_max) continue;  // no need to have these apart
    if (!set.is_large() && n_small++ >= decomposition::lpm_sets_max) continue;
    made.emplace(values, planned_set{most.of->which(), most.n});
  }
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

std::optional<field> decomposed_form::prefixes_at(const set_key& where, const match& what) const {
  if (const auto at = prefixes_.find(where); at != prefixes_.end()) return at->second.shape.which();
  if (compared_.contains(where)) return std::nullopt;
  if (planned_) {
    const auto at = planned_->find(*by_->values_of(what));
    return at == planned_->end() ? std::nullopt : std::optional(at->second.which);
  }
  return n_small_ < decomposition::lpm_sets_max ? by_->prefix_of(what) : std::nullopt;
}

/// It was made for fewer rules, and many packets may go there and to others of which that is so.
bool decomposed_form::is_outgrown(const prefix_set& of) const {
  return of.has_outgrown_its_root() && 8 * n_outgrown_ > n_in_prefixes_;
}

bool decomposed_form::takes(const match& what) const { return takes_at(set_of(what), what); }

bool decomposed_form::takes_at(const std::optional<set_key>& where, const match& what) const {
  if (!where) return apart_->takes(what);
  if (const auto which = prefixes_at(*where, what)) {
    const auto at = prefixes_.find(*where);
    if (at != prefixes_.end() && is_outgrown(at->second)) return false;
    return by_->prefix_of(what) == *which || apart_->takes(what);
  }
  const auto rows = rows_of(what);
  if (!rows) return false;
  const auto at = compared_.find(*where);
  return at == compared_.end() || at->second.n_rows + rows->size() <= rule_set::rows_max;
}

bool decomposed_form::takes_one(const match& what, std::uint16_t priority, rule_id id) const {
  const auto where = set_of(what);
  if (!takes_at(where, what)) return false;
  const auto which = where ? prefixes_at(*where, what) : std::nullopt;
  if (!which || by_->prefix_of(what) != *which) return true;  // it is compared with, or apart
  if (id >= recorded_ids) return false;
  const auto at = prefixes_.find(*where);
  return at == prefixes_.end() || at->second.shape.stays_ordered_with(what, priority);
}

/// Each may begin a set.
bool decomposed_form::takes_quickly(const rule_mod& added, std::size_t n_changes) const {
  const exact_store& store = *table_.by_value;
  return store.size() + n_changes <= store.room() && takes_one(added.match, added.priority, 0);
}

bool decomposed_form::takes_all(const std::vector<rule_step>& changes) const {
  if (changes.size() == 1) {
    const rule_step& step = changes.front();
    if (step.before != nullptr) return true;
    const rule& one = **step.after;
    return takes_one(one.match, one.priority, one.id);
  }
  std::map<set_key, prefix_shape> shapes;  // as they will be
  for (const rule_step& one : changes) {
    const bool comes = one.before == nullptr;
    if (!comes && one.after != nullptr) continue;
    const rule& what = *any_of(one);
    const auto where = set_of(what.match);
    if (comes && !takes_at(where, what.match)) return false;
    const auto which = where ? prefixes_at(*where, what.match) : std::nullopt;
    if (!which || by_->prefix_of(what.match) != *which) continue;
    if (comes && what.id >= recorded_ids) return false;
    const auto there = prefixes_.find(*where);
    prefix_shape& shape = shapes
                              .try_emplace(*where, there != prefixes_.end() ? there->second.shape
                                                                            : prefix_shape(*which))
                              .first->second;
    if (comes) {
      shape.add(what, most_ways(what.match));
    } else {
      shape.remove(what, most_ways(what.match));
    }
  }
  return std::all_of(shapes.begin(), shapes.end(),
                     [](const auto& each) { return each.second.why_not_all().empty(); });
}

result<decomposed_form::prefix_set*> decomposed_form::make_prefixes(const set_key& where,
                                                                    field which,
                                                                    const match& what) {
  const auto there = prefixes_.find(where);
  if (there != prefixes_.end()) return &there->second;
  const std::size_t n_rules = planned_ ? planned_->at(*by_->values_of(what)).n_rules : 1;
  auto form = prefix_form::create(in_, stage_.table, which, what, n_rules, reclaim_);
  if (!form) return tl::unexpected(std::move(form.error()));
  // Batches of versions before find none of its rules.
  if (!table_.by_value->put(where, reference_to(*(*form)->stage().prefixes))) {
    return fail(errc::no_room, "hash table", "no room for an entry");
  }
  ++n_small_;
  return &prefixes_.emplace(where, prefix_set{std::move(*form), prefix_shape(which)}).first->second;
}

void decomposed_form::count(prefix_set& in, bool comes) {
  const auto add = [](std::size_t& to, std::size_t n, bool adds) { to += adds ? n : 0 - n; };
  const auto add_parts = [&](bool adds) {
    add(n_in_prefixes_, in.n_rules, adds);
    if (in.n_rules <= decomposition::set_rules_max) add(n_small_, 1, adds);
    if (in.has_outgrown_its_root()) add(n_outgrown_, in.n_rules, adds);
  };
  add_parts(false);
  add(in.n_rules, 1, comes);
  add_parts(true);
}

/// After a grace period since the last of its rules went.
void decomposed_form::drop_if_empty(const set_key& where) {
  const auto at = prefixes_.find(where);
  if (at == prefixes_.end() || at->second.form->size() != 0) return;
  table_.by_value->erase(where);
  at->second.form->retire();
  // Workers may still be in it.
  in_.garbage.emplace_back([old = std::move(at->second.form)] {});
  prefixes_.erase(at);
  --n_small_;
}

result<void> decomposed_form::add_apart(const rule_ptr& one) {
  apart_from_sets_.insert(one->id);
  return apart_->add(one);
}

decomposed_form::entry& decomposed_form::find(const set_key& where, rule_id id) {
  std::vector<entry>& all = compared_.at(where).entries;
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
  const auto which = prefixes_at(*where, one->match);
  if (!which) return add_compared(*where, one);
  if (by_->prefix_of(one->match) != *which) return add_apart(one);
  const auto to = make_prefixes(*where, *which, one->match);
  if (!to) return tl::unexpected(to.error());
  touched_.insert(*where);
  (*to)->shape.add(*one, most_ways(one->match));
  count(**to, true);
  return (*to)->form->add(one);
}

result<void> decomposed_form::add_compared(const set_key& where, const rule_ptr& one) {
  auto rows = rows_of(one->match);
  if (!rows) return add_apart(one);
  const result<record_id> made = in_.make(*one, 0);
  if (!made) return tl::unexpected(made.error());
  compared_set& to = compared_[where];
  const auto behind = std::find_if(to.entries.begin(), to.entries.end(), [&](const entry& other) {
    return rank_of(*other.rule) < rank_of(*one);
  });
  to.n_rows += rows->size();
  to.entries.insert(behind, {one, *made, false, std::move(*rows)});
  changed_.push_back(where);
  return {};
}

result<void> decomposed_form::replace(const rule_ptr& one) {
  const auto where = set_of(one->match);
  if (!where || apart_from_sets_.contains(one->id)) return apart_->replace(one);
  if (const auto at = prefixes_.find(*where); at != prefixes_.end()) {
    touched_.insert(*where);
    return at->second.form->replace(one);
  }
  entry& at = find(*where, one->id);
  at.rule = one;
  return put(*where, at, in_.make(*one, at.head));
}

result<void> decomposed_form::remove(const rule_ptr& one) {
  const auto where = set_of(one->match);
  if (!where || apart_from_sets_.erase(one->id) != 0) return apart_->remove(one);
  if (const auto at = prefixes_.find(*where); at != prefixes_.end()) {
    touched_.insert(*where);
    at->second.shape.remove(*one, most_ways(one->match));
    count(at->second, false);
    auto good = at->second.form->remove(one);
    if (at->second.n_rules == 0) {
      in_.garbage.emplace_back([form = weak_from_this(), key = *where] {
        if (const auto there = form.lock())
          static_cast<decomposed_form&>(*there).drop_if_empty(key);
      });
    }
    return good;
  }
  entry& at = find(*where, one->id);
  if (auto good = put(*where, at, in_.make_gone(at.head)); !good) return good;
  at.gone = true;
  burials_.add(in_, *this, at.head, *where);
  return {};
}

result<void> decomposed_form::finish() {
  planned_.reset();
  for (const set_key& each : std::exchange(touched_, {})) {
    const auto at = prefixes_.find(each);
    if (at == prefixes_.end()) continue;
    at->second.form->is_part_of(n_in_prefixes_);
    if (auto good = at->second.form->finish(); !good) return good;
  }
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  for (const set_key& each : std::exchange(changed_, {})) {
    if (auto good = build(each); !good) return good;
  }
  return apart_->finish();
}

result<void> decomposed_form::build(const set_key& where) {
  compared_set& of = compared_.at(where);
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
  compared_bytes_ += made->bytes();
  if (of.made != nullptr) {
    compared_bytes_ -= of.made->bytes();
    in_.garbage.emplace_back([old = std::shared_ptr<const rule_set>(std::move(of.made))] {});
  }
  of.made = std::move(made);
  return {};
}

void decomposed_form::bury(record_id gone) {
  const std::optional<set_key> where = burials_.take(gone);
  if (!where) return;
  compared_set& of = compared_.at(*where);
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
  compared_bytes_ -= of.made->bytes();
  in_.garbage.emplace_back([old = std::shared_ptr<const rule_set>(std::move(of.made))] {});
  compared_.erase(*where);
}

void decomposed_form::retire() {
  // Workers may still be in the sets: they go with this.
  for (auto& [where, of] : compared_) {
    for (const entry& one : of.entries) in_.retire(one.head);
    of.entries.clear();
  }
  for (auto& [where, of] : prefixes_) of.form->retire();
  (void)burials_.clear();
  apart_->retire();
}

table_form::sharing decomposed_form::shared() const {
  sharing all;
  for (const auto& [where, of] : prefixes_) {
    const sharing one = of.form->shared();
    all.rules += one.rules;
    all.records += one.records;
  }
  return all;
}

std::string decomposed_form::by() const {
  const std::size_t n_direct = compared_.size(), n_lpm = prefixes_.size();
  const bool has_both = n_direct != 0 && n_lpm != 0;
  std::string kinds = n_direct != 0 || n_lpm == 0 ? std::to_string(n_direct) + " direct" : "";
  if (has_both) kinds += " and ";
  if (n_lpm != 0) kinds += std::to_string(n_lpm) + " lpm";
  const bool is_one = (n_lpm != 0 ? n_lpm : n_direct) == 1;
  return by_->to_string() + ": exact to " + kinds + (is_one ? " table" : " tables");
}

decomposed_form::in_prefixes decomposed_form::prefixes() const {
  in_prefixes all{prefixes_.size(), n_in_prefixes_, 0};
  for (const auto& [where, of] : prefixes_) all.bytes += of.form->bytes();
  return all;
}

std::uint64_t decomposed_form::bytes() const {
  return table_.by_value->bytes() + compared_bytes_ + prefixes().bytes + apart_->bytes();
}

}  // namespace coua::pipeline
