// SPDX-License-Identifier: Apache-2.0
#include "ctl/service_manager.h"

#include <systemd/sd-daemon.h>

namespace coua::ctl {
// A manager that does not listen any more changes nothing for the switch.
void tell_ready(const std::string& status) { sd_notify(0, ("READY=1\nSTATUS=" + status).c_str()); }
void tell_reloading() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  sd_notify(0, ("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(us)).c_str());
}
void tell_stopping() { sd_notify(0, "STOPPING=1"); }
void tell_alive() { sd_notify(0, "WATCHDOG=1"); }

std::optional<std::chrono::microseconds> watchdog_period() {
  std::uint64_t us = 0;
  if (sd_watchdog_enabled(0, &us) <= 0) return std::nullopt;
  return std::chrono::microseconds(us / 3);
}

std::vector<std::string> liveness::standing(const dp::switch_pulse& now) {
  std::vector<std::string> found;
  // A new one has none that it could have had before.
  last_.rounds.resize(now.rounds.size(), UINT64_MAX);
  for (std::size_t i = 0; i < now.rounds.size(); ++i)
    if (now.rounds[i] == last_.rounds[i]) found.push_back("worker " + std::to_string(i));
  const std::chrono::nanoseconds in_driver(now.driver_ns);
  if (now.turns == last_.turns && (now.driver_ns == 0 || in_driver > driver_patience)) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(in_driver).count();
    found.push_back(
        "thread coua-tables" +
        (now.driver_ns == 0 ? "" : " (in a driver for " + std::to_string(seconds) + " s)"));
  }
  last_ = now;
  return found;
}

}  // namespace coua::ctl
