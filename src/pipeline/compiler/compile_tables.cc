// SPDX-License-Identifier: Apache-2.0
//
// The tables' part of the compiler: which are changed in place, which are built anew, and with
// what.
#include <algorithm>
#include <unordered_map>

#include "base/error_place.h"
#include "pipeline/compiler/decomposed_form.h"
#include "pipeline/compiler/direct_form.h"
#include "pipeline/compiler/other_rules.h"
#include "pipeline/compiler/pipeline_compiler.h"
#include "pipeline/compiler/prefix_form.h"
#include "pipeline/compiler/wildcard_form.h"
#include "pipeline/model/conjunction.h"

namespace coua::pipeline {
namespace {

/// What comes of each rule in the end. One that comes and goes in one bundle is nothing: what it
/// refers to may be gone with it.
std::vector<rule_step> net_of(const change_list& changes) {
  std::vector<rule_step> net;
  net.reserve(changes.size());
  // Only a rule that was there before, or in this list, can be there twice.
  bool may_be_twice = false;
  const auto place_of = [](const rule_ptr& one) { return one == nullptr ? nullptr : &one; };
  for (const change& each : changes) {
    const auto* one = std::get_if<rule_change>(&each);
    if (one == nullptr) continue;
    net.push_back({place_of(one->before), place_of(one->after)});
    may_be_twice |= one->before != nullptr;
  }
  if (!may_be_twice || net.size() == 1) return net;
  std::unordered_map<rule_id, std::size_t> at;
  std::size_t n = 0;
  for (const rule_step& one : net) {
    const auto [found, is_new] = at.try_emplace(any_of(one)->id, n);
    if (is_new) {
      net[n++] = one;
    } else {
      net[found->second].after = one.after;
    }
  }
  net.resize(n);
  std::erase_if(net, [](const rule_step& one) { return is_nothing(one); });
  return net;
}

/// What of it is for clauses, or for all others. What becomes a clause, or ceases to be one, goes
/// here and comes there.
rule_step part_of(const rule_step& step, bool of_clauses) {
  const auto only = [of_clauses](const rule_ptr* one) {
    return one != nullptr && is_clause(**one) == of_clauses ? one : nullptr;
  };
  return {only(step.before), only(step.after)};
}

/// Tables to which a rule comes that was a clause: it is older than some that are there, which the
/// templates do not expect of one that is added.
std::set<table_id> with_older_rules(const std::vector<rule_step>& net) {
  std::set<table_id> found;
  for (const rule_step& one : net) {
    const bool was_clause = one.before != nullptr && is_clause(**one.before);
    if (was_clause && one.after != nullptr && !is_clause(**one.after)) {
      found.insert((*one.after)->table);
    }
  }
  return found;
}

std::uint64_t n_coming(const std::vector<rule_step>& changes) {
  return static_cast<std::uint64_t>(std::count_if(
      changes.begin(), changes.end(), [](const rule_step& one) { return one.before == nullptr; }));
}
std::uint64_t n_going(const std::vector<rule_step>& changes) {
  return static_cast<std::uint64_t>(std::count_if(
      changes.begin(), changes.end(), [](const rule_step& one) { return one.after == nullptr; }));
}

}  // namespace

key_layout pipeline_compiler::layout_of(table_id table, table_template kind) const {
  std::vector<match> matches;
  if (kind == table_template::exact) {
    if (const match* main = tables_[table].keeper.find_main(tables_[table].shape))
      matches.push_back(*main);
  } else {
    each_other_rule(model_.tables()[table],
                    [&](const rule_table::entry& one) { matches.push_back(one.rule->match); });
  }
  // A classifier's rules come with all kinds of masks.
  return key_layout::of(matches, kind == table_template::classifier ? key_layout::width::fields
                                                                    : key_layout::width::bits);
}

table_template pipeline_compiler::wanted(table_id table) const {
  const table_template by_rules = tables_[table].keeper.now().which;
  if (by_rules == table_template::exact) {
    const key_layout layout = layout_of(table, table_template::exact);
    if (!exact_store::takes(layout)) return table_template::classifier;
  }
  // What it has may be kept past that, if nothing else could be built.
  if (by_rules == table_template::lpm && !tables_[table].keeper.still_serves(tables_[table].shape))
    return table_template::classifier;
  return by_rules;
}

/// Rules come that it would take, but not serve.
bool pipeline_compiler::breaks(table_id table, const rule_changes& changes) const {
  const table_state& of = tables_[table];
  const table_template has = of.form->kind();
  if (has != table_template::exact && has != table_template::lpm) return false;
  if (n_coming(changes) == 0) return false;
  const template_keeper& before = keepers_before_.at(table);
  if (!before.still_serves(of.shape)) return true;
  // Of prefixes the order is known of those that are most.
  const match* main = before.find_main(of.shape);
  return has == table_template::lpm && (main == nullptr || !of.form->is_for(*main));
}

bool pipeline_compiler::is_inside_out(table_id table, const rule_changes& changes) const {
  const table_state& of = tables_[table];
  if (n_coming(changes) == 0 && !of.form->has_rules_apart()) return false;
  const match* main = of.keeper.find_main(of.shape);
  return main != nullptr && !of.form->is_for(*main);
}

bool pipeline_compiler::has_other_field(table_id table) const {
  const auto* prefixes = as<prefix_form>(tables_[table].form.get());
  const auto& wanted = tables_[table].keeper.now().prefix_field;
  return prefixes != nullptr && wanted && prefixes->which() != *wanted;
}

pipeline_compiler::building pipeline_compiler::how_to_build(table_id table,
                                                            const rule_changes& changes) {
  table_state& of = tables_[table];
  keepers_before_.try_emplace(table, of.keeper);
  const bool fits = of.form == nullptr || of.form->takes_all(changes);
  ask_keeper(table, changes.size(), fits);
  if (of.form == nullptr || !fits || breaks(table, changes)) return building::must;
  // What the rules ask for it has already, mostly; else whether their keys fit is worked out.
  const table_template has = of.form->kind();
  const bool is_other =
      (has != of.keeper.now().which && has != wanted(table)) || has_other_field(table);
  const bool splits_anew = has == table_template::decomposed &&
                           of.keeper.now().parts != keepers_before_.at(table).now().parts;
  return is_other || splits_anew || is_inside_out(table, changes) ? building::would_be_better
                                                                  : building::none;
}

bool pipeline_compiler::is_quick(std::span<const operation> operations) {
  return std::all_of(operations.begin(), operations.end(), [&](const operation& one) {
    const auto* asked = std::get_if<rule_mod>(&one);
    return asked != nullptr && is_quick(*asked, operations.size());
  });
}

bool pipeline_compiler::is_quick(const rule_mod& asked, std::size_t n_changes) {
  constexpr std::size_t large = 16 * 1024;  // rules: such a table takes some 50 ms to build
  if (asked.command == rule_command::modify || asked.command == rule_command::remove) return false;
  if (asked.table >= tables_.size()) return true;  // it is refused
  table_state& of = tables_[asked.table];
  if (of.form == nullptr || of.shape.n_rules() < large) return true;
  if (asked.command != rule_command::remove_strict) {
    // What was a clause has the table built anew (with_older_rules).
    const auto* there = model_.tables()[asked.table].find(asked.priority, asked.match);
    if (there != nullptr && is_clause(*there->rule) != is_clause(asked.instructions)) return false;
  }
  if (asked.command != rule_command::add) return of.keeper.would_stay(of.shape, n_changes);
  if (is_clause(asked.instructions)) return of.clauses == nullptr || of.clauses->takes(asked.match);
  const std::size_t n_rows = of.form->n_rows_apart() + 2 * (n_changes - 1) + most_ways(asked.match);
  if (of.form->is_apart(asked.match) && n_rows > limits_.most_apart()) return false;
  return of.form->takes_quickly(asked, n_changes) && would_stay_with(asked, n_changes);
}

bool pipeline_compiler::would_stay_with(const rule_mod& added, std::size_t n_changes) {
  table_state& of = tables_[added.table];
  // One more like all others of an exact table, as most are.
  if (of.keeper.now().which == table_template::exact &&
      of.shape.is_uniform_with(added.match, added.priority)) {
    return true;
  }
  const rule made = to_rule(added);
  of.shape.add(made);
  const bool stays = of.keeper.would_stay(of.shape, n_changes);
  of.shape.remove(made);
  return stays;
}

void pipeline_compiler::stay(const std::set<table_id>& tables, const error& why) {
  for (const table_id each : tables) {
    tables_[each].keeper.stay(keepers_before_.at(each), why.what);
  }
}

void pipeline_compiler::ask_keeper(table_id table, std::size_t n_changes, bool fits) {
  table_state& of = tables_[table];
  // What others do not take, they are built anew for: only decomposed may not be able to.
  const bool breaks = !fits && of.form->kind() == table_template::decomposed;
  // Little is captured, so that nothing is allocated for a question that is seldom asked.
  (void)of.keeper.follow(
      of.shape, {n_changes, !breaks}, [this, table](std::shared_ptr<const decomposition> has) {
        return decompose(model_.tables()[table], tables_[table].shape.n_masks(), std::move(has));
      });
}

void pipeline_compiler::leave(const shared_store& which, std::set<table_id>& build) {
  build.insert(which.tables.begin(), which.tables.end());
  leaving_.insert(&which);
}

result<void> pipeline_compiler::resize_stores(const std::set<table_id>& build,
                                              const std::map<table_id, rule_changes>& changes) {
  std::set<std::shared_ptr<shared_store>> which;
  for (const auto& [table, of_table] : changes) {
    const auto* form = as<exact_form>(tables_[table].form.get());
    if (form == nullptr || build.contains(table)) continue;
    const exact_store& store = *form->store()->store;
    // Entries of rules that are gone may still be there.
    if (store.size() + n_coming(of_table) > store.room()) which.insert(form->store());
  }
  for (const auto& each : stores_) {
    if (each->is_too_large()) which.insert(each);
  }
  for (const auto& each : which) {
    if (auto good = resize(*each, build, changes); !good) return good;
  }
  return {};
}

/// Rules, their records and all that is known of them stay: only entries are copied, which takes a
/// tenth of the time of building the tables anew.
result<void> pipeline_compiler::resize(const shared_store& from, const std::set<table_id>& build,
                                       const std::map<table_id, rule_changes>& changes) {
  std::set<table_id> moved;
  std::uint64_t n_rules = 0;
  for (const table_id each : from.tables) {
    if (build.contains(each)) continue;
    moved.insert(each);
    n_rules += tables_[each].shape.n_rules();
    // Those that go are copied, too: it is done in the new store that they go.
    const auto of_table = changes.find(each);
    if (of_table != changes.end()) n_rules += n_going(of_table->second);
  }
  if (moved.empty()) return {};
  auto made = exact_store::create(from.store->layout(),
                                  std::max(shared_store::smallest, 2 * n_rules), n_workers_);
  if (!made) return tl::unexpected(std::move(made.error()));
  // A batch that comes here is at a version that has none of those that are gone.
  const bool is_whole =
      (*made)->take_from(*from.store, [&](std::uint8_t table, std::uint64_t head) {
        return moved.contains(table) && context_.rule_of(rule_head::of(head)) != nullptr;
      });
  if (!is_whole) return fail(errc::no_room, "hash table", "no room for an entry");
  const auto to = std::make_shared<shared_store>(std::move(*made));
  stores_.push_back(to);
  for (const table_id each : moved) {
    auto& old = static_cast<exact_form&>(*tables_[each].form);
    install(each, std::make_shared<exact_form>(old, to));
  }
  return {};
}

/// Of all tables of a store that has become large, also those that do not change now.
void pipeline_compiler::share_in_stores() {
  for (const auto& each : stores_) {
    const bool is_large = each->is_large(context_);
    if (std::exchange(each->was_large, is_large) || !is_large) continue;
    for (const table_id table : each->tables) tables_[table].form->share_later();
  }
}

/// What stays, what goes and what comes. Where several rules have one place, the lowest goes first:
/// one that is left counts there next, and must not be one that is about to go, nor as it was
/// before: what it refers to, a group, may be gone already.
void pipeline_compiler::put_in_order(rule_changes& changes) {
  const auto rank = [](const rule_step& one) {
    if (one.after == nullptr) return std::pair(1, int{(*one.before)->priority});
    return std::pair(one.before != nullptr ? 0 : 2, 0);
  };
  if (changes.size() == 1) return;
  std::stable_sort(changes.begin(), changes.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

result<void> pipeline_compiler::change_tables(const change_list& changes) {
  const std::vector<rule_step> net = net_of(changes);
  const auto sorted = [&net](bool of_clauses) {
    std::map<table_id, rule_changes> by_table;
    for (const rule_step& each : net) {
      const rule_step one = part_of(each, of_clauses);
      if (!is_nothing(one)) by_table[any_of(one)->table].push_back(one);
    }
    for (auto& [table, of_table] : by_table) put_in_order(of_table);
    return by_table;
  };
  for (const auto& [table, of_table] : sorted(true)) {
    if (auto good = change_clauses(table, of_table); !good) return good;
  }
  const std::map<table_id, rule_changes> by_table = sorted(false);
  const std::set<table_id> aged = with_older_rules(net);
  std::set<table_id> anew, better;
  for (const auto& [table, of_table] : by_table) {
    const building how = how_to_build(table, of_table);
    if (tables_[table].shape.n_rules() == 0) {
      if (tables_[table].form != nullptr) install(table, nullptr);
    } else if (how == building::must || aged.contains(table)) {
      anew.insert(table);
    } else if (how == building::would_be_better) {
      better.insert(table);
    }
  }
  if (auto good = resize_stores(anew, by_table); !good) return good;
  std::set<table_id> all = better;
  all.insert(anew.begin(), anew.end());
  if (auto good = build(all); good) {
    anew = std::move(all);
  } else {
    if (better.empty()) return good;
    stay(better, good.error());
    if (good = build(anew); !good) return good;
  }
  for (const auto& [table, of_table] : by_table) {
    if (anew.contains(table) || tables_[table].form == nullptr) continue;
    if (auto good = change_in_place(table, of_table); !good) {
      // Full before its time, or too many masks: another one may still do.
      const auto* form = as<exact_form>(tables_[table].form.get());
      std::set<table_id> again{table};
      ask_keeper(table, 0, false);
      if (form != nullptr) leave(*form->store(), again);
      if (good = build(again); !good) return good;
      anew.insert(again.begin(), again.end());  // with all changes of this version
    }
  }
  return {};
}

result<void> pipeline_compiler::change_in_place(table_id table, const rule_changes& changes) {
  touched_.insert(table);
  const table_state& of = tables_[table];
  const auto good = change_form(*of.form, changes);
  // With rules apart it is looked up alone, else together with others.
  if (of.form->has_rules_apart() != plan_->has_apart[table]) plan_changes_ = true;
  return good;
}

result<void> pipeline_compiler::change_form(table_form& form, const rule_changes& changes) {
  for (const rule_step& one : changes) {
    result<void> good;
    if (one.before == nullptr) {
      good = form.add(*one.after);
    } else if (one.after == nullptr) {
      good = form.remove(*one.before);
    } else {
      good = form.replace(*one.after);
    }
    if (!good) return good;
  }
  return form.finish();
}

pipeline_compiler::rules_by_keys pipeline_compiler::exact_rules_of(
    const std::set<table_id>& tables) const {
  rules_by_keys made;
  for (const table_id each : tables) {
    if (wanted(each) != table_template::exact) continue;
    const key_layout layout = layout_of(each, table_template::exact);
    auto at = std::find_if(made.begin(), made.end(),
                           [&](const auto& one) { return one.first == layout; });
    if (at == made.end()) at = made.insert(at, {layout, 0});
    at->second += tables_[each].shape.n_rules();
  }
  return made;
}

result<void> pipeline_compiler::build(const std::set<table_id>& tables) {
  if (tables.empty()) return {};
  std::map<table_id, std::shared_ptr<table_form>> made;
  const rules_by_keys exact = exact_rules_of(tables);
  for (const table_id each : tables) {
    if (tables_[each].shape.n_rules() == 0) continue;
    auto form = make_form(each, exact);
    if (!form) {
      for (auto& [table, one] : made) discard(std::move(one));
      std::erase_if(stores_, [](const auto& store) { return store->tables.empty(); });
      return tl::unexpected(std::move(form.error()));
    }
    made[each] = std::move(*form);
  }
  for (auto& [table, form] : made) install(table, std::move(form));
  return {};
}

result<std::shared_ptr<table_form>> pipeline_compiler::make_form(table_id table,
                                                                 const rules_by_keys& exact) {
  const rule_table& rules = model_.tables()[table];
  const table_template kind = wanted(table);
  std::shared_ptr<table_form> form;
  if (kind == table_template::direct) {
    form = std::make_shared<direct_form>(context_, table);
  } else if (kind == table_template::lpm) {
    auto made = make_prefixes(table);
    if (!made) return made;
    form = std::move(*made);
  } else if (kind == table_template::decomposed) {
    auto made = decomposed_form::create(context_, table, tables_[table].keeper.now().parts, rules,
                                        n_workers_, reclaimer_);
    if (!made) return tl::unexpected(std::move(made.error()));
    form = std::move(*made);
  } else {
    const key_layout layout = layout_of(table, kind);
    auto made = kind == table_template::exact ? make_exact(table, layout, exact)
                                              : make_classifier(table, layout);
    if (!made) return made;
    form = std::move(*made);
  }
  // In the order in which they were added: of one priority the first one counts.
  std::vector<const rule_ptr*> all;
  each_other_rule(rules, [&](const rule_table::entry& one) { all.push_back(&one.rule); });
  std::sort(all.begin(), all.end(),
            [](const rule_ptr* a, const rule_ptr* b) { return (*a)->id < (*b)->id; });
  result<void> good;
  for (const rule_ptr* each : all) {
    if (good) good = form->add(*each);
  }
  if (good) good = form->finish();
  if (!good) {
    discard(std::move(form));
    return tl::unexpected(std::move(good.error()));
  }
  return form;
}

result<std::shared_ptr<table_form>> pipeline_compiler::make_exact(table_id table,
                                                                  const key_layout& layout,
                                                                  const rules_by_keys& exact) {
  std::shared_ptr<shared_store> to;
  const std::uint64_t n = tables_[table].shape.n_rules();
  for (const auto& each : stores_) {
    const bool has_room = each->store->size() + n <= each->store->room();
    const bool is_clean = !each->tables.contains(table) && !each->left.contains(table);
    const bool stays = !leaving_.contains(each.get());
    if (each->store->layout() == layout && has_room && is_clean && stays) to = each;
  }
  if (to == nullptr) {
    // The others with such keys come, too.
    const auto of_all = std::find_if(exact.begin(), exact.end(),
                                     [&](const auto& one) { return one.first == layout; });
    auto made = exact_store::create(layout, std::max(shared_store::smallest, 2 * of_all->second),
                                    n_workers_);
    if (!made) return tl::unexpected(std::move(made.error()));
    to = std::make_shared<shared_store>(std::move(*made));
    stores_.push_back(to);
  }
  return std::make_shared<exact_form>(context_, table, std::move(to));
}

result<std::shared_ptr<table_form>> pipeline_compiler::make_classifier(table_id table,
                                                                       const key_layout& layout) {
  auto made = wildcard_table::create(layout, n_workers_);
  if (!made) return tl::unexpected(std::move(made.error()));
  // Before a million others are added.
  result<void> good;
  each_other_rule(model_.tables()[table], [&](const rule_table::entry& one) {
    if (good) good = (*made)->check(one.rule->match);
  });
  if (!good) return tl::unexpected(at_place("table " + std::to_string(table), good.error()));
  return std::make_shared<wildcard_form>(context_, table, std::move(*made));
}

result<std::shared_ptr<table_form>> pipeline_compiler::make_prefixes(table_id table) {
  const table_state& of = tables_[table];
  auto made = prefix_form::create(context_, table, *of.keeper.now().prefix_field,
                                  *of.keeper.find_main(of.shape), of.shape.n_rules(), reclaimer_);
  if (!made) return tl::unexpected(std::move(made.error()));
  return std::shared_ptr<table_form>(std::move(*made));
}

void pipeline_compiler::install(table_id table, std::shared_ptr<table_form> made) {
  table_state& state = tables_[table];
  plan_changes_ = true;
  touched_.insert(table);
  if (const auto* exact = as<exact_form>(made.get())) {
    exact->store()->tables.insert(table);
  }
  if (const auto* exact = as<exact_form>(state.form.get())) {
    exact->store()->tables.erase(table);
    if (exact->store()->tables.empty()) std::erase(stores_, exact->store());
  }
  if (state.form != nullptr) discard(std::move(state.form));
  state.form = std::move(made);
}

void pipeline_compiler::discard(std::shared_ptr<table_form> gone) {
  gone->retire();
  const auto* exact = as<exact_form>(gone.get());
  if (exact != nullptr) exact->store()->left.insert(gone->stage().table);
  context_.garbage.emplace_back([gone = std::move(gone), exact] {
    if (exact != nullptr) exact->store()->purge(gone->stage().table);
  });
}

}  // namespace coua::pipeline
