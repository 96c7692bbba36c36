// SPDX-License-Identifier: Apache-2.0
#include "dp/pipeline/pipeline_owner.h"

#include <algorithm>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/hash_key.h"
#include "base/log.h"

namespace coua::dp {
namespace {

namespace of = pipeline;

// How often rules whose time has come are looked for, by what was counted of their packets: a tenth
// of the unit of time-outs, and not for more than a twentieth of the thread's time, whatever the
// number of rules.
constexpr of::time_ns expiry_ns = 100'000'000;
constexpr of::time_ns expiry_share = 20;

of::operation all_to_normal() {
  of::rule_mod only;
  only.priority = 0;
  only.instructions.apply = of::action_list{of::act::output{of::port_normal}};
  return only;
}

}  // namespace

result<std::unique_ptr<pipeline_owner>> pipeline_owner::create(const pipeline_config& config,
                                                               unsigned n_workers) {
  of::bridge_params params;
  params.rules_max = config.rules_max;
  const auto key = draw_hash_key();
  if (!key) return tl::unexpected(key.error());
  params.key = *key;
  auto bridge = of::running_bridge::create(params, {.n_workers = n_workers + 1});  // packet-outs

  if (!bridge) return tl::unexpected(std::move(bridge.error()));
  if (config.start == first_rules::normal) {
    if (auto done = (*bridge)->apply(all_to_normal(), now()); !done) {
      return fail(errc::no_memory, "pipeline", done.error().message());
    }
  }
  return std::unique_ptr<pipeline_owner>(new pipeline_owner(std::move(*bridge), n_workers));
}

pipeline_owner::~pipeline_owner() = default;

result<std::unique_ptr<of::executor>> pipeline_owner::make_executor(unsigned worker,
                                                                    of::packet_copier& copier) {
  of::pipeline_compiler& compiler = bridge_->compiler();
  return of::executor::create(compiler.published(), worker, compiler.counts(worker), copier);
}

result<void> pipeline_owner::start(const std::string& thread, worker_ends from,
                                   packet_out_ring& packet_outs, std::span<const unsigned> cpus) {
  of::pipeline_compiler& compiler = bridge_->compiler();
  auto sender = packet_out_sender::create(compiler.published(), n_workers_,
                                          compiler.counts(n_workers_), packet_outs);
  if (!sender) return tl::unexpected(std::move(sender.error()));
  packet_outs_ = std::move(*sender);
  from_ = std::move(from);
  auto owner = owner_thread::create(thread, [this] { return housekeeping(); });
  if (!owner) return tl::unexpected(std::move(owner.error()));
  thread_ = std::move(*owner);
  return thread_->call([&] { return pin_this_thread(cpus); });
}

of::time_ns pipeline_owner::now() { return now_ns(); }

of::of_result<of::change_list> pipeline_owner::apply(std::span<const of::operation> bundle) {
  return thread_->call([&] { return apply_here(bundle); });
}

of::of_result<of::change_list> pipeline_owner::apply_here(std::span<const of::operation> bundle) {
  auto done = bridge_->apply(bundle, now());
  if (done) tell(*done);
  return done;
}

void pipeline_owner::tell(const of::change_list& done) const {
  if (change_sink_ && !done.empty()) change_sink_(done);
}

void pipeline_owner::set_change_sink(change_sink sink) {
  thread_->call([&] { change_sink_ = std::move(sink); });
}

std::vector<of::of_result<of::change_list>> pipeline_owner::apply_each(
    std::span<const of::operation> operations) {
  return thread_->call([&] {
    std::vector<of::of_result<of::change_list>> made;
    made.reserve(operations.size());
    for (const of::operation& one : operations) made.push_back(apply_here({&one, 1}));
    return made;
  });
}

bool pipeline_owner::is_quick(std::span<const of::operation> operations) {
  return thread_->call([&] { return bridge_->is_quick(operations); });
}

void pipeline_owner::settle() { settled_.wait(); }

bool pipeline_owner::settle_within(std::chrono::microseconds most) {
  return settled_.wait_for(most);
}

std::vector<pipeline_owner::known_port> pipeline_owner::ports() {
  return thread_->call([&] {
    std::vector<known_port> made;
    for (const auto& [number, one] : bridge_->model().ports()) {
      made.push_back({one, ports_added_[number]});
    }
    return made;
  });
}

of::of_result<void> pipeline_owner::change_port(of::port_no number,
                                                const std::function<void(of::port&)>& change) {
  return thread_->call([&]() -> of::of_result<void> {
    const of::port* found = bridge_->model().find_port(number);
    if (found == nullptr) {
      return of::refuse(of::of_error::port_mod_bad_port, "port " + std::to_string(number),
                        "there is no such port");
    }
    of::port changed = *found;
    change(changed);
    const of::operation asked = of::port_mod{of::mod_command::modify, changed};
    if (auto done = apply_here({&asked, 1}); !done) return tl::unexpected(done.error());
    return {};
  });
}

of::of_result<void> pipeline_owner::send(const packet_out& one) {
  return thread_->call([&]() -> of::of_result<void> {
    const of::bridge& model = bridge_->model();
    if (one.in_port != of::port_controller && model.find_port(one.in_port) == nullptr) {
      return of::refuse(of::of_error::bad_request_bad_port, "in_port=" + of::port_name(one.in_port),
                        "there is no such port");
    }
    if (auto good = model.check_packet_out(one.actions); !good) return good;
    const of::stored_ops ops = bridge_->compiler().compile_packet_out(one.actions);
    auto sent = packet_outs_->send(one, ops.list(), now(), sink_);
    std::vector<of::operation> rules;
    for (const of::learned_values& each : packet_outs_->learned()) add_learned(each, rules);
    for (of::operation& each : rules) {
      std::get<of::rule_mod>(each).takes_along = false;  // no rule learned it
    }
    learn(rules);
    return sent;
  });
}

void pipeline_owner::set_sink(packet_in_sink sink) {
  thread_->call([&] { sink_ = std::move(sink); });
}

std::vector<counter> pipeline_owner::drops() const {
  std::vector<counter> made;
  for (std::size_t i = 0; i < of::n_pipeline_drops; ++i) {
    const auto why = static_cast<of::pipeline_drop>(i);
    std::uint64_t sum = 0;
    for (unsigned w = 0; w <= n_workers_; ++w) sum += bridge_->compiler().counts(w).drops(why);
    made.push_back({of::to_string(why), sum});
  }
  for (counter& each : packet_outs_->drops()) made.push_back(std::move(each));
  std::uint64_t n_full = 0;
  for (const learn_out* each : from_.learned) n_full += each->n_full();
  made.push_back({"learn_full", n_full});
  for (const auto& [name, n] : {std::pair("learn_gone", &n_learn_gone_),
                                {"learn_no_match", &n_learn_no_match_},
                                {"learn_refused", &n_learn_refused_}}) {
    made.push_back({name, n->load(std::memory_order_relaxed)});
  }
  return made;
}

of::burst_times pipeline_owner::times() const {
  of::burst_times sum;
  for (unsigned w = 0; w < n_workers_; ++w) sum += bridge_->compiler().counts(w).times();
  return sum;
}

void pipeline_owner::set_port(const of::port& one) {
  thread_->post([this, one] {
    of::port wanted = one;
    const of::port* before = bridge_->model().find_port(one.number);
    if (before != nullptr) {
      wanted = *before;
      wanted.live = one.live;
    } else {
      ports_added_[one.number] = now();
    }
    const of::operation asked =
        of::port_mod{before != nullptr ? of::mod_command::modify : of::mod_command::add, wanted};
    if (auto done = apply_here({&asked, 1}); !done) {
      log_error("pipeline: port %u: %s", one.number, done.error().message().c_str());
    }
  });
}

void pipeline_owner::remove_port(of::port_no number) {
  thread_->post([this, number] {
    of::port_mod gone{of::mod_command::remove, {}};
    gone.what.number = number;
    const of::operation asked = gone;
    if (auto done = apply_here({&asked, 1}); !done) {
      log_error("pipeline: port %u: %s", number, done.error().message().c_str());
    }
  });
}

void pipeline_owner::take_learned() {
  std::vector<of::operation> rules;
  for (learn_out* each : from_.learned) {
    each->drain([&](const of::learned_values& one) { add_learned(one, rules); });
  }
  learn(rules);
}

void pipeline_owner::add_learned(const of::learned_values& one, std::vector<of::operation>& to) {
  auto asked = bridge_->to_operation(one);
  if (asked) {
    to.push_back(std::move(*asked));
    return;
  }
  const bool is_gone = asked.error() == of::running_bridge::not_learned::gone;
  (is_gone ? n_learn_gone_ : n_learn_no_match_).fetch_add(1, std::memory_order_relaxed);
}

/// As one change, and where that is refused one by one: a rule for which there is no room takes no
/// other one with it.
void pipeline_owner::learn(std::span<const of::operation> rules) {
  if (rules.empty() || apply_here(rules)) return;
  for (const of::operation& each : rules) {
    if (!apply_here({&each, 1})) n_learn_refused_.fetch_add(1, std::memory_order_relaxed);
  }
}

bool pipeline_owner::housekeeping() {
  take_learned();
  for (packet_in_ring* each : from_.packet_ins) drain_packets(*each, sink_);
  const of::time_ns begin = now();
  if (begin >= next_expiry_) {
    bridge_->collect(begin);
    tell(bridge_->expire(begin));
    const of::time_ns end = now();
    next_expiry_ = end + std::max(expiry_ns, (end - begin) * expiry_share);
    bridge_->tend(end);  // what it takes is limited there
  }
  (void)bridge_->reclaim();
  return false;
}

}  // namespace coua::dp
