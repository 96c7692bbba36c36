// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/executor.h"

namespace coua::pipeline {

void executor::own_frame(slot at) noexcept {
  const std::uint32_t borrowed = std::exchange(slots_[at].borrowed, 0);
  if (borrowed == 0) return;
  delivery& earlier = deliveries_[borrowed];
  if (copier_.copy({packets_[at].buffer, slots_[at].owner}, earlier.what)) return;
  counts_.add(pipeline_drop::no_buffer);
  // It is taken out of its packet's list, wherever it stands there.
  const unsigned origin = slots_[at].origin;
  std::uint32_t before = 0;
  for (std::uint32_t i = first_[origin]; i != borrowed; i = deliveries_[i].next) before = i;
  (before == 0 ? first_[origin] : deliveries_[before].next) = earlier.next;
  if (last_[origin] == borrowed) last_[origin] = before;
}

void executor::deliver(slot at, const delivery& one) noexcept {
  if (slots_[at].borrowed != 0) own_frame(at);
  if (n_deliveries_ == deliveries_max) {
    counts_.add(pipeline_drop::too_many);
    return;
  }
  const std::uint32_t number = ++n_deliveries_;
  deliveries_[number] = one;
  const unsigned origin = slots_[at].origin;
  (first_[origin] == 0 ? first_[origin] : deliveries_[last_[origin]].next) = number;
  last_[origin] = number;
  slots_[at].borrowed = number;
  some_borrowed_ = true;
}

void executor::output(slot at, port_no to) noexcept {
  const port* there = plan_->ports->find(to);
  if (there == nullptr) return counts_.add(pipeline_drop::no_port);
  if (there->no_fwd) return counts_.add(pipeline_drop::port_forbids);
  const packet_state& p = packets_[at];
  delivery one;
  one.to = delivery::kind::port;
  one.port = to;
  one.in_port = p.in_port;
  one.queue = p.queue;
  deliver(at, one);
}

void executor::output_all(slot at, bool flood) noexcept {
  for (const port& each : plan_->ports->all()) {
    if (each.number == packets_[at].in_port || (flood && each.no_flood)) continue;
    output(at, each.number);
  }
}

void executor::output_controller(slot at, packet_in_reason reason, std::uint16_t max_len,
                                 std::uint64_t cookie) noexcept {
  const packet_state& p = packets_[at];
  const port* from = plan_->ports->find(p.in_port);
  if (from != nullptr && from->no_packet_in) return counts_.add(pipeline_drop::port_forbids);
  delivery one;
  one.to = delivery::kind::controller;
  one.reason = reason;
  one.table = slots_[at].table;
  one.max_len = max_len;
  one.in_port = p.in_port;
  one.queue = p.queue;
  one.cookie = cookie;
  one.metadata = p.metadata;
  one.tunnel_id = p.tunnel_id;
  deliver(at, one);
}

}  // namespace coua::pipeline
