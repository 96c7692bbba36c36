// SPDX-License-Identifier: Apache-2.0
//
// What is done at once when it is asked: a function for each kind of request.
#pragma once

#include "ctl/openflow/conversation.h"

namespace coua::openflow {

struct conversation::answerer {
  answerer(conversation& of, const ofp::message& one) : in(of), asked(one) {}

  conversation& in;
  const ofp::message& asked;

  void operator()(const ofp::ask::nothing&) const {}
  void operator()(const ofp::ask::echo&) const { in.send_(ofp::echo_reply(asked)); }
  void operator()(const ofp::ask::features&) const;
  void operator()(const ofp::ask::get_config&) const;
  void operator()(const ofp::ask::set_config& wanted) const;
  void operator()(const ofp::ask::role& wanted) const;
  void operator()(const ofp::ask::get_async&) const;
  void operator()(const ofp::ask::set_async& wanted) const;
  void operator()(const ofp::ask::port_mod& wanted) const;
  void operator()(const ofp::ask::table_mod& wanted) const;
  void operator()(const ofp::ask::packet_out& wanted) const;
  void operator()(const ofp::ask::bundle_control& wanted) const;
  void operator()(ofp::ask::bundle_add& wanted) const;

  // answers_multipart.cc
  void operator()(const ofp::ask::description&) const;
  void operator()(const ofp::ask::rules& which) const;
  void operator()(const ofp::ask::tables&) const;
  void operator()(const ofp::ask::table_features& wanted) const;
  void operator()(const ofp::ask::port_stats& which) const;
  void operator()(const ofp::ask::port_descriptions&) const;
  void operator()(const ofp::ask::group_stats& which) const;
  void operator()(const ofp::ask::group_descriptions&) const;
  void operator()(const ofp::ask::group_features&) const;
  void operator()(const ofp::ask::meter_stats& which) const;
  void operator()(const ofp::ask::meter_configs& which) const;
  void operator()(const ofp::ask::meter_features&) const;
  void operator()(const ofp::ask::queue_stats& which) const;
  void operator()(const ofp::ask::queue_config& which) const;

  // conversation.cc collects them.
  void operator()(const ofp::ask::barrier&) const {}
  void operator()(const pipeline::rule_mod&) const {}
  void operator()(const pipeline::group_mod&) const {}
  void operator()(const pipeline::meter_mod&) const {}

 private:
  ctl::pipeline_control& control() const { return in.bridge_.control; }
  bool is_port(pipeline::port_no number) const;
  ofp::table_facts facts_of(pipeline::table_id table) const;
  /// Errors: ofp_table_features_failed_code.
  tl::expected<void, ofp::refusal> check_features(ofp::message_view wanted) const;
  static ofp::refusal unknown_meter() {
    return ofp::to_refusal({pipeline::of_error::meter_mod_unknown_meter, "", "there is none"});
  }
};

}  // namespace coua::openflow
