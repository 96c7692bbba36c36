// SPDX-License-Identifier: Apache-2.0
//
// Ports that the switch shuts down, because of what they brought, and how they come back: by the
// operator, or when their time is over.
#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "dp/storm_kinds.h"
#include "dp/switch_impl.h"

namespace coua::dp {
namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;

}  // namespace

result<void> switch_impl::reopen_port(const std::string& name) {
  return tables_->call([&] { return reopen_port_here(name); });
}

result<void> switch_impl::reopen_port_here(const std::string& name) {
  const driver_time in_driver(in_driver_since_ns_);
  const int found = number_of(name);
  if (found < 0) return fail(errc::not_found, "port " + name, "there is no such port");
  const auto number = static_cast<unsigned>(found);
  port_slot& slot = slots_[number];
  if (!slot.is_shut()) return {};
  if (auto done = slot.device->set_link(true); !done) return done;
  slot.shut_by.clear();
  slot.link = look_at_link(number);
  discard_received(slot);
  note_storm_drops(number);
  fill_storms(port_bit(number));
  tell_all(number);
  log_info("port %s: brought back", name.c_str());
  return {};
}

result<void> switch_impl::restore_port(const port_status& was) {
  return tables_->call([&]() -> result<void> {
    shut_state again;
    if (was.config.enabled) again = {was.shut_down, was.shut_ns};
    if (number_of(was.config.name) >= 0) {
      if (auto done = update_port_here(was.config, &again); !done) return done;
      // By what came in between: it was open.
      return again.by.empty() ? reopen_port_here(was.config.name) : result<void>{};
    }
    if (auto added = add_port_here(was.config, &again); !added)
      return tl::unexpected(added.error());
    return {};
  });
}

/// Before the next plan.
void switch_impl::keep_shut(unsigned number, const shut_state& again) {
  port_slot& slot = slots_[number];
  slot.shut_by = again.by;
  slot.shut_ns = again.ns;
  slot.discards = true;
  if (const auto done = slot.device->set_link(false); !done)
    log_warning("%s", done.error().message().c_str());
  slot.link = look_at_link(number);
  log_info("port %s: still shut down (%s)", slot.device->config().name.c_str(), again.by.c_str());
}

/// When a port that is shut down comes back by itself; 0: it is not, or stays so (its device may
/// have gone away).
std::uint64_t switch_impl::recovers_at_ns(const port_slot& slot) {
  const std::uint64_t after_s = slot.device->config().recover_s;
  return slot.is_shut() && !slot.link.lost && after_s != 0 ? slot.shut_ns + after_s * ns_per_s : 0;
}

void switch_impl::recover_ports() {
  const std::uint64_t now = now_ns();
  for (port_slot& slot : slots_) {
    if (!slot.device) continue;
    const std::uint64_t at = recovers_at_ns(slot);
    if (at == 0 || now < at) continue;
    const port_config config = slot.device->config();
    log_info("port %s: was shut down (%s) %u s ago: it is tried again", config.name.c_str(),
             slot.shut_by.c_str(), config.recover_s);
    if (const auto done = reopen_port_here(config.name); done) {
      ++slot.recoveries;
    } else {
      log_warning("%s; it is tried again in %u s", done.error().message().c_str(),
                  config.recover_s);
      slot.shut_ns = now;
    }
  }
}

/// Ports that brought an address above their limit, where that is what they are shut down for.
void switch_impl::shut_violators() {
  for_each_port(owner_->take_violations(), [&](unsigned number) {
    const port_slot& slot = slots_[number];
    if (!slot.device || slot.is_shut()) return;
    const port_config& config = slot.device->config();
    if (config.enabled && config.mac_limit_action == limit_action::shutdown)
      shut_port(number, "mac_limit",
                "more addresses than its mac_limit of " + std::to_string(config.mac_limit));
  });
}

/// Links are watched less often than drops.
void switch_impl::refresh_speed(unsigned number) {
  if (!slots_[number].bond) watch_links();
}

/// Ports of which storm control has dropped something since they were looked at last. Workers only
/// count: a port that is not shut down by its storm costs them nothing.
void switch_impl::shut_stormy() {
  for (unsigned number = 0; number < max_ports; ++number) {
    const port_slot& slot = slots_[number];
    if (!slot.device || slot.is_shut()) continue;
    const port_config& config = slot.device->config();
    if (!config.enabled || config.storm.action != storm_action::shutdown || !config.storm.any())
      continue;
    const auto before = slot.storm_drops;
    note_storm_drops(number);
    const auto now = slot.storm_drops;
    const unsigned speed = slot.last_mbps;
    for (unsigned kind = 0; kind < n_storm_kinds; ++kind) {
      if (now[kind] == before[kind]) continue;
      const storm_kind_row& row = storm_kinds[kind];
      const flood_limit& limit = config.storm.*row.limit;
      if (limit.unit == flood_limit::units::percent) {
        refresh_speed(number);
        // A share was taken of a speed that the link has no more, or that was not known yet.
        if (slot.last_mbps != speed || speed == 0) {
          note_share_drops(number);
          continue;
        }
      }
      shut_port(number, std::string("storm_") + row.field,
                limit == flood_limit::block()
                    ? std::string(row.text) + " frames, of which none may pass"
                    : std::string("more ") + row.text + " frames than its storm limit of " +
                          format_flood_limit(limit));
      break;
    }
  }
}

void switch_impl::note_storm_drops(unsigned number) {
  for (unsigned kind = 0; kind < n_storm_kinds; ++kind)
    slots_[number].storm_drops[kind] = port_sum(number, port_counter::drop_storm_broadcast + kind);
}

/// Of the kinds whose limit is a share of the link.
void switch_impl::note_share_drops(unsigned number) {
  port_slot& slot = slots_[number];
  for (unsigned kind = 0; kind < n_storm_kinds; ++kind)
    if ((slot.device->config().storm.*storm_kinds[kind].limit).unit == flood_limit::units::percent)
      slot.storm_drops[kind] = port_sum(number, port_counter::drop_storm_broadcast + kind);
}

/// `what` it brought.
void switch_impl::shut_port(unsigned number, const std::string& by, const std::string& what) {
  const driver_time in_driver(in_driver_since_ns_);
  port_slot& slot = slots_[number];
  const port_config& config = slot.device->config();
  const std::string back =
      config.recover_s == 0
          ? "brings it back"
          : "brings it back before " + std::to_string(config.recover_s) + " s are over";
  log_warning("port %s: shut down: it brought %s; `coua port set %s --enabled on` %s",
              config.name.c_str(), what.c_str(), config.name.c_str(), back.c_str());
  slot.shut_by = by;
  slot.shut_ns = now_ns();
  ++slot.shut_downs;
  slot.discards = true;
  if (const auto done = slot.device->set_link(false); !done)
    log_warning("%s", done.error().message().c_str());
  slot.link = look_at_link(number);
  tell_all(number);
  flush_filter filter;
  filter.ports = port_bit(number);
  flush(filter, config.name);
}

std::vector<counter> switch_impl::shut_counters(const port_slot& slot) {
  return {{"shut_downs", slot.shut_downs},
          {"recoveries", slot.recoveries},
          {"drop_shut_down", slot.discarded}};
}

}  // namespace coua::dp
