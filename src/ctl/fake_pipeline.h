// SPDX-License-Identifier: Apache-2.0
//
// A pipeline without packets, for tests of what stands above it: the model alone, and a clock that
// stands still until it is moved.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "base/check.h"
#include "ctl/pipeline_control.h"

namespace coua::ctl {

class fake_pipeline : public pipeline_control {
 public:
  fake_pipeline() : bridge_(*pipeline::bridge::create({.n_tables = 16})) {
    for (pipeline::port_no number = 1; number <= 4; ++number) {
      pipeline::port one;
      one.number = number;
      const pipeline::operation add = pipeline::port_mod{pipeline::mod_command::add, one};
      COUA_CHECK(bridge_.apply(add, 0).has_value());
      names_.add(number, "p" + std::to_string(number - 1));
    }
  }

  void set_now(pipeline::time_ns now) { now_ = now; }
  /// As if the port had gone.
  void lose_name_of(pipeline::port_no number) {
    ofp::port_names left;
    for (const auto& [each, name] : names_.all())
      if (each != number) left.add(each, name);
    names_ = left;
  }
  /// As if packets had come to the only rule, group, bucket, meter and band.
  template <class Change>
  void change(Change with_bridge) {
    const std::lock_guard hold(mutex_);
    with_bridge(bridge_);
  }
  std::vector<pipeline::packet> packet_outs() {
    const std::lock_guard hold(mutex_);
    return packet_outs_;
  }
  /// Called before each piece of a dump.
  void on_dump_part(std::function<void()> hook) { on_dump_part_ = std::move(hook); }

  pipeline::of_result<pipeline::change_list> apply(
      std::span<const pipeline::operation> bundle) override {
    const std::lock_guard hold(mutex_);
    auto done = bridge_.apply(bundle, now_);
    if (done && events_.changed) events_.changed(*done);
    return done;
  }
  void listen(bridge_events to) override {
    const std::lock_guard hold(mutex_);
    events_ = std::move(to);
  }
  /// As if a rule had sent it to the controller.
  void punt(const dp::packet_in& one) {
    const std::lock_guard hold(mutex_);
    if (events_.packet_in) events_.packet_in(one);
  }
  /// Removes the rules whose time has come.
  void expire() {
    const std::lock_guard hold(mutex_);
    const pipeline::change_list done = bridge_.expire(now_);
    if (events_.changed) events_.changed(done);
  }

  std::vector<pipeline::of_result<pipeline::change_list>> apply_each(
      std::span<const pipeline::operation> operations) override {
    applied_by = std::this_thread::get_id();
    std::vector<pipeline::of_result<pipeline::change_list>> made;
    for (const pipeline::operation& one : operations) made.push_back(apply({&one, 1}));
    return made;
  }
  void settle() override { ++n_settled_; }
  bool settle_within(std::chrono::microseconds) override {
    if (is_slow) return false;
    ++n_settled_;
    return true;
  }
  bool is_quick(std::span<const pipeline::operation>) override { return !is_long; }
  bool try_turn() override { return !is_busy; }
  void end_turn() override {}
  bool is_busy = false;                     // the owner, with something else
  bool is_long = false;                     // what it is asked for
  std::atomic<bool> is_slow{false};         // a worker
  std::atomic<std::thread::id> applied_by;  // the last of apply_each()
  /// How often it was waited for workers.
  unsigned n_settled() const { return n_settled_; }

  pipeline::of_result<void> packet_out(const pipeline::packet& one,
                                       const pipeline::action_list& actions) override {
    const std::lock_guard hold(mutex_);
    if (auto good = bridge_.check_packet_out(actions); !good) return good;
    packet_outs_.push_back(one);
    return {};
  }

  void dump_rules(const ofp::rule_filter& filter,
                  const std::function<bool(std::span<const rule_record>)>& take) override {
    std::vector<rule_record> all;
    {
      const std::lock_guard hold(mutex_);
      for (const pipeline::rule_table& table : bridge_.tables()) {
        table.each([&](const pipeline::rule_table::entry& one) {
          if (filter.takes(*one.rule)) all.push_back({one.rule, one.state});
        });
      }
    }
    std::span<const rule_record> left(all);
    while (!left.empty()) {
      if (on_dump_part_) on_dump_part_();
      const std::span<const rule_record> part =
          left.subspan(0, std::min<std::size_t>(100, left.size()));
      if (!take(part)) return;
      left = left.subspan(part.size());
    }
  }

  std::vector<group_record> groups() override {
    const std::lock_guard hold(mutex_);
    return list_groups(bridge_);
  }
  std::vector<meter_record> meters() override {
    const std::lock_guard hold(mutex_);
    return list_meters(bridge_);
  }
  void dump_groups(pipeline::group_id first,
                   const std::function<bool(std::span<const group_record>)>& take) override {
    dump_from(first, list_groups, take, [](const group_record& one) { return one.group->id; });
  }
  void dump_meters(pipeline::meter_id first,
                   const std::function<bool(std::span<const meter_record>)>& take) override {
    dump_from(first, list_meters, take, [](const meter_record& one) { return one.meter->id; });
  }
  pipeline_status status() override {
    const std::lock_guard hold(mutex_);
    pipeline_status made = status_of(bridge_);
    made.drops.push_back({"no_rule", 7});
    return made;
  }
  /// Each table costs 30 to 90 cycles, and each packet 20 to 40 besides.
  bridge_explanation explain() override {
    const std::lock_guard hold(mutex_);
    bridge_explanation made;
    pipeline::cycle_range all{20, 40};
    for (std::size_t i = 0; i < bridge_.tables().size(); ++i) {
      const pipeline::rule_table& table = bridge_.tables()[i];
      if (table.size() == 0) continue;
      const pipeline::table_shape shape = shape_of(table);
      made.tables.push_back({static_cast<pipeline::table_id>(i),
                             table.size(),
                             table.lookups,
                             table.matches,
                             pipeline::choose_template(shape),
                             refused(shape),
                             0,
                             0,
                             {},
                             1,
                             {30, 90}});
      all += {30, 90};
    }
    if (standalone_) {
      for (table_explanation& each : made.tables) each.visits = 0;
      made.standalone = true;
      made.not_predicted = standalone_text;
    } else {
      made.predicted = all;
    }
    made.measured = std::exchange(timed_, {});
    made.interrupted = made.measured.bursts / 4;
    made.measured_ns = 2'000'000'000;
    made.measured_since_start = !std::exchange(is_explained_, true);
    made.cycles_hz = 2e9;
    return made;
  }
  /// As if workers had timed some bursts.
  void set_timed(const pipeline::burst_times::sum& bursts) {
    const std::lock_guard hold(mutex_);
    timed_ = bursts;
  }
  trace_answer trace(const pipeline::packet& one) override {
    if (standalone_) return trace_standalone("NORMAL");
    const std::lock_guard hold(mutex_);
    return trace_through(bridge_, nullptr, one, now_, names_, [&](pipeline::table_id table) {
      return pipeline::choose_template(shape_of(bridge_.tables()[table])).which;
    });
  }
  pipeline::time_ns now() override { return now_; }
  ofp::port_names port_names() override { return names_; }
  std::vector<ofp::port_facts> ports() override {
    const std::lock_guard hold(mutex_);
    std::vector<ofp::port_facts> made;
    for (const auto& [number, one] : bridge_.ports()) {
      ofp::port_facts facts;
      facts.number = number;
      facts.name = "p" + std::to_string(number - 1);
      facts.mac = {2, 0, 0, 0, 0, static_cast<std::uint8_t>(number)};
      facts.config = port_flags(one);
      facts.link_up = facts.live = one.live;
      facts.speed_mbps = 10'000;
      facts.added = 0;
      facts.rx = {100 * number, 6400 * number, 1, 0};
      facts.tx = {200 * number, 12800 * number, 0, 0};
      made.push_back(facts);
    }
    return made;
  }
  pipeline::of_result<void> set_port_config(pipeline::port_no number, std::uint32_t config,
                                            std::uint32_t mask) override {
    pipeline::port one;
    {
      const std::lock_guard hold(mutex_);
      const pipeline::port* found = bridge_.find_port(number);
      if (found == nullptr) {
        return pipeline::refuse(pipeline::of_error::port_mod_bad_port, "port", "there is none");
      }
      one = *found;
    }
    set_port_flags(one, config, mask);
    const pipeline::operation change = pipeline::port_mod{pipeline::mod_command::modify, one};
    if (auto done = apply({&change, 1}); !done) return tl::unexpected(done.error());
    return {};
  }
  void set_standalone(bool on) override { standalone_ = on; }
  bool is_standalone() const { return standalone_; }
  unsigned n_tables() override { return 16; }
  std::uint64_t rules_max() override { return 1'000'000; }

 private:
  static pipeline::table_shape shape_of(const pipeline::rule_table& of) {
    pipeline::table_shape shape;
    of.each([&](const pipeline::rule_table::entry& one) { shape.add(*one.rule); });
    return shape;
  }
  static std::vector<pipeline::refused_template> refused(const pipeline::table_shape& shape) {
    using enum pipeline::table_template;
    std::vector<pipeline::refused_template> made;
    for (const pipeline::table_template each : {direct, exact, lpm}) {
      std::string why = pipeline::why_not(each, shape, pipeline::no_mixed_tables);
      if (why.empty()) break;
      made.push_back({each, std::move(why)});
    }
    return made;
  }

  template <class Id, class List, class Take, class IdOf>
  void dump_from(Id first, List list, const Take& take, IdOf id_of) {
    for (;;) {
      const auto part = [&] {
        const std::lock_guard hold(mutex_);
        return list(bridge_, first, 100);
      }();
      if (part.empty()) return;
      if (on_dump_part_) on_dump_part_();
      if (!take(part)) return;
      first = id_of(part.back()) + 1;
    }
  }

  std::mutex mutex_;
  pipeline::bridge bridge_;
  ofp::port_names names_;
  std::atomic<pipeline::time_ns> now_{0};
  std::atomic<unsigned> n_settled_{0};
  std::atomic<bool> standalone_{false};
  std::vector<pipeline::packet> packet_outs_;
  std::function<void()> on_dump_part_;
  bridge_events events_;
  pipeline::burst_times::sum timed_{4, 100, 15'000};
  bool is_explained_ = false;
};

}  // namespace coua::ctl
