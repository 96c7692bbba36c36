// SPDX-License-Identifier: Apache-2.0
//
// A pipeline without packets, for tests of what stands above it: the model alone, and a clock that
// stands still until it is moved.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
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
    return bridge_.apply(bundle, now_);
  }

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
  pipeline_status status() override {
    const std::lock_guard hold(mutex_);
    pipeline_status made = status_of(bridge_);
    made.drops.push_back({"no_rule", 7});
    return made;
  }
  std::vector<table_explanation> explain() override {
    const std::lock_guard hold(mutex_);
    std::vector<table_explanation> made;
    for (std::size_t i = 0; i < bridge_.tables().size(); ++i) {
      const pipeline::rule_table& table = bridge_.tables()[i];
      if (table.size() == 0) continue;
      made.push_back({static_cast<pipeline::table_id>(i), table.size(), table.lookups,
                      table.matches, choice(table), 0});
    }
    return made;
  }
  trace_answer trace(const pipeline::packet& one) override {
    const std::lock_guard hold(mutex_);
    return trace_through(bridge_, nullptr, one, now_, [&](pipeline::table_id table) {
      return choice(bridge_.tables()[table]).which;
    });
  }
  pipeline::time_ns now() override { return now_; }
  ofp::port_names port_names() override { return names_; }

 private:
  static pipeline::template_choice choice(const pipeline::rule_table& of) {
    pipeline::table_shape shape;
    of.each([&](const pipeline::rule_table::entry& one) { shape.add(*one.rule); });
    return pipeline::choose_template(shape);
  }

  std::mutex mutex_;
  pipeline::bridge bridge_;
  ofp::port_names names_;
  std::atomic<pipeline::time_ns> now_{0};
  std::vector<pipeline::packet> packet_outs_;
  std::function<void()> on_dump_part_;
};

}  // namespace coua::ctl
