// SPDX-License-Identifier: Apache-2.0
//
// What is done to a switch while it forwards: each of the ways to change it or to look at it, there
// and back.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/stalls/stalls_command.h"
#include "dp/switch.h"

namespace coua::bench {

struct control_action {
  std::string name;
  std::function<result<void>()> go, back;  // `back` leaves the switch as it was
};

/// The ports of the switch, as they were added.
struct stalls_ports {
  dp::port_config in;         // what packets come in by
  dp::port_config bystander;  // without traffic
  dp::port_config bond;       // static, without traffic
  dp::port_config stormy;     // disabled; brings broadcasts without end when it is enabled
};

class config_change;

/// Addresses from `first` on are in nobody's FIB. The switch, and `change` of it, must outlive the
/// actions.
std::vector<control_action> control_actions(dp::l2_switch& sw, const stalls_ports& ports,
                                            std::uint64_t first, const stalls_options& options,
                                            config_change& change);

}  // namespace coua::bench
