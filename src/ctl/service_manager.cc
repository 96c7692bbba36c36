// SPDX-License-Identifier: Apache-2.0
#include "ctl/service_manager.h"

#include <systemd/sd-daemon.h>

namespace coua::ctl {
namespace {

std::uint64_t rounds_of(const dp::worker_status& worker) {
  for (const dp::counter& each : worker.counters) {
    if (each.name == "rounds") return each.value;
  }
  return 0;
}

}  // namespace

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

std::vector<unsigned> pulse::standing(const std::vector<dp::worker_status>& workers) {
  std::vector<unsigned> found;
  rounds_.resize(workers.size(), UINT64_MAX);  // a new one has none that it could have had before
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const std::uint64_t rounds = rounds_of(workers[i]);
    if (rounds == rounds_[i]) found.push_back(workers[i].number);
    rounds_[i] = rounds;
  }
  return found;
}

}  // namespace coua::ctl
