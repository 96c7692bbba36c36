// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/join_tables.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace coua::pipeline {
namespace {

/// To join takes no more of the owner's time than one in so many.
constexpr time_ns owner_share = 20;
constexpr std::size_t entries_min = 256;
constexpr std::size_t kinds_max = 16;  // of pairs, whose records are shared

/// Of the rule that changes; none: it is of something else.
std::optional<table_id> table_of(const change& what) {
  const auto* one = std::get_if<rule_change>(&what);
  if (one == nullptr) return std::nullopt;
  return (one->before != nullptr ? one->before : one->after)->table;
}

}  // namespace

void table_joiner::note(const change_list& changes, time_ns now) {
  if (after_ == never) return;
  bool some_watched = false, some_joined = false;
  for (const change& each : changes) {
    const std::optional<table_id> table = table_of(each);
    if (!table || !watched_[*table]) continue;
    some_watched = true;
    some_joined |= *table == 0 || n_pairs(*table) != 0;
  }
  if (!some_watched) return;
  if (some_joined) end();
  is_due_ = true;
  wait_from(now);
}

void table_joiner::wait_from(time_ns now) {
  not_before_ = now + std::max(after_, took_ * owner_share);
}

void table_joiner::end() {
  if (now_ == nullptr) return;
  // Who loads a later version or plan (acquire) does not find it any more.
  published_.joined.store(nullptr, std::memory_order_relaxed);
  let_go_later(std::exchange(now_, nullptr));
}

void table_joiner::let_go_later(std::shared_ptr<joining> gone) {
  ending_.push_back(gone);
  in_.garbage.emplace_back([this, gone = std::move(gone)] {
    collect(*gone);
    let_go(*gone);
    std::erase(ending_, gone);
  });
}

void table_joiner::let_go(joining& of) {
  for (const counted_pair& each : of.pairs) in_.counts.give_back(each.number, 1);
  for (const record_id each : of.records) in_.retire(each);
}

void table_joiner::make_when_due(time_ns now, const std::function<bool(table_id)>& is_exact) {
  if (!is_due_ || after_ == never || now < not_before_) return;
  is_due_ = false;
  const std::uint64_t begin = now_ns();
  if (!make(is_exact)) is_due_ = true;
  took_ = after_ == 0 ? 0 : now_ns() - begin;
  wait_from(now);  // if there was no room, too
}

bool table_joiner::make(const std::function<bool(table_id)>& is_exact) {
  watched_.reset();
  watched_.set(0);
  if (!may_be_joined(model_)) return true;
  model_.tables()[0].each([this](const rule_table::entry& one) {
    const auto& next = one.rule->instructions.goto_table;
    if (next) watched_.set(*next);
  });
  const std::vector<joined_pair> pairs = pairs_to_join(model_, is_exact);
  const key_layout layout =
      pairs.empty() ? key_layout() : key_layout::of({&pairs.front().match, 1});
  if (pairs.empty() || !exact_store::is_short(layout)) {
    end();
    return true;
  }
  if (!in_.can_make(pairs.size())) return false;
  auto store = exact_store::create(layout, std::max(entries_min, 2 * pairs.size()), n_workers_);
  if (!store) return false;
  auto made = std::make_shared<joining>();
  made->joined.entries = std::move(*store);
  made->joined.from = published_.version.load(std::memory_order_relaxed);
  for (const joined_pair& each : pairs) {
    if (add(*made, each)) continue;
    let_go(*made);  // no batch has seen it, but records go as all do
    return false;
  }
  for (std::size_t i = 0; i < model_.tables().size(); ++i)
    made->n_matched_before[i] = model_.tables()[i].matches;
  published_.joined.store(&made->joined, std::memory_order_release);  // with executor::begin
  if (now_ != nullptr) let_go_later(std::move(now_));  // other rules are joined now, perhaps
  now_ = std::move(made);
  return true;
}

/// What many pairs do is few things, mostly.
result<record_id> table_joiner::record_of(joining& to, const rule& does, std::uint32_t number) {
  const auto same = std::find_if(to.kinds.begin(), to.kinds.end(), [&does](const auto& each) {
    return each.first == does.instructions;
  });
  if (same != to.kinds.end()) return same->second;
  const result<record_id> made = in_.make_for_ever(does, number);
  if (!made) return made;
  to.records.push_back(*made);
  if (to.kinds.size() < kinds_max) to.kinds.emplace_back(does.instructions, *made);
  return made;
}

bool table_joiner::add(joining& to, const joined_pair& one) {
  const auto key = to.joined.entries->key_of(one.match, 0);
  COUA_CHECK(key.has_value());  // all are of one kind
  const std::uint32_t number = in_.counts.take(1);
  if (number == count_book::none) return false;
  rule does = *one.then;
  does.instructions = join(one.first->instructions, one.then->instructions);
  const result<record_id> record = record_of(to, does, number);
  if (!record) {
    in_.counts.give_back(number, 1);
    return false;
  }
  const auto place = static_cast<std::uint32_t>(to.pairs.size());
  if (to.of_rule[one.first->id].empty()) ++to.n_first;
  for (const rule* each : {one.first, one.then}) to.of_rule[each->id].push_back(place);
  to.pairs.push_back(
      {number, {in_.number_of(one.first->id), in_.number_of(one.then->id)}, one.then->table});
  for (const table_id each : {table_id{0}, one.then->table}) ++to.n_pairs[each];
  return to.joined.entries->put(*key, rule_head{*record, number}.word());
}

void table_joiner::collect(joining& of, const counted_pair& one) {
  const traffic more = in_.counts.news(one.number);
  if (more.packets == 0) return;
  // A rule that goes keeps its number until its pairs have gone: end() comes first.
  for (const std::uint32_t each : one.rules) in_.owe(each, more);
  of_tables_[one.next] += more.packets;
  of.n_met[one.next] += more.packets;
  of.n_met[0] += more.packets;
}

void table_joiner::collect(joining& of) {
  for (const counted_pair& each : of.pairs) collect(of, each);
}

void table_joiner::collect() {
  if (now_ != nullptr) collect(*now_);
  for (const auto& each : ending_) collect(*each);
}

void table_joiner::collect_of(rule_id one) {
  const auto from = [this, one](joining& of) {
    const auto at = of.of_rule.find(one);
    if (at == of.of_rule.end()) return;
    for (const std::uint32_t place : at->second) collect(of, of.pairs[place]);
  };
  if (now_ != nullptr) from(*now_);
  for (const auto& each : ending_) from(*each);
}

std::uint64_t table_joiner::bytes() const {
  if (now_ == nullptr) return 0;
  return now_->joined.entries->bytes() + now_->records.size() * sizeof(action_record);
}

double table_joiner::share_met(table_id id) const {
  if (n_pairs(id) == 0) return 0;
  const rule_table& table = model_.tables()[id];
  const std::uint64_t met = now_->n_met[id];
  const std::uint64_t matched = table.matches - now_->n_matched_before[id];
  if (matched == 0) {
    const std::size_t n_rules = id == 0 ? now_->n_first : now_->n_pairs[id];
    return std::min(1.0, static_cast<double>(n_rules) / static_cast<double>(table.size()));
  }
  return std::min(1.0, static_cast<double>(met) / static_cast<double>(matched));
}

}  // namespace coua::pipeline
