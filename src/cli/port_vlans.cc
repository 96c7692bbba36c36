// SPDX-License-Identifier: Apache-2.0
#include "cli/port_vlans.h"

#include "cli/port_view.h"

namespace coua::cli {

port_vlans::port_vlans(const google::protobuf::RepeatedPtrField<v1::Port>& ports) {
  for (const v1::Port& each : ports) {
    port& made = ports_[each.spec().name()];
    made.name = each.spec().name();
    const v1::MirrorSources& mirror = each.spec().mirror();
    if (mirror.received_size() + mirror.sent_size() + mirror.vlans_size() > 0) {
      made.text = "a mirror port";
      continue;
    }
    const v1::PortVlans& vlans = each.spec().vlans();
    made.text = vlans_text(vlans);
    const auto carry = [&made](unsigned vlan) {
      if (vlan > 0 && vlan < made.carried.size()) made.carried.set(vlan);
    };
    carry(vlans.native());
    if (vlans.mode() != v1::VLAN_MODE_TRUNK) continue;
    for (const v1::VlanRange& range : vlans.tagged())
      for (unsigned vlan = range.first(); vlan <= range.last() && vlan < 4096; ++vlan) carry(vlan);
  }
}

const port_vlans::port* port_vlans::find(std::string_view name) const {
  const auto found = ports_.find(name);
  return found != ports_.end() ? &found->second : nullptr;
}

std::string port_vlans::check(const port& at, unsigned vlan) {
  if (at.carried[vlan]) return {};
  return "port " + at.name + " does not carry VLAN " + std::to_string(vlan) + "; it is " + at.text;
}

}  // namespace coua::cli
