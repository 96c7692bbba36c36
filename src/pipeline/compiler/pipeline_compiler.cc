// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/pipeline_compiler.h"

#include <algorithm>
#include <map>

#include "pipeline/model/conjunction.h"

namespace coua::pipeline {
namespace {

/// Groups, buckets, meters and bands count besides rules; and of what was replaced, both are there
/// for a while.
std::uint32_t numbers_for(const bridge_params& of) {
  return static_cast<std::uint32_t>(
      std::min<std::size_t>(2 * of.rules_max + (std::size_t{1} << 22), 1U << 28));
}
/// Those of all rules once more are for recovery, which must not fail for want of them.
std::size_t records_for(const bridge_params& of, const compiler_params& params) {
  return 3 * of.rules_max + params.spare_records;
}
constexpr std::size_t forwarded_rules_max = std::size_t{1} << 26;  // numbers have 28 bits

/// What of its packets a rule counts.
constexpr int counted_of(const rule& one) {
  return one.flags & (rule_no_packet_counts | rule_no_byte_counts);
}
traffic shown(traffic counted, const rule& of) {
  if ((of.flags & rule_no_packet_counts) != 0) counted.packets = 0;
  if ((of.flags & rule_no_byte_counts) != 0) counted.bytes = 0;
  return counted;
}

/// Packets go to the L2 switch, and nothing else comes of them.
bool is_normal(const instructions& what) {
  static const auto [apply, write] = [] {
    std::pair<instructions, instructions> made;
    made.first.apply = made.second.write = action_list{act::output{port_normal}};
    return made;
  }();
  return what == apply || what == write;
}

}  // namespace

result<std::unique_ptr<pipeline_compiler>> pipeline_compiler::create(
    const bridge& model, const compiler_params& params) {
  if (params.n_workers < 1 || params.n_workers > qsbr::max_readers) {
    return fail(errc::invalid, "n_workers", "must be 1 to 256");
  }
  if (model.params().rules_max > forwarded_rules_max) {
    return fail(errc::invalid, "rules_max", "must be at most 2^26 in a bridge that forwards");
  }
  if (records_for(model.params(), params) > rule_head::numbers_max) {
    return fail(errc::invalid, "spare_records",
                "must be at most 2^28 together with three for each of rules_max");
  }
  auto records =
      action_records::create(records_for(model.params(), params), numbers_for(model.params()));
  if (!records) return tl::unexpected(std::move(records.error()));
  auto counts = count_book::create(params.n_workers, numbers_for(model.params()));
  if (!counts) return tl::unexpected(std::move(counts.error()));
  std::unique_ptr<pipeline_compiler> made(
      new pipeline_compiler(model, std::move(*records), std::move(*counts), params));
  return made;
}

pipeline_compiler::pipeline_compiler(const bridge& model, action_records records, count_book counts,
                                     const compiler_params& params)
    : model_(model),
      n_workers_(params.n_workers),
      limits_(params.limits),
      reclaimer_(published_.grace),
      context_(std::move(records), model.params().rules_max, params.share_from, std::move(counts),
               {[this](group_id id) { return groups_.group_of(id); },
                [this](meter_id id) { return groups_.meter_of(id); }}),
      groups_(model),
      joiner_(model, context_, published_, params.n_workers, params.join_after) {
  published_.records = &context_.records();
  for (table_state& each : tables_) each.keeper = template_keeper(params.limits);
  ports_ = std::make_unique<port_list>();
  plan_changes_ = true;
  publish();
}

pipeline_compiler::~pipeline_compiler() {
  joiner_.end();
  // Actions may defer more.
  while (reclaimer_.pending() != 0 || !context_.garbage.empty()) {
    defer_garbage();
    (void)reclaimer_.reclaim();
  }
}

void pipeline_compiler::note(const change_list& changes, bool forward) {
  const auto each = [&](const change& one) {
    std::visit(overloaded{
                   [&](const rule_change& c) {
                     const rule_ptr& gone = forward ? c.before : c.after;
                     const rule_ptr& come = forward ? c.after : c.before;
                     if (gone != nullptr) {
                       if (!is_clause(*gone)) tables_[gone->table].shape.remove(*gone);
                       depth_.remove(*gone);
                     }
                     if (come != nullptr) {
                       if (!is_clause(*come)) tables_[come->table].shape.add(*come);
                       depth_.add(*come);
                     }
                   },
                   [&](const group_change& c) {
                     if (const auto& gone = forward ? c.before : c.after) depth_.remove(*gone);
                     if (const auto& come = forward ? c.after : c.before) depth_.add(*come);
                   },
                   [&](const meter_change& c) {
                     if (const auto& gone = forward ? c.before : c.after) depth_.remove(*gone);
                     if (const auto& come = forward ? c.after : c.before) depth_.add(*come);
                   },
                   [](const port_change&) {},
               },
               one);
  };
  if (forward) {
    std::for_each(changes.begin(), changes.end(), each);
  } else {
    std::for_each(changes.rbegin(), changes.rend(), each);
  }
}

result<void> pipeline_compiler::number_rules(const change_list& changes) {
  for (const change& each : changes) {
    const auto* of_rule = std::get_if<rule_change>(&each);
    if (of_rule == nullptr || of_rule->after == nullptr) continue;
    if (of_rule->before != nullptr) {
      context_.renumber(of_rule->after);
    } else if (auto good = context_.number(of_rule->after); !good) {
      return good;
    }
  }
  return {};
}

void pipeline_compiler::forget_rules(const change_list& changes) {
  for (const change& each : changes) {
    const auto* of_rule = std::get_if<rule_change>(&each);
    if (of_rule == nullptr || of_rule->after != nullptr) continue;
    context_.garbage.emplace_back([this, id = of_rule->before->id] { context_.forget(id); });
  }
}

result<void> pipeline_compiler::follow(const change_list& changes, time_ns now) {
  if (changes.empty()) return {};
  context_.making = published_.version.load(std::memory_order_relaxed) + 1;
  plan_changes_ = false;
  touched_.clear();
  touched_clauses_.clear();
  keepers_before_.clear();
  leaving_.clear();
  note(changes, true);
  if (auto good = carry_out(changes, now); !good) {
    take_back(changes);
    return good;
  }
  groups_.keep(context_);
  joiner_.note(changes, now);
  forget_rules(changes);
  publish();
  return {};
}

void pipeline_compiler::take_back(const change_list& changes) {
  note(changes, false);
  // Backwards: what a rule was before the first of its changes counts.
  for (auto each = changes.rbegin(); each != changes.rend(); ++each) {
    if (const auto* one = std::get_if<rule_change>(&*each)) {
      const rule& any = *(one->before != nullptr ? one->before : one->after);
      if (one->after != nullptr && context_.has_number(any.id)) {
        if (one->before == nullptr) {
          context_.forget(any.id);
        } else {
          context_.renumber(one->before);
        }
      }
    }
  }
  for (auto& [table, before] : keepers_before_) tables_[table].keeper = std::move(before);
}

result<void> pipeline_compiler::carry_out(const change_list& changes, time_ns now) {
  const bool tables_change = std::any_of(changes.begin(), changes.end(), [](const change& one) {
    return std::holds_alternative<rule_change>(one);
  });
  if (tables_change) {
    if (auto good = context_.check_reserve(); !good) return good;
  }
  if (auto good = number_rules(changes); !good) return good;
  if (auto good = groups_.follow(context_, changes, now); !good) return good;
  if (tables_change) {
    if (auto good = change_tables(changes); !good) return good;
  }
  const bool ports_change = std::any_of(changes.begin(), changes.end(), [](const change& one) {
    return std::holds_alternative<port_change>(one);
  });
  if (!ports_change) return {};
  std::vector<port> all;
  for (const auto& [number, one] : model_.ports()) all.push_back(one);
  context_.garbage.emplace_back([old = std::shared_ptr(std::move(ports_))] {});
  ports_ = std::make_unique<port_list>(std::move(all));
  plan_changes_ = true;
  return {};
}

void pipeline_compiler::recover() {
  context_.making = published_.version.load(std::memory_order_relaxed) + 1;
  context_.recovering = true;
  groups_.restore(context_);
  // Other tables are as they were.
  const std::set<table_id> anew = std::exchange(touched_, {});
  for (const table_id each : anew) {
    if (tables_[each].shape.n_rules() == 0) install(each, nullptr);
  }
  COUA_CHECK(build(anew).has_value());
  for (const table_id each : std::exchange(touched_clauses_, {})) {
    COUA_CHECK(build_clauses(each).has_value());
  }
  context_.recovering = false;
  publish();
}

/// Of tables whose rules are all in one place.
static void set_batches(plan& of) {
  std::map<std::pair<table_template, std::uintptr_t>, table_id> first;
  for (std::size_t i = 0; i < n_tables_max; ++i) {
    const auto id = static_cast<table_id>(i);
    of.batch_of[i] = id;
    const table_stage* stage = of.tables[i];
    if (stage == nullptr || of.clauses[i] != nullptr || of.has_apart[i]) continue;
    std::uintptr_t place;
    switch (stage->kind) {
      case table_template::exact: place = reinterpret_cast<std::uintptr_t>(stage->exact); break;
      case table_template::lpm: place = stage->prefixes->is_ipv4() ? 4 : 6; break;
      default: continue;
    }
    of.batch_of[i] = first.try_emplace({stage->kind, place}, id).first->second;
  }
}

void pipeline_compiler::publish() {
  if (context_.making == 0) context_.making = 1;
  share_in_stores();
  if (plan_ == nullptr || plan_->depth != depth_.deepest()) plan_changes_ = true;
  if (plan_changes_) {
    auto next = std::make_unique<plan>();
    next->from = context_.making;
    next->depth = depth_.deepest();
    next->ports = ports_.get();
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      next->tables[i] = tables_[i].form == nullptr ? nullptr : &tables_[i].form->stage();
      const table_form* form = tables_[i].form.get();
      next->has_apart[i] = form != nullptr && form->has_rules_apart();
      const auto& clauses = tables_[i].clauses;
      next->clauses[i] = clauses == nullptr ? nullptr : &clauses->rules();
      next->some_clauses |= clauses != nullptr;
    }
    set_batches(*next);
    published_.root.store(next.get(), std::memory_order_release);
    if (plan_ != nullptr) {
      context_.garbage.emplace_back([old = std::shared_ptr<plan>(std::move(plan_))] {});
    }
    plan_ = std::move(next);
  }
  published_.no_fwd.store(ports_->no_fwd(), std::memory_order_release);    // with executor::no_fwd
  published_.no_recv.store(ports_->no_recv(), std::memory_order_release);  // with executor::no_recv
  const std::uint32_t normal = number_of_normal();
  if (normal != published_.all_normal.load(std::memory_order_relaxed)) {
    published_.all_normal.store(published_plan::not_normal, std::memory_order_relaxed);
  }
  // Who loads it (acquire) sees all of the above.
  published_.version.store(context_.making, std::memory_order_release);
  published_.all_normal.store(normal, std::memory_order_release);  // with executor::all_normal
  defer_garbage();
}

std::uint32_t pipeline_compiler::number_of_normal() const {
  constexpr std::uint32_t none = published_plan::not_normal;
  const rule_table& first = model_.tables()[0];
  if (first.size() != 1) return none;
  const rule* only = nullptr;
  first.each([&](const rule_table::entry& one) { only = one.rule.get(); });
  if (!only->match.is_any() || !is_normal(only->instructions)) return none;
  for (const auto& [number, one] : model_.ports()) {
    if (one.no_recv) return none;
  }
  return context_.number_of(only->id);
}

void pipeline_compiler::defer_garbage() {
  if (context_.garbage.empty()) return;
  auto all = std::make_shared<std::vector<std::function<void()>>>(std::move(context_.garbage));
  context_.garbage.clear();
  n_deferred_ += all->size();
  reclaimer_.defer([this, all] {
    for (const auto& each : *all) each();
    n_deferred_ -= all->size();
  });
}

std::size_t pipeline_compiler::reclaim() {
  (void)reclaimer_.reclaim();
  defer_garbage();  // what was buried
  return reclaimer_.pending();
}

void pipeline_compiler::tend(time_ns now) {
  joiner_.make_when_due(now, [this](table_id id) {
    return tables_[id].form != nullptr && tables_[id].form->kind() == table_template::exact;
  });
}

void pipeline_compiler::collect(bridge& model, time_ns now) {
  const std::vector<rule_ptr>& rules = context_.rules();
  const auto tell = [&](std::uint32_t number, const traffic& more) {
    if (more.packets == 0) return;
    const rule_table::entry* entry = model.find_rule(rules[number]->id);
    if (entry == nullptr) return;  // it has just gone
    model.count_rule(entry->rule->id, shown(more, *entry->rule), now);
  };
  for (std::uint32_t number = 0; number < rules.size(); ++number) {
    if (rules[number] != nullptr) tell(number, context_.counts.news(number));
  }
  joiner_.collect();
  for (const auto& [number, more] : context_.take_owed()) tell(number, more);
  for (unsigned i = 0; i < model.tables().size(); ++i) {
    const auto id = static_cast<table_id>(i);
    const worker_counts::table_cell more = context_.counts.news_of_table(id);
    const std::uint64_t joined = joiner_.news_of_table(id);
    model.count_table(id, more.lookups + joined, more.matches + joined);
  }
  groups_.collect(context_, model);
}

void pipeline_compiler::collect_changed(bridge& model, change_list& done, time_ns now) {
  std::map<rule_id, traffic> others;  // that met packets and are still there
  for (change& each : done) {
    auto* one = std::get_if<rule_change>(&each);
    if (one == nullptr || one->before == nullptr) continue;
    const bool is_gone = one->after == nullptr;
    const bool is_cleared = one->counts == rule_counts::cleared;
    if (!is_gone && !is_cleared && counted_of(*one->before) == counted_of(*one->after)) continue;
    const rule_id id = one->before->id;
    // Of a rule that is changed several times it is the first one that has news.
    joiner_.collect_of(id);
    const std::uint32_t number = context_.number_of(id);
    traffic more = context_.counts.news(number);
    more += context_.take_owed(number);
    if (more.packets != 0) others[id] = shown(more, *one->before);
    const auto counted = others.find(id);
    if (counted == others.end()) continue;
    if (is_cleared) counted->second = {};
    if (is_gone) one->state_before.counted += others.extract(counted).mapped();
  }
  for (const auto& [id, counted] : others) model.count_rule(id, counted, now);
}

compiler_usage pipeline_compiler::usage() const {
  return {context_.n_records(),
          context_.counts.n_taken(),
          context_.actions.n_shapes(),
          context_.actions.n_shared(),
          stores_.size(),
          context_.n_shared_records()};
}

std::uint64_t pipeline_compiler::bytes(table_id table) const {
  const table_state& of = tables_[table];
  const std::uint64_t besides =
      (of.clauses == nullptr ? 0 : of.clauses->bytes()) + (table == 0 ? joiner_.bytes() : 0);
  if (of.form == nullptr) return besides;
  const auto* exact = as<exact_form>(of.form.get());
  return besides + of.form->bytes() + (exact == nullptr ? 0 : share_of(*exact->store(), table));
}

/// From where the tables before it end up to where it ends, so that nothing is lost in rounding.
std::uint64_t pipeline_compiler::share_of(const shared_store& store, table_id table) const {
  std::uint64_t before = 0, all = 0;
  for (const table_id each : store.tables) {
    if (each < table) before += tables_[each].shape.n_rules();
    all += tables_[each].shape.n_rules();
  }
  const auto up_to = [&](std::uint64_t n_rules) {
    return static_cast<std::uint64_t>(static_cast<double>(store.store->bytes()) *
                                      static_cast<double>(n_rules) / static_cast<double>(all));
  };
  return up_to(before + tables_[table].shape.n_rules()) - up_to(before);
}

const template_choice* pipeline_compiler::choice(table_id table) const {
  return tables_[table].form == nullptr ? nullptr : &tables_[table].keeper.now();
}

}  // namespace coua::pipeline
