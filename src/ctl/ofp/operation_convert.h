// SPDX-License-Identifier: Apache-2.0
//
// What a controller asks (flow_mod, group_mod, meter_mod) between the library's form and ours. The
// library's form comes from its decoder of messages as well as from its parser of texts.
#pragma once

#include "ctl/ofp/ovs.h"
#include "pipeline/model/operation.h"

namespace coua::ofp {

/// The library's form with what it allocated.
class ovs_flow_mod : public ofputil_flow_mod {
 public:
  ovs_flow_mod() : ofputil_flow_mod{} {}
  ~ovs_flow_mod();
  ovs_flow_mod(const ovs_flow_mod&) = delete;
  ovs_flow_mod& operator=(const ovs_flow_mod&) = delete;
};
class ovs_group_mod : public ofputil_group_mod {
 public:
  ovs_group_mod();
  ~ovs_group_mod();
  ovs_group_mod(const ovs_group_mod&) = delete;
  ovs_group_mod& operator=(const ovs_group_mod&) = delete;
};
class ovs_meter_mod : public ofputil_meter_mod {
 public:
  ovs_meter_mod() : ofputil_meter_mod{} {}
  ~ovs_meter_mod() { std::free(meter.bands); }
  ovs_meter_mod(const ovs_meter_mod&) = delete;
  ovs_meter_mod& operator=(const ovs_meter_mod&) = delete;
};

/// Errors: those of the specification. That the model can take the operation is its own to say.
pipeline::of_result<pipeline::rule_mod> from_ovs(const ofputil_flow_mod& theirs);
pipeline::of_result<pipeline::group_mod> from_ovs(const ofputil_group_mod& theirs);
pipeline::of_result<pipeline::meter_mod> from_ovs(const ofputil_meter_mod& theirs);

/// Fill in `made`, which must be fresh. Errors: what the library cannot say.
pipeline::of_result<void> to_ovs(const pipeline::rule_mod& ours, ovs_flow_mod& made);
pipeline::of_result<void> to_ovs(const pipeline::group_mod& ours, ovs_group_mod& made);
void to_ovs(const pipeline::meter_mod& ours, ovs_meter_mod& made);

ofputil_flow_mod_flags flags_to_ovs(std::uint16_t rule_flags);

}  // namespace coua::ofp
