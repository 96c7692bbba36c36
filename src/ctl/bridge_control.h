// SPDX-License-Identifier: Apache-2.0
//
// The pipeline of a running switch, as the management API sees it.
#pragma once

#include "ctl/pipeline_control.h"
#include "dp/pipeline/pipeline_owner.h"

namespace coua::ctl {

class bridge_control final : public pipeline_control {
 public:
  /// Both must outlive it.
  bridge_control(const dp::l2_switch& sw, dp::pipeline_owner& owner) : switch_(sw), owner_(owner) {}

  pipeline::of_result<pipeline::change_list> apply(
      std::span<const pipeline::operation> bundle) override;
  pipeline::of_result<void> packet_out(const pipeline::packet& one,
                                       const pipeline::action_list& actions) override;
  void dump_rules(const ofp::rule_filter& filter,
                  const std::function<bool(std::span<const rule_record>)>& take) override;
  std::vector<group_record> groups() override;
  std::vector<meter_record> meters() override;
  pipeline_status status() override;
  std::vector<table_explanation> explain() override;
  trace_answer trace(const pipeline::packet& one) override;
  pipeline::time_ns now() override { return dp::pipeline_owner::now(); }
  ofp::port_names port_names() override;

 private:
  std::vector<std::string> ask_l2(const pipeline::packet& one, pipeline::verdict& result) const;

  const dp::l2_switch& switch_;
  dp::pipeline_owner& owner_;
};

}  // namespace coua::ctl
