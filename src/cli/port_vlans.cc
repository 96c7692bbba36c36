// SPDX-License-Identifier: Apache-2.0
#include "cli/port_vlans.h"

#include <ranges>

#include "base/nearest.h"
#include "net/vlan_list.h"

namespace coua::cli {

port_vlans::port_vlans(const google::protobuf::RepeatedPtrField<v1::Port>& ports) {
  for (const v1::Port& each : ports) {
    port& made = ports_[each.spec().name()];
    made.name = each.spec().name();
    for (const v1::VlanRange& range : each.carries())
      for (unsigned vlan = range.first(); vlan <= range.last() && vlan < 4096; ++vlan)
        made.carried.push_back(static_cast<std::uint16_t>(vlan));
  }
}

const port_vlans::port* port_vlans::find(std::string_view name) const {
  const auto found = ports_.find(name);
  return found != ports_.end() ? &found->second : nullptr;
}

std::string port_vlans::nearest(std::string_view name) const {
  return coua::nearest(name, std::views::keys(ports_));
}

std::string port_vlans::check(const port& at, unsigned vlan) {
  return net::check_carried(at.name, at.carried, vlan);
}

}  // namespace coua::cli
