// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/executor.h"

#include <algorithm>

#include "pipeline/datapath/field_place.h"
#include "pipeline/model/action.h"

namespace coua::pipeline {

void executor::make_sent_delivery(slot at) noexcept {
  const std::uint32_t number = ++n_numbers_;
  fill_sent(deliveries_[number], at);
  borrowed_[at] = first_[at] = last_[at] = number;
}

void executor::own_frame(slot at) noexcept {
  deliver_sent(at);
  const std::uint32_t borrowed = std::exchange(borrowed_[at], 0);
  if (borrowed == 0) return;
  delivery& earlier = deliveries_[borrowed];
  if (copier_.copy({packets_[at].buffer, owner_[at]}, earlier.copy)) return;
  counts_.add(pipeline_drop::no_buffer);
  ends_differ_ = true;
  // It is taken out of its packet's list, wherever it stands there.
  const unsigned origin = origin_[at];
  std::uint32_t before = 0;
  for (std::uint32_t i = first_[origin]; i != borrowed; i = deliveries_[i].next) before = i;
  (before == 0 ? first_[origin] : deliveries_[before].next) = earlier.next;
  if (last_[origin] == borrowed) last_[origin] = before;
}

delivery* executor::deliver(slot at, delivery::kind to) noexcept {
  deliver_sent(static_cast<slot>(origin_[at]));
  if (borrowed_[at] != 0) own_frame(at);
  if (n_deliveries_ == deliveries_max) [[unlikely]] {
    counts_.add(pipeline_drop::too_many);
    return nullptr;
  }
  ++n_deliveries_;
  const std::uint32_t number = ++n_numbers_;
  borrowed_[at] = number;
  some_borrowed_ = true;
  const unsigned origin = origin_[at];
  (first_[origin] == 0 ? first_[origin] : deliveries_[last_[origin]].next) = number;
  last_[origin] = number;
  // In place, and only what its kind has: it is long.
  delivery& one = deliveries_[number];
  const packet_state& p = packets_[at];
  one.in_port = p.in_port;
  one.queue = p.queue;
  one.next = 0;
  one.to = to;
  return &one;
}

void executor::output(slot at, port_no to) noexcept {
  const std::uint8_t there = plan_->ports->states(to);
  if ((there & port_list::sends) == 0) [[unlikely]] {
    return counts_.add(there == 0 ? pipeline_drop::no_port : pipeline_drop::port_forbids);
  }
  if (delivery* one = deliver(at, delivery::kind::port)) one->port = to;
}

void executor::output_by_number(slot at, port_no to) noexcept {
  if (to == packets_[at].in_port) [[unlikely]] {
    return counts_.add(pipeline_drop::own_port);
  }
  output(at, to);
}

void executor::run_output(const work& all, unsigned index) noexcept {
  // All have one code.
  const auto each = [&](auto send) {
    for (unsigned k = 0; k < all.n; ++k) send(all.at[k], all.ops[k][index]);
  };
  switch (all.ops[0][index].code) {
    case op_code::output:
      return each([&](slot at, const op& one) { output_by_number(at, one.number); });
    case op_code::in_port:
      return each([&](slot at, const op&) { output(at, packets_[at].in_port); });
    case op_code::all: return each([&](slot at, const op&) { output_all(at, false); });
    case op_code::flood: return each([&](slot at, const op&) { output_all(at, true); });
    case op_code::controller:
      return each([&](slot at, const op& one) {
        output_controller(at, static_cast<packet_in_reason>(one.which), one.value);
      });
    default: return each([&](slot at, const op&) { (void)deliver(at, delivery::kind::normal); });
  }
}

void executor::run_output_bits(const work& all, unsigned index) noexcept {
  for (unsigned k = 0; k < all.n; ++k) {
    const op& how = all.ops[k][index];
    const field_bits from = to_bits(how.number);
    const std::optional<value128> there = read_field(packets_[all.at[k]], from.which);
    const std::optional<port_no> to =
        there ? port_of_bits(*there >> from.first & ones(from.n_bits)) : std::nullopt;
    if (!to) {
      counts_.add(pipeline_drop::no_port);
      continue;
    }
    op sends = how;
    sends.code = output_code(*to);
    sends.number = *to;
    work one;
    one.n = 1;
    one.at[0] = all.at[k];
    one.ops[0] = &sends;
    run_output(one, 0);
  }
}

void executor::output_all(slot at, bool flood) noexcept {
  for (const port& each : plan_->ports->all()) {
    if (each.number == packets_[at].in_port || (flood && each.no_flood)) continue;
    output(at, each.number);
  }
}

void executor::output_controller(slot at, packet_in_reason reason, std::uint64_t cookie) noexcept {
  const packet_state& p = packets_[at];
  const bool is_miss = reason == packet_in_reason::no_match;
  if (is_miss && (plan_->ports->states(p.in_port) & port_list::no_packet_in) != 0) {
    return counts_.add(pipeline_drop::port_forbids);
  }
  delivery* one = deliver(at, delivery::kind::controller);
  if (one == nullptr) return;
  one->reason = reason;
  one->table = table_[at];
  one->cookie = cookie;
  one->metadata = p.metadata;
  one->tunnel_id = p.tunnel_id;
  std::copy_n(p.reg, n_registers, one->reg.begin());
}

}  // namespace coua::pipeline
