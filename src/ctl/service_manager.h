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

/// Whether workers turn. Used by one thread.
class pulse {
 public:
  /// Workers that have not turned since the last call, by number. They turn many times in a
  /// millisecond, also when there is nothing to do.
  std::vector<unsigned> standing(const std::vector<dp::worker_status>& workers);

 private:
  std::vector<std::uint64_t> rounds_;  // at the last call, by worker
};

}  // namespace coua::ctl
