// SPDX-License-Identifier: Apache-2.0
#include "ctl/openflow/event_hub.h"

#include <algorithm>

#include "base/cpu.h"

namespace coua::openflow {
namespace {

constexpr bool has(std::uint32_t mask, unsigned reason) { return (mask >> reason & 1) != 0; }

/// The bit of a reason; a meter that went is told as a deletion.
unsigned bit_of(pipeline::removal_reason why) {
  return static_cast<unsigned>(
      why == pipeline::removal_reason::meter_deleted ? pipeline::removal_reason::deleted : why);
}

}  // namespace

event_hub::event_hub(ctl::pipeline_control& control, std::function<void()> wake)
    : control_(control),
      wake_(std::move(wake)),
      ports_(control.ports()),
      thread_([this] { run(); }) {
  control_.listen({[this](const dp::packet_in& one) { note(one); },
                   [this](const pipeline::change_list& done) { note(done); }});
}

event_hub::~event_hub() {
  control_.listen({});
  {
    const std::lock_guard hold(queue_mutex_);
    stop_ = true;
  }
  come_.notify_one();
  thread_.join();
}

void event_hub::add(session& one) {
  const std::lock_guard hold(sessions_mutex_);
  sessions_.insert(&one);
}

void event_hub::remove(session& one) {
  const std::lock_guard hold(sessions_mutex_);
  sessions_.erase(&one);
}

void event_hub::note(const dp::packet_in& one) {
  {
    const std::lock_guard hold(queue_mutex_);
    if (n_packets_ >= waiting_packets_max) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    ++n_packets_;
    queue_.emplace_back(one);
  }
  come_.notify_one();
}

void event_hub::note(const pipeline::change_list& done) {
  std::vector<event> made;
  const pipeline::time_ns now = control_.now();
  for (const pipeline::change& each : done) {
    if (const auto* rule = std::get_if<pipeline::rule_change>(&each)) {
      const bool went = rule->before != nullptr && rule->after == nullptr && rule->reason;
      if (!went || (rule->before->flags & pipeline::rule_send_removed) == 0) continue;
      made.emplace_back(rule_went{rule->before, rule->state_before, *rule->reason, now});
    } else if (const auto* port = std::get_if<pipeline::port_change>(&each)) {
      const auto what = !port->before  ? ofp::port_event::added
                        : !port->after ? ofp::port_event::removed
                                       : ofp::port_event::changed;
      made.emplace_back(port_moved{(port->after ? port->after : port->before)->number, what});
    }
  }
  if (made.empty()) return;
  {
    const std::lock_guard hold(queue_mutex_);
    std::ranges::move(made, std::back_inserter(queue_));
  }
  come_.notify_one();
}

void event_hub::run() {
  name_this_thread("coua-of-events");
  for (;;) {
    std::vector<event> taken;
    {
      std::unique_lock hold(queue_mutex_);
      come_.wait(hold, [this] { return stop_ || !queue_.empty(); });
      if (stop_) return;
      std::swap(taken, queue_);
      n_packets_ = 0;
    }
    for (const event& one : taken) {
      std::visit([this](const auto& what) { tell(what); }, one);
    }
    wake_();
  }
}

void event_hub::tell(const dp::packet_in& one) {
  const ofp::packet_in_facts facts{one.reason,   one.table,     one.in_port, one.cookie,
                                   one.metadata, one.tunnel_id, one.reg,     one.bytes};
  const std::lock_guard hold(sessions_mutex_);
  for (session* each : sessions_) {
    if (!has(each->about().wants().packet_in, static_cast<unsigned>(one.reason))) continue;
    if (!each->tell(ofp::packet_in_message(facts), session::importance::droppable)) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

void event_hub::tell(const rule_went& one) {
  const std::lock_guard hold(sessions_mutex_);
  if (sessions_.empty()) return;
  const ofp::message made = ofp::flow_removed_message(*one.rule, one.last, one.why, one.when);
  for (session* each : sessions_) {
    if (!has(each->about().wants().flow_removed, bit_of(one.why))) continue;
    each->tell(made, session::importance::needed);
  }
}

void event_hub::tell(const port_moved& one) {
  const auto find = [&one](const std::vector<ofp::port_facts>& in) {
    const auto found = std::ranges::find(in, one.number, &ofp::port_facts::number);
    return found == in.end() ? nullptr : &*found;
  };
  std::vector<ofp::port_facts> now = control_.ports();
  // Of a port that went, what was told of it last.
  const ofp::port_facts* first = find(one.what == ofp::port_event::removed ? ports_ : now);
  const ofp::port_facts* second = find(one.what == ofp::port_event::removed ? now : ports_);
  if (first == nullptr && second == nullptr) return;
  const ofp::port_facts& facts = first != nullptr ? *first : *second;
  const ofp::message made = ofp::port_status_message(one.what, facts);
  {
    const std::lock_guard hold(sessions_mutex_);
    for (session* each : sessions_) {
      if (!has(each->about().wants().port_status, static_cast<unsigned>(one.what))) continue;
      each->tell(made, session::importance::needed);
    }
  }
  ports_ = std::move(now);
}

}  // namespace coua::openflow
