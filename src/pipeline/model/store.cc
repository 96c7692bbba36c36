// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/store.h"

#include <algorithm>

namespace coua::pipeline {

std::vector<group_id> groups_of(const rule& one) {
  std::vector<group_id> found;
  for (const std::optional<action_list>* list :
       {&one.instructions.apply, &one.instructions.write}) {
    if (!*list) continue;
    for (const action& each : **list) {
      if (const auto* to = std::get_if<act::group>(&each)) found.push_back(to->id);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

store::rule_entry* store::find_rule(rule_id id) {
  rule_entry* const* at = by_id_.find(id);
  return at == nullptr ? nullptr : *at;
}
group_entry* store::find_group(group_id id) {
  const auto at = groups_.find(id);
  return at == groups_.end() ? nullptr : &at->second;
}
std::vector<group_id> store::groups_above(group_id id) const {
  std::vector<group_id> found;
  for (auto at = above_.lower_bound({id, 0}); at != above_.end() && at->first == id; ++at) {
    found.push_back(at->second);
  }
  return found;
}
meter_entry* store::find_meter(meter_id id) {
  const auto at = meters_.find(id);
  return at == meters_.end() ? nullptr : &at->second;
}

std::vector<store::learned_place> store::take_left_behind() {
  std::vector<learned_place> taken = std::exchange(left_behind_, {});
  std::erase_if(taken, [this](const learned_place& one) { return takers_.contains(one); });
  return taken;
}

void store::count_takers(const rule& one, int by) {
  if (!one.instructions.apply) return;
  for (const action& each : *one.instructions.apply) {
    const auto* how = std::get_if<act::learn>(&each);
    if (how == nullptr || !how->takes_along) continue;
    const learned_place there{how->table, how->cookie};
    const auto at = takers_.try_emplace(there, 0).first;
    at->second += static_cast<std::size_t>(by);
    if (at->second != 0) continue;
    left_behind_.push_back(there);
    takers_.erase(at);
  }
}

void store::refer(const rule& from, int by) {
  count_takers(from, by);
  for (const group_id id : groups_of(from)) {
    if (group_entry* to = find_group(id)) to->state.n_rules += static_cast<std::uint32_t>(by);
  }
  if (!from.instructions.meter) return;
  if (meter_entry* to = find_meter(*from.instructions.meter)) {
    to->state.n_rules += static_cast<std::uint32_t>(by);
  }
}

void store::refer(const group& from, int by) {
  for (const group_id id : needs_of(from)) {
    if (group_entry* to = find_group(id)) to->state.n_groups += static_cast<std::uint32_t>(by);
    if (by > 0) {
      above_.emplace(id, from.id);
    } else {
      above_.erase({id, from.id});
    }
  }
}

void store::set_due(rule_entry& one) {
  if (one.due != 0) due_.erase({one.due, one.rule->id});
  one.due = expires_at(*one.rule, one.state);
  if (one.due != 0) due_.insert({one.due, one.rule->id});
}

store::rule_entry* store::first_due() {
  return due_.empty() ? nullptr : find_rule(due_.begin()->second);
}

void store::link(rule_entry& one) {
  by_id_.insert(one.rule->id, &one);
  refer(*one.rule, 1);
  set_due(one);
}

void store::unlink(rule_entry& one) {
  if (one.due != 0) due_.erase({one.due, one.rule->id});
  refer(*one.rule, -1);
  by_id_.erase(one.rule->id);
}

void store::put_rule(rule_ptr one, const rule_state& state) {
  journal_.push_back(rule_change{nullptr, one, {}, std::nullopt});
  link(tables_[one->table].insert(one, state));
}

void store::swap_rule(rule_entry& at, rule_ptr to, rule_state state, rule_counts counts) {
  if (counts == rule_counts::cleared) state.counted = {};
  journal_.push_back(rule_change{at.rule, to, at.state, std::nullopt, counts});
  refer(*at.rule, -1);
  tables_[at.rule->table].replace(at, std::move(to));
  at.state = state;
  refer(*at.rule, 1);
  set_due(at);
}

void store::drop_rule(rule_entry& gone, removal_reason reason) {
  journal_.push_back(rule_change{gone.rule, nullptr, gone.state, reason});
  unlink(gone);
  tables_[gone.rule->table].erase(gone);
}

void store::restart(rule_entry& one, time_ns now) {
  restarted_.emplace_back(one.rule->id, one.state.learned);
  one.state.learned = now;
  set_due(one);
}

void store::put_group(group_ptr one, const group_state& state) {
  group_entry& at = groups_[one->id];
  journal_.push_back(group_change{at.group, one, at.state});
  if (at.group != nullptr) refer(*at.group, -1);
  at = {std::move(one), state};
  refer(*at.group, 1);
}

void store::drop_group(group_id gone) {
  const auto at = groups_.find(gone);
  journal_.push_back(group_change{at->second.group, nullptr, at->second.state});
  refer(*at->second.group, -1);
  groups_.erase(at);
}

void store::put_meter(meter_ptr one, const meter_state& state) {
  meter_entry& at = meters_[one->id];
  journal_.push_back(meter_change{at.meter, one, at.state});
  at = {std::move(one), state};
}

void store::drop_meter(meter_id gone) {
  const auto at = meters_.find(gone);
  journal_.push_back(meter_change{at->second.meter, nullptr, at->second.state});
  meters_.erase(at);
}

void store::put_port(const port& one) {
  const auto [at, fresh] = ports_.try_emplace(one.number, one);
  journal_.push_back(port_change{fresh ? std::nullopt : std::optional(at->second), one});
  at->second = one;
}

void store::drop_port(port_no gone) {
  const auto at = ports_.find(gone);
  journal_.push_back(port_change{at->second, std::nullopt});
  ports_.erase(at);
}

void store::undo() {
  for (auto at = journal_.rbegin(); at != journal_.rend(); ++at) {
    std::visit([this](const auto& done) { undo_one(done); }, *at);
  }
  for (rule_table& each : tables_) each.restore_order();
  journal_.clear();
  // After the journal, whose states may be those of after a restart. One that came since the last
  // commit is not there.
  for (auto at = restarted_.rbegin(); at != restarted_.rend(); ++at) {
    rule_entry* one = find_rule(at->first);
    if (one == nullptr) continue;
    one->state.learned = at->second;
    set_due(*one);
  }
  restarted_.clear();
  left_behind_.clear();
}

void store::undo_one(const rule_change& done) {
  const rule& any = done.before != nullptr ? *done.before : *done.after;
  if (done.after != nullptr) {
    rule_entry& added = *find_rule(done.after->id);
    unlink(added);
    tables_[any.table].erase(added);
  }
  if (done.before != nullptr) link(tables_[any.table].insert(done.before, done.state_before));
}

void store::undo_one(const group_change& done) {
  if (done.after != nullptr) {
    refer(*done.after, -1);
    groups_.erase(done.after->id);
  }
  if (done.before != nullptr) {
    groups_[done.before->id] = {done.before, done.state_before};
    refer(*done.before, 1);
  }
}

void store::undo_one(const meter_change& done) {
  if (done.before == nullptr) {
    meters_.erase(done.after->id);
  } else {
    meters_[done.before->id] = {done.before, done.state_before};
  }
}

void store::undo_one(const port_change& done) {
  if (done.before) {
    ports_[done.before->number] = *done.before;
  } else {
    ports_.erase(done.after->number);
  }
}

}  // namespace coua::pipeline
