// SPDX-License-Identifier: Apache-2.0
//
// Ports of the switch as their bridges number them: port n is port n + 1, since OpenFlow has no
// port 0, and the one that a bridge has as its local port is LOCAL instead. The way back from LOCAL
// is in the plan (plan_bridge::local), for each bridge has one of its own.
#pragma once

#include "pipeline/model/port.h"

namespace coua::dp {

constexpr pipeline::port_no bridge_port(unsigned number, bool is_local) {
  return is_local ? pipeline::port_local : number + 1;
}
/// Of any other number than LOCAL; one that is no port's leads to no port.
constexpr unsigned switch_port(pipeline::port_no number) { return number - 1; }

}  // namespace coua::dp
