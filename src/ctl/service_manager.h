// SPDX-License-Identifier: Apache-2.0
//
// What systemd hears of the daemon (sd_notify(3)): that it is ready, that it stops, and, where the
// unit has a watchdog, that it lives. Where systemd did not start it, nothing is said.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dp/switch.h"

namespace coua::ctl {

/// `status`: a line for `systemctl status`.
void tell_ready(const std::string& status);
void tell_stopping();
/// That it reads its file again; tell_ready() follows.
void tell_reloading();
void tell_alive();

/// How often to say that it lives: a third of the unit's WatchdogSec, so that one time may be
/// missed. None: nobody waits for it.
std::optional<std::chrono::microseconds> watchdog_period();

/// How long a driver may take for a port. What the switch forwards it forwards on meanwhile, so a
/// restart would lose more than it mends; but it learns nothing, and nobody can change a port.
/// Firmware that is loaded, a link that is waited for, eight members of a bond one after another:
/// that is a minute or two.
constexpr std::chrono::minutes driver_patience{5};

/// Whether a switch goes on. Used by one thread.
class liveness {
 public:
  /// What has not turned since the last call, in words. All of it turns many times in a
  /// millisecond, also when there is nothing to do, but the thread `tables` while it is in a
  /// driver: that has its patience.
  std::vector<std::string> standing(const dp::switch_pulse& now);

 private:
  dp::switch_pulse last_{{}, UINT64_MAX, 0};
};

}  // namespace coua::ctl
