// SPDX-License-Identifier: Apache-2.0
//
// Bridges come and go while packets pass. A new one is whole before a plan names it; one that
// leaves has no ports any more, and ends when no plan that names it is in use. What takes long (a
// pipeline of a million rules to let go of) is done in the thread of whoever asks, not in `tables`.
#include <algorithm>

#include "base/clock.h"
#include "dp/switch_impl.h"

namespace coua::dp {

switch_bridge* switch_impl::find_bridge(const std::string& name) const {
  const std::lock_guard hold(bridges_mutex_);
  return find_bridge_locked(name);
}

switch_bridge* switch_impl::find_bridge_locked(const std::string& name) const {
  if (name.empty()) return bridges_.front().get();
  const auto found =
      std::ranges::find_if(bridges_, [&](const auto& each) { return each->name() == name; });
  return found != bridges_.end() ? found->get() : nullptr;
}

tl::unexpected<error> switch_impl::no_bridge(const std::string& name) {
  return fail(errc::not_found, "bridge " + name, "there is no such bridge");
}

std::vector<bridge_config> switch_impl::bridges() const {
  const std::lock_guard hold(bridges_mutex_);
  std::vector<bridge_config> list;
  for (const auto& each : bridges_) list.push_back(each->config());
  return list;
}

pipeline_owner* switch_impl::pipeline(const std::string& bridge) {
  switch_bridge* found = find_bridge(bridge);
  return found != nullptr ? &found->pipeline() : nullptr;
}

void switch_impl::set_standalone(const std::string& bridge, bool on) {
  const std::lock_guard hold(bridges_mutex_);
  if (switch_bridge* found = find_bridge_locked(bridge)) found->set_standalone(on);
}

unsigned switch_impl::free_bridge_number() const {
  unsigned number = 0;
  while (std::ranges::any_of(bridges_, [&](const auto& b) { return b->number() == number; }))
    ++number;
  return number;
}

result<void> switch_impl::add_bridge(const bridge_config& config) {
  if (auto valid = switch_bridge::validate(config); !valid) return valid;
  const std::lock_guard alone(changing_bridges_);
  if (find_bridge(config.name) != nullptr)
    return fail(errc::exists, "bridge " + config.name, "a bridge of this name exists");
  if (bridges_.size() == bridges_max)
    return fail(errc::no_room, "bridge " + config.name,
                "there are " + std::to_string(bridges_max) + " bridges, the most that can be");
  auto made = switch_bridge::create(config, free_bridge_number(),
                                    static_cast<unsigned>(places_.size()), eal_.control);
  if (!made) return tl::unexpected(std::move(made.error()));
  tables_->call([&] {
    {
      const std::lock_guard hold(bridges_mutex_);
      bridges_.push_back(std::move(*made));
    }
    publish();
  });
  return {};
}

result<void> switch_impl::remove_bridge(const std::string& name) {
  const std::lock_guard alone(changing_bridges_);
  std::unique_ptr<switch_bridge> leaving;
  const auto removed = tables_->call([&]() -> result<void> {
    const auto found =
        std::ranges::find_if(bridges_, [&](const auto& each) { return each->name() == name; });
    if (found == bridges_.end()) return no_bridge(name);
    for (const port_slot& slot : slots_)
      if (slot.bridge == found->get())
        return fail(errc::busy, "bridge " + name,
                    "it has ports, " + slot.device->config().name + " for one: remove them before");
    if (bridges_.size() == 1)
      return fail(errc::busy, "bridge " + name, "is the only one, and a switch has one at least");
    {
      const std::lock_guard hold(bridges_mutex_);
      leaving = std::move(*found);
      bridges_.erase(found);
    }
    domains_.forget(leaving->number());
    publish();  // after it no worker has it
    return {};
  });
  if (!removed) return removed;
  leaving->stop();
  packet_pool pool = leaving->take_pool();
  leaving.reset();
  // At once where nothing of it is out: whoever asks may want the memory for a bridge of his own.
  tables_->call([&] {
    graveyard_.push_back(std::move(pool));
    bury_pools();
  });
  return {};
}

/// Before the next plan, which shows them. `kept`: domains that must stay, too; and gets the new
/// ones.
result<void> switch_impl::take_domains(const switch_bridge& bridge,
                                       std::span<const std::uint16_t> vlans,
                                       std::bitset<n_domains>& kept) {
  const auto in_use = [&](std::uint16_t domain) {
    return kept[domain] || plan_->domains[domain].members() != 0 ||
           owner_->entries_in_domain(domain) != 0;
  };
  std::vector<std::uint16_t> taken;
  if (const auto missing = domains_.take(bridge.number(), is_first(bridge), vlans, in_use, taken))
    return fail(errc::no_room, "bridge " + bridge.name(),
                "the VLANs of all bridges are " + std::to_string(domains_max) +
                    " at most: " + std::to_string(*missing) + " too many");
  for (const std::uint16_t domain : taken) {
    kept.set(domain);
    owner_->begin_domain(domain, cycles());
    for (std::size_t id = 0; id < vlan_counter::count; ++id)
      domain_baselines_[domain][id] = domain_sum(domain, id);
  }
  return {};
}

result<void> switch_impl::take_domains(const switch_bridge& bridge, const port_config& config) {
  std::bitset<n_domains> kept;
  auto taken = take_domains(bridge, vlans_of(config), kept);
  if (!taken) taken.error().where = "port " + config.name + ": " + taken.error().where;
  return taken;
}

}  // namespace coua::dp
