// SPDX-License-Identifier: Apache-2.0
//
// The pipeline of a bridge of a running switch, as the management API sees it.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ctl/pipeline_control.h"
#include "ctl/running_config.h"
#include "dp/pipeline/pipeline_owner.h"
#include "pipeline/estimate/outline_of.h"

namespace coua::ctl {

class bridge_control final : public pipeline_control {
 public:
  /// All must outlive it. `owner` is that of the bridge of this name.
  bridge_control(dp::l2_switch& sw, std::string bridge, dp::pipeline_owner& owner,
                 running_config& running)
      : switch_(sw),
        bridge_(std::move(bridge)),
        owner_(owner),
        running_(running),
        explained_at_(dp::pipeline_owner::now()) {}

  /// While it is on, nobody who changes the configuration is waited for, and ports stay as they
  /// are: who removes the bridge waits for those who use this.
  void set_leaving(bool on) { leaving_ = on; }

  pipeline::of_result<pipeline::change_list> apply(
      std::span<const pipeline::operation> bundle) override;
  std::vector<pipeline::of_result<pipeline::change_list>> apply_each(
      std::span<const pipeline::operation> operations) override;
  void settle() override { owner_.settle(); }
  bool settle_within(std::chrono::microseconds most) override { return owner_.settle_within(most); }
  bool is_quick(std::span<const pipeline::operation> operations) override {
    return owner_.is_quick(operations);
  }
  bool try_turn() override { return owner_.try_turn(); }
  void end_turn() override { owner_.end_turn(); }
  pipeline::of_result<void> packet_out(const pipeline::packet& one,
                                       const pipeline::action_list& actions) override;
  void dump_rules(const ofp::rule_filter& filter,
                  const std::function<bool(std::span<const rule_record>)>& take) override;
  std::vector<group_record> groups() override;
  std::vector<meter_record> meters() override;
  void dump_groups(pipeline::group_id first,
                   const std::function<bool(std::span<const group_record>)>& take) override;
  void dump_meters(pipeline::meter_id first,
                   const std::function<bool(std::span<const meter_record>)>& take) override;
  pipeline_status status() override;
  bridge_explanation explain() override;
  trace_answer trace(const pipeline::packet& one) override;
  pipeline::time_ns now() override { return dp::pipeline_owner::now(); }
  ofp::port_names port_names() override;
  std::vector<ofp::port_facts> ports() override;
  pipeline::of_result<void> set_port_config(pipeline::port_no number, std::uint32_t config,
                                            std::uint32_t mask) override;
  void listen(bridge_events to) override;
  void set_standalone(bool on) override {
    standalone_ = on;
    switch_.set_standalone(bridge_, on);
  }
  unsigned n_tables() override;
  std::uint64_t rules_max() override;

 private:
  /// Of a port's link, and the switch's use of it.
  pipeline::of_result<void> set_enabled(pipeline::port_no number, bool enabled);
  std::vector<dp::port_status> ports_of_bridge() const;
  trace_answer trace_rules(const pipeline::packet& one,
                           const std::vector<dp::port_status>& ports) const;
  std::vector<std::string> ask_l2(const pipeline::packet& one,
                                  const std::vector<dp::port_status>& ports,
                                  trace_answer& to) const;

  void add_measured(bridge_explanation& to);

  dp::l2_switch& switch_;
  const std::string bridge_;
  dp::pipeline_owner& owner_;
  running_config& running_;
  std::atomic<bool> leaving_{false};
  std::atomic<bool> standalone_{false};
  pipeline::met_until met_;  // at the last explanation; the owner's thread has it
  std::mutex mutex_;         // of what follows: what the last explanation had
  pipeline::burst_times explained_{};
  pipeline::time_ns explained_at_;
  bool is_explained_ = false;
};

}  // namespace coua::ctl
