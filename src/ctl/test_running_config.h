// SPDX-License-Identifier: Apache-2.0
//
// A configuration that runs, on a switch in memory that can refuse any call.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "ctl/fake_bridges.h"
#include "ctl/fake_pipeline.h"
#include "ctl/fake_switch.h"
#include "ctl/running_config.h"
#include "dp/pipeline/port_numbers.h"

namespace coua::ctl {

/// Refuses the n-th call that changes something, and no other.
class refusing_switch : public fake_switch {
 public:
  void refuse_after(int calls) { left_ = calls; }
  bool refused() const { return left_ < 0; }
  /// Every call that changes something takes that long: others have time to come between.
  void take(std::chrono::microseconds time) { time_ = time; }

  /// Called before a port comes.
  std::function<void()> before_port;

  result<unsigned> add_port(const dp::port_config& port) override {
    if (before_port) before_port();
    if (refuses()) return no("port " + port.name);
    return fake_switch::add_port(port);
  }
  result<void> remove_port(const std::string& name) override {
    if (refuses()) return no("port " + name);
    return fake_switch::remove_port(name);
  }
  result<void> update_port(const dp::port_config& port) override {
    if (refuses()) return no("port " + port.name);
    return fake_switch::update_port(port);
  }
  result<void> add_bridge(const dp::bridge_config& bridge) override {
    if (refuses()) return no("bridge " + bridge.name);
    return fake_switch::add_bridge(bridge);
  }
  result<void> remove_bridge(const std::string& name) override {
    if (refuses()) return no("bridge " + name);
    return fake_switch::remove_bridge(name);
  }
  result<void> set_ageing(unsigned seconds) override {
    if (refuses()) return no("FIB");
    return fake_switch::set_ageing(seconds);
  }
  result<std::uint64_t> fib_insert(std::span<const dp::fib_entry> entries) override {
    if (!refuses()) return fake_switch::fib_insert(entries);
    // Some of them are stored all the same, as by a table that becomes full.
    static_cast<void>(fake_switch::fib_insert(entries.first(entries.size() / 2)));
    return no("FIB");
  }
  result<void> fib_erase(const std::string& bridge, std::uint16_t vlan,
                         std::uint64_t mac) override {
    if (refuses()) return no("FIB");
    return fake_switch::fib_erase(bridge, vlan, mac);
  }

 private:
  bool refuses() {
    if (time_.count() > 0) std::this_thread::sleep_for(time_);
    return left_ >= 0 && left_-- == 0;
  }
  static tl::unexpected<error> no(std::string where) {
    return fail(errc::io, std::move(where), "the driver refuses");
  }
  int left_ = -1;
  std::chrono::microseconds time_{};
};

inline config file(const std::string& text) {
  const auto out = parse_config(text, "f");
  if (!out) ADD_FAILURE() << to_string(out.error().at(0), "f");
  return out ? *out : config();
}

/// What it prints is a file, and says nothing new.
inline bool comes_back(running_config& running) {
  const auto text = running.print(config_format::yaml);
  if (!text) return false;
  const auto again = parse_config(*text, "saved");
  if (!again) return false;
  const auto done = running.apply(*again);
  return done && done->empty();
}

/// Like what runs now, whatever the order.
inline bool runs(running_config& running, const config& wanted) {
  const auto now = running.now();
  return now && !compare(*now, wanted).any();
}

class running_config_of_a_switch : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(running_.start_bridges(file(""))); }
  void TearDown() override { set_log_level(log_level::info); }
  refusing_switch sw_;
  running_bridges bridges_{sw_};
  fake_bridges fakes_{bridges_};
  running_config running_{sw_, bridges_, file("fib: {ageing_s: 300}")};
};

/// Knows the ports of a switch by their names, and refuses when that would.
class switch_pipeline : public fake_pipeline {
 public:
  explicit switch_pipeline(refusing_switch& sw, std::string bridge = "br0")
      : switch_(sw), bridge_(std::move(bridge)) {}
  ofp::port_names port_names() override {
    ofp::port_names made;
    for (const dp::port_status& each : switch_.ports())
      if (each.config.bridge == bridge_)
        made.add(dp::bridge_port(each.number, each.config.local), each.config.name);
    return made;
  }
  pipeline::of_result<pipeline::change_list> apply(
      std::span<const pipeline::operation> bundle) override {
    if (refuses_) return pipeline::refuse(pipeline::of_error::flow_mod_table_full, "table", "full");
    // Three times, as it is planned; then what takes it back may come.
    if (left_ > 0) {
      left_--;
      return pipeline::refuse(pipeline::of_error::flow_mod_table_full, "table", "full");
    }
    return fake_pipeline::apply(bundle);
  }
  void refuse(bool yes) { refuses_ = yes; }
  void refuse_next(bool yes = true) { left_ = yes ? 3 : 0; }
  bool refused() const { return left_ == 0; }

 private:
  refusing_switch& switch_;
  const std::string bridge_;
  bool refuses_ = false;
  int left_ = 0;
};

}  // namespace coua::ctl
