// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bitset>

#include "base/clock.h"
#include "base/log.h"
#include "dp/storm_kinds.h"
#include "dp/switch_impl.h"

namespace coua::dp {
namespace {

/// A share of a link whose speed nobody knows limits nothing. While the link is down it may still
/// become known. `last_mbps`: the last speed that was.
result<void> check_storm(const port_config& config, const std::string& driver,
                         const link_state& link, unsigned last_mbps) {
  if (!link.up || link.mbps != 0 || last_mbps != 0) return {};
  for (const storm_kind_row& kind : storm_kinds) {
    const flood_limit& limit = config.storm.*kind.limit;
    if (limit.unit == flood_limit::units::percent)
      return fail(errc::unsupported, "port " + config.name + ": storm." + kind.field,
                  format_flood_limit(limit) + " of what is not known: driver " + driver +
                      " does not say how fast the link is; give packets or bits a second");
  }
  return {};
}

}  // namespace

switch_impl::driver_time::driver_time(std::atomic<std::uint64_t>& since)
    : since_(since), outer_(since.load(std::memory_order_relaxed)) {
  if (outer_ == 0) since_.store(now_ns(), std::memory_order_relaxed);
}

int switch_impl::number_of(const std::string& name) const {
  for (unsigned number = 0; number < max_ports; ++number)
    if (slots_[number].device && slots_[number].device->config().name == name)
      return static_cast<int>(number);
  return -1;
}

/// Null: it has none.
const port* switch_impl::local_of(const switch_bridge& bridge) const {
  for (const port_slot& slot : slots_)
    if (slot.device && slot.bridge == &bridge && slot.local) return slot.device.get();
  return nullptr;
}

/// Numbers go round, so that one that was just given back rests as long as possible.
result<unsigned> switch_impl::free_number() const {
  const unsigned limit =
      config_.port_bits >= 6 ? max_ports : 1u << config_.port_bits;  // 2^6 = max_ports
  for (unsigned i = 1; i <= limit; ++i) {
    const unsigned number = (last_number_ + i) % limit;
    const port_slot& slot = slots_[number];
    if (!slot.device && (!slot.flush || slot.flush->done())) return number;
  }
  return fail(errc::no_room, "switch", "all " + std::to_string(limit) + " port numbers are taken");
}

result<unsigned> switch_impl::add_port(const port_config& config) {
  return tables_->call([&] { return add_port_here(config, nullptr); });
}

result<unsigned> switch_impl::add_port_here(port_config config, const shut_state* again) {
  const driver_time in_driver(in_driver_since_ns_);
  if (auto valid = port::validate(config); !valid) return tl::unexpected(valid.error());
  switch_bridge* const bridge = find_bridge(config.bridge);
  if (bridge == nullptr) return no_bridge(config.bridge);
  config.bridge = bridge->name();
  if (number_of(config.name) >= 0)
    return fail(errc::exists, "port " + config.name, "a port of this name exists");
  if (config.local)
    if (const port* const other = local_of(*bridge))
      return fail(errc::exists, "port " + config.name + ": local",
                  "bridge " + config.bridge + " has a local port, " + other->config().name);
  const auto number = free_number();
  if (!number) return number;
  if (auto taken = take_domains(*bridge, config); !taken) return tl::unexpected(taken.error());
  const port_limits limits = limits_of_ports();
  auto opened = port::open(config, limits);
  if (!opened) return tl::unexpected(opened.error());
  port_slot& slot = slots_[*number];
  slot.device = std::move(*opened);
  slot.bridge = bridge;
  slot.local = config.local;
  slot.bond.reset();
  if (config.bond.any())
    slot.bond = std::make_unique<bond_state>(config.bond, slot.device->macs(),
                                             static_cast<std::uint16_t>(*number + 1));
  slot.shut_by = again != nullptr ? again->by : "";
  slot.link = look_at_link(*number);
  if (auto known = check_storm(config, slot.device->driver(), slot.link, 0);
      !known && again == nullptr) {
    slot.bond.reset();
    slot.device.reset();
    slot.bridge = nullptr;
    slot.link = {};
    return tl::unexpected(known.error());
  }
  slot.last_mbps = 0;
  slot.flush.reset();
  slot.shut_ns = slot.shut_downs = slot.recoveries = slot.discarded = 0;
  slot.discards = false;
  if (slot.is_shut()) keep_shut(*number, *again);
  slot.baseline.clear();
  for (std::size_t id = 0; id < port_counter::count; ++id)
    slot.baseline.push_back(port_sum(*number, id));
  storms_[*number].fill(cycles());
  note_storm_drops(*number);
  last_number_ = *number;
  slot.serial = ++last_serial_;
  set_rules(*number);
  publish();
  tell_pipeline(*number);
  if (limits.workers_all > 1 && slot.device->tx_shared())
    log_info("port %s: %u transmit queues for %u workers: shared", config.name.c_str(),
             slot.device->tx_queues(), limits.workers_all);
  return *number;
}

port_limits switch_impl::limits_of_ports() {
  port_limits limits;
  limits.workers_all = static_cast<unsigned>(workers_.size());
  limits.places = places_;
  limits.burst = config_.burst;
  if (config_.mbufs != 0)
    limits.shared_pool = [this](int node, unsigned room) { return shared_pool(node, room); };
  limits.mbuf_bytes = config_.mbuf_bytes;
  for (const port_slot& slot : slots_)
    if (slot.device) limits.devices_used |= slot.device->devices();
  return limits;
}

/// The pool of a NUMA node where the operator gave a number of packets per node. It stays.
result<packet_pool*> switch_impl::shared_pool(int numa_node, unsigned room) {
  const auto found = shared_pools_.find(numa_node);
  if (found != shared_pools_.end()) return &found->second;
  auto made = packet_pool::create("packets of node " + std::to_string(numa_node), config_.mbufs,
                                  room, numa_node);
  if (!made) return tl::unexpected(made.error());
  return &shared_pools_.emplace(numa_node, std::move(*made)).first->second;
}

void switch_impl::set_rules(unsigned number) {
  port_slot& slot = slots_[number];
  port_rule rule;
  if (slot.device) {
    const port_config& config = slot.device->config();
    rule.learns = config.learning && config.enabled && !slot.is_shut() && slot.link.up;
    rule.mac_limit = config.mac_limit;
    rule.closes = config.learning && config.mac_limit_action != limit_action::forward;
  }
  if (rule.learns && !slot.learns) slot.learns_since = cycles();
  slot.learns = rule.learns;
  rule.since = slot.learns_since;
  owner_->set_rule(number, rule);
}

/// A port with its state, or that there is none of this number any more.
void switch_impl::tell_pipeline(unsigned number) {
  const port_slot& slot = slots_[number];
  pipeline_owner& to = slot.bridge->pipeline();
  pipeline::port one;
  one.number = bridge_port(number, slot.local);
  if (!slot.device) return to.remove_port(one.number);
  if (slot.local) one.own = bridge_port(number, false);
  const port_config& config = slot.device->config();
  one.live = slot.link.up && config.enabled && !slot.is_shut() && !config.mirror.any();
  to.set_port(one);
}

void switch_impl::flush(const flush_filter& filter, const std::string& port) {
  if (owner_->request_flush(filter)) return;
  log_warning("port %s: no memory to flush its entries: they stay until they age or move",
              port.c_str());
}

result<void> switch_impl::remove_port(const std::string& name) {
  auto job = tables_->call([&] { return remove_port_here(name); });
  if (!job) return tl::unexpected(job.error());
  wait_for(*job);
  return {};
}

result<switch_impl::flush_ptr> switch_impl::remove_port_here(const std::string& name) {
  const driver_time in_driver(in_driver_since_ns_);
  const int found = number_of(name);
  if (found < 0) return fail(errc::not_found, "port " + name, "there is no such port");
  const unsigned number = static_cast<unsigned>(found);
  port_slot& slot = slots_[number];
  flush_filter filter;
  filter.ports = port_bit(number);
  filter.statics = true;  // a static entry cannot outlive the port that it names
  const flush_ptr flush = owner_->start_flush(filter);
  if (!flush) return fail(errc::no_memory, "port " + name, "no memory to flush its entries");
  keep_farewells(number);
  std::unique_ptr<port> leaving = std::move(slot.device);
  slot.bond.reset();
  slot.link = {};
  slot.flush = flush;
  tell_pipeline(number);
  slot.bridge = nullptr;
  set_rules(number);  // reports from it that are still in the rings are stale
  publish();          // after it no worker uses the device
  say_kept_farewells();
  keep_counters(slot, *leaving);
  close(std::move(leaving));
  bury_pools();
  return flush;
}

/// One that no worker uses any more. Its packets may still be on their way by others.
void switch_impl::close(std::unique_ptr<port> leaving) {
  leaving->take_pools(graveyard_);
  leaving.reset();
}

result<void> switch_impl::update_port(const port_config& config) {
  return tables_->call([&] { return update_port_here(config, nullptr); });
}

result<void> switch_impl::update_port_here(port_config config, const shut_state* again) {
  const driver_time in_driver(in_driver_since_ns_);
  const int found = number_of(config.name);
  if (found < 0) return fail(errc::not_found, "port " + config.name, "there is no such port");
  const unsigned number = static_cast<unsigned>(found);
  port_slot& slot = slots_[number];
  const switch_bridge* const bridge = find_bridge(config.bridge);
  if (bridge == nullptr) return no_bridge(config.bridge);
  config.bridge = bridge->name();
  if (bridge != slot.bridge)
    return fail(errc::unsupported, "port " + config.name,
                "its bridge cannot change while it runs: remove and add it");
  // Tokens of another limit mean another time.
  const bool storm_changed = slot.device->config().storm != config.storm;
  if (storm_changed && again == nullptr)
    if (auto known = check_storm(config, slot.device->driver(), slot.link, slot.last_mbps); !known)
      return known;
  if (auto taken = take_domains(*bridge, config); !taken) return taken;
  const vlan_domains& domains = domains_.of(bridge->number());
  flush_filter left;
  left.ports = port_bit(number);
  left.domains.reset();
  for (const std::uint16_t vlan : vlans_of(slot.device->config())) left.domains.set(domains[vlan]);
  const bool was_enabled = slot.device->config().enabled, was_up = slot.link.up;
  const bool was_open = was_enabled && !slot.is_shut();
  auto leaving = update_device(number, config);
  if (!leaving) return tl::unexpected(leaving.error());
  for (const std::uint16_t vlan : vlans_of(config)) left.domains.reset(domains[vlan]);
  if (!config.enabled) slot.shut_by.clear();  // what enables it again brings it back
  if (again != nullptr && !again->by.empty() && !slot.is_shut()) keep_shut(number, *again);
  if (slot.bond) {
    if (config.bond.mode != bond_mode::lacp) say_farewells(number);
    slot.bond->configure(config.bond);
  }
  if (config.enabled != was_enabled || slot.bond) slot.link = look_at_link(number);
  if (config.enabled && !slot.is_shut()) discard_received(slot);
  // Before, so that nothing is dropped meanwhile; and after, when nobody counts by the old limit:
  // what was dropped by that is no storm.
  const bool begins = storm_changed || config.enabled != was_enabled;
  const port_set anew = begins ? port_bit(number) : 0;
  fill_storms(anew);
  tell_all(number);
  fill_storms(anew);
  if (begins) note_storm_drops(number);
  say_kept_farewells();
  for (auto& each : *leaving) close(std::move(each));
  if (!leaving->empty()) bury_pools();
  const bool bond_fell = slot.bond && was_up && !slot.link.up;
  const bool is_open = config.enabled && !slot.is_shut();
  if ((was_open && !is_open) || (was_enabled && !config.enabled) || bond_fell) left.domains.set();
  if (left.domains.any()) flush(left, config.name);
  return {};
}

/// Of a port that comes back: what has waited in its device would shut it down again.
void switch_impl::discard_received(port_slot& slot) {
  if (std::exchange(slot.discards, false)) slot.discarded += slot.device->discard_received();
}

void switch_impl::tell_all(unsigned number) {
  set_rules(number);
  publish();
  tell_pipeline(number);
}

void switch_impl::watch_links() {
  for (unsigned number = 0; number < max_ports; ++number) {
    port_slot& slot = slots_[number];
    if (!slot.device || slot.bond) continue;
    const link_state now = slot.device->link();
    const bool other_speed = now.mbps != slot.link.mbps;
    if (now.up != slot.link.up || now.lost != slot.link.lost)
      link_changed(number, now);
    else if (slot.link = now; other_speed)
      publish();
  }
}

/// The ports whose limits are others now, because the speed of their links is.
port_set switch_impl::note_speeds() {
  port_set changed = 0;
  for (unsigned number = 0; number < max_ports; ++number) {
    port_slot& slot = slots_[number];
    if (!slot.device || slot.link.mbps == 0 || slot.link.mbps == slot.last_mbps) continue;
    slot.last_mbps = slot.link.mbps;
    if (slot.device->config().storm.has_percent()) changed |= port_bit(number);
  }
  return changed;
}

void switch_impl::fill_storms(port_set ports) {
  for_each_port(ports, [&](unsigned number) { storms_[number].fill(cycles()); });
}

void switch_impl::link_changed(unsigned number, const link_state& now) {
  port_slot& slot = slots_[number];
  const char* name = slot.device->config().name.c_str();
  if (now.lost)
    log_warning("port %s: the device went away; remove the port, and add it again when it is back",
                name);
  else
    log_info("port %s: link is %s", name, now.up ? "up" : "down");
  if (const auto known =
          check_storm(slot.device->config(), slot.device->driver(), now, slot.last_mbps);
      !known)
    log_warning("%s; until then there is no limit", known.error().message().c_str());
  const bool went_down = slot.link.up && !now.up;
  slot.link = now;
  tell_all(number);
  if (!went_down) return;
  flush_filter filter;
  filter.ports = port_bit(number);
  flush(filter, name);
}

/// A pool whose packets are all back may still be in the hands of the worker that gave back the
/// last one: DPDK counts it before it is stored.
void switch_impl::bury_pools() {
  const auto is_idle = [](const packet_pool& pool) { return pool.in_use() == 0; };
  // Only those: another one may have got its last packet back a moment ago.
  const auto rest = std::partition(graveyard_.begin(), graveyard_.end(), is_idle);
  if (rest == graveyard_.begin()) return;
  wait_for_workers();
  graveyard_.erase(std::remove_if(graveyard_.begin(), rest, is_idle), rest);
}

unsigned switch_impl::packets_in_use() const {
  return tables_->call([&] {
    unsigned n = 0;
    for (const port_slot& slot : slots_)
      if (slot.device) n += slot.device->packets_in_use();
    for (const packet_pool& pool : graveyard_) n += pool.in_use();
    for (const auto& [node, pool] : shared_pools_) n += pool.in_use();
    return n;
  });
}

}  // namespace coua::dp
