// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/compile_context.h"

#include <algorithm>

namespace coua::pipeline {
namespace {

tl::unexpected<error> none_left() {
  return fail(errc::no_room, "records", "all are in use: try again when packets have gone on");
}

}  // namespace

result<void> compile_context::number(const rule_ptr& one) {
  const std::uint32_t number = counts.take(1);
  if (number == count_book::none) return fail(errc::no_room, "counters", "all are in use");
  if (number >= rules_.size()) rules_.resize(number + 1);
  rules_[number] = one;
  numbers_.insert(one->id, number);
  records_.rule_of(number) = static_cast<std::uint32_t>(one->id);
  return {};
}

void compile_context::forget(rule_id gone) {
  const std::uint32_t number = number_of(gone);
  rules_[number] = nullptr;
  owed_.erase(number);
  counts.give_back(number, 1);
  numbers_.erase(gone);
}

result<void> compile_context::check_reserve() const {
  return n_left() >= n_reserved_ ? result<void>{} : none_left();
}

result<record_id> compile_context::take() {
  if (n_left() <= (recovering ? 0 : n_reserved_)) return none_left();
  if (!free_.empty()) {
    const record_id id = free_.back();
    free_.pop_back();
    return id;
  }
  if (held_.empty()) held_.emplace_back();  // 0 is no record
  held_.emplace_back();
  return static_cast<record_id>(held_.size() - 1);
}

result<record_id> compile_context::make(const rule& of, record_id previous) {
  return make(of, making, previous, number_of(of.id));
}

result<record_id> compile_context::make_for_ever(const rule& of, std::uint32_t counters) {
  return make(of, 0, 0, counters);
}

result<record_id> compile_context::make(const rule& of, version_no from, record_id previous,
                                        std::uint32_t counters) {
  const result<record_id> id = take();
  if (!id) return id;
  compiled_rule compiled = actions.compile(of);
  action_record& record = records_[*id];
  record.from = from;
  record.previous = previous;
  record.counters = counters;
  record.shape = compiled.shape;
  record.traits = {compiled.next_table, of.instructions.meter.has_value(), of.priority};
  record.rule = static_cast<std::uint32_t>(of.id);
  if (compiled.shared != nullptr) {
    record.shared = compiled.shared->ops.data();
  } else {
    std::copy(compiled.own.begin(), compiled.own.end(), record.own);
  }
  held_[*id] = std::move(compiled.shared);
  return id;
}

result<record_id> compile_context::make_gone(record_id previous) {
  const result<record_id> id = take();
  if (!id) return id;
  action_record& record = records_[*id];
  record.from = making;
  record.previous = previous;
  record.counters = 0;
  record.shape = nullptr;
  record.traits = {};
  record.rule = 0;
  return id;
}

rule_ptr compile_context::rule_of(rule_head head) const {
  const action_record& record = records_[head.record];
  if (head.record == 0 || record.shape == nullptr) return nullptr;
  return rules_[record.is_shared() ? head.counters : record.counters];
}

bool compile_context::is_of(rule_head head, rule_id one) const {
  const rule_ptr of = rule_of(head);
  return of != nullptr && of->id == one;
}

result<record_id> compile_context::copy(record_id of) {
  const result<record_id> id = take();
  if (!id) return id;
  action_record& made = records_[*id];
  made = records_[of];
  made.from = 0;
  made.previous = 0;
  actions.hold(made.shape);
  held_[*id] = held_[of];
  return id;
}

record_id compile_context::join_shared(record_id one) {
  const shared_records::effect what(records_[one]);
  if (const record_id there = shared_.join(what); there != 0) return there;
  if (!shared_.is_worth_it(what, records_[one].counters)) return 0;
  const result<record_id> made = copy(one);
  if (!made) return 0;
  records_[*made].counters = action_record::shared_counters;
  shared_.add(what, *made);
  return *made;
}

result<record_id> compile_context::give_own(rule_head head) {
  if (head.record == 0 || !records_[head.record].is_shared()) return head.record;
  const result<record_id> made = copy(head.record);
  if (!made) return made;
  records_[*made].counters = head.counters;
  records_[*made].rule = records_.rule_of(head.counters);
  leave_shared(head.record, 1);
  return made;
}

void compile_context::leave_shared(record_id shared, std::size_t n_rules) {
  if (shared_.leave(shared_records::effect(records_[shared]), n_rules)) retire(shared);
}

void compile_context::retire(record_id id) {
  garbage.emplace_back([this, id] {
    held_[id] = nullptr;
    if (records_[id].shape != nullptr) actions.release(records_[id].shape);
    free_.push_back(id);
  });
}

}  // namespace coua::pipeline
