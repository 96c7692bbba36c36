// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "pipeline/datapath/executor.h"

namespace coua::pipeline {

void executor::run_calling(const action_shape& shape, unsigned first, work& all) noexcept {
  const auto n_steps = static_cast<unsigned>(shape.steps.size());
  const then after = shape.goes_on ? then::more : then::nothing;
  for (unsigned i = first; i < n_steps && all.n != 0; ++i) {
    if (shape.steps[i].code != op_code::resubmit) {
      run_op(all, i, i + 1 == n_steps ? after : then::more);
      continue;
    }
    for (unsigned k = 0; k < all.n; ++k) {
      (void)begin_call(
          all.at[k], all.ops[k][i],
          {&shape, all.ops[k], static_cast<std::uint16_t>(i + 1), all.next_of(k), 0, false});
    }
    return;
  }
  if (shape.goes_on) {
    send_on(all);
  } else {
    end_of_pipeline(all);
  }
}

bool executor::begin_call(slot at, const op& how, call_frame back) noexcept {
  if (!some_called_) {
    some_called_ = true;
    std::fill_n(n_resubmits_, n_, std::uint16_t{0});
  }
  if (call_depth_[at] == resubmit_depth_max || n_calls_[at] == resubmit_nesting_max ||
      n_resubmits_[origin_[at]] == resubmits_max) {
    counts_.add(pipeline_drop::resubmits);
    return false;
  }
  const table_id to = how.which == no_table ? table_[at] : how.which;
  back.table = table_[at];
  back.deepens = to <= table_[at];
  calls_[std::size_t{at} * resubmit_nesting_max + n_calls_[at]++] = back;
  call_depth_[at] = static_cast<std::uint8_t>(call_depth_[at] + back.deepens);
  ++n_resubmits_[origin_[at]];
  table_[at] = to;
  if (how.number != port_in_port) {
    is_special_ = true;
    is_disguised_[at] = true;
    in_ports_[at] = packets_[at].in_port;
    packets_[at].in_port = how.number;
    is_one_port_ = false;
  }
  wait_at_table(at);
  return true;
}

executor::call_frame executor::end_call(slot at) noexcept {
  const call_frame back = calls_[std::size_t{at} * resubmit_nesting_max + --n_calls_[at]];
  call_depth_[at] = static_cast<std::uint8_t>(call_depth_[at] - back.deepens);
  table_[at] = back.table;
  return back;
}

void executor::show_in_ports(const packet_list& list) noexcept {
  for (unsigned k = 0; k < list.n; ++k) {
    const slot at = list.at[k];
    if (!is_disguised_[at]) continue;
    packets_[at].in_port = in_ports_[at];
    is_disguised_[at] = false;
  }
}

void executor::resume_returned() noexcept {
  call_frame frames[burst_max];
  slot at[burst_max];
  unsigned n = 0;
  for (packet_bits some = std::exchange(returned_, 0); some != 0; some &= some - 1) {
    at[n] = static_cast<slot>(std::countr_zero(some));
    frames[n] = end_call(at[n]);
    ++n;
  }
  for (packet_bits left = first_bits(n); left != 0;) {
    const call_frame& first = frames[std::countr_zero(left)];
    work all;
    for (packet_bits some = left; some != 0; some &= some - 1) {
      const int i = std::countr_zero(some);
      if (frames[i].shape != first.shape || frames[i].index != first.index) continue;
      left &= ~(packet_bits{1} << i);
      all.at[all.n] = at[i];
      all.next[all.n] = frames[i].next_table;
      all.next_differs |= all.next[all.n] != all.next[0];
      all.ops[all.n++] = frames[i].ops;
    }
    run_calling(*first.shape, first.index, all);
  }
}

bool executor::run_nested(slot at, const op& how) noexcept {
  const std::uint16_t n_calls = n_calls_[at];
  const std::uint8_t call_depth = call_depth_[at];
  const table_id table = table_[at];
  if (!begin_call(at, how, {})) return false;
  while (step_nested(at)) {
  }
  const bool is_back = n_calls_[at] == n_calls;
  n_calls_[at] = n_calls;
  call_depth_[at] = call_depth;
  table_[at] = table;
  return is_back;
}

/// One table of the packet, or its way back. False: it has come back to run_nested, or ended.
bool executor::step_nested(slot at) noexcept {
  switch (take_alone(at)) {
    case waits::nowhere: return false;
    case waits::at_table: look_up_nested(at); return true;
    case waits::returned: break;
  }
  const call_frame back = end_call(at);
  if (back.shape == nullptr) return false;
  resume_nested(at, back);
  return true;
}

void executor::resume_nested(slot at, const call_frame& back) noexcept {
  work one;
  one.n = 1;
  one.at[0] = at;
  one.next[0] = back.next_table;
  one.ops[0] = back.ops;
  run_calling(*back.shape, back.index, one);
}

void executor::look_up_nested(slot at) noexcept {
  const table_id table = table_[at];
  const packet_list alone(at);
  met_rules found;
  found.clear(1);
  if (const table_stage* stage = plan_->tables[table]) look_up(*stage, alone, found);
  if (is_special_) look_up_specially(table, alone, found);
  execute(alone, found);
}

executor::waits executor::take_alone(slot at) noexcept {
  if (is_copy(at)) {
    COUA_ASSERT(at + 1U == n_slots_);
    return std::exchange(copy_waits_, waits::nowhere);
  }
  const packet_bits bit = packet_bits{1} << at;
  if ((returned_ & bit) != 0) {
    returned_ &= ~bit;
    return waits::returned;
  }
  const table_id batch = plan_->batch_of[table_[at]];
  if ((pending_[batch] & bit) == 0) return waits::nowhere;
  pending_[batch] &= ~bit;
  pending_tables_[batch / 64] &= ~(std::uint64_t{pending_[batch] == 0} << batch % 64);
  return waits::at_table;
}

void executor::wait_alone([[maybe_unused]] slot copy, waits where) noexcept {
  COUA_ASSERT(copy + 1U == n_slots_ && copy_waits_ == waits::nowhere);
  copy_waits_ = where;
}

void executor::wait_at_table(slot at) noexcept {
  if (is_copy(at)) {
    wait_alone(at, waits::at_table);
  } else {
    send_to(packet_bits{1} << at, table_[at]);
  }
}

void executor::go_back(slot at) noexcept {
  if (is_copy(at)) {
    wait_alone(at, waits::returned);
  } else {
    returned_ |= packet_bits{1} << at;
  }
}

void executor::leave_out_returned(work& all) noexcept {
  packet_bits some = 0;
  for (unsigned k = 0; k < all.n; ++k) {
    if (n_calls_[all.at[k]] == 0) continue;
    go_back(all.at[k]);
    some |= packet_bits{1} << k;
  }
  all.leave_out(some);
}

void executor::look_up_specially(table_id table, const packet_list& list,
                                 met_rules& found) noexcept {
  // Clauses lead to other rules only.
  if (has_clauses(table) && plan_->tables[table] != nullptr) {
    look_up_conjunctions(table, list, found);
  }
  show_in_ports(list);
}

void executor::drop_full_sets(work& all) noexcept {
  packet_bits full = 0;
  for (unsigned k = 0; k < all.n; ++k) {
    if (n_sets_[all.at[k]] < set_writes_max) continue;
    counts_.add(pipeline_drop::resubmits);
    full |= packet_bits{1} << k;
  }
  all.leave_out(full);
}

}  // namespace coua::pipeline
