// SPDX-License-Identifier: Apache-2.0
#include "dp/plan_builder.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/clock.h"
#include "dp/port.h"

namespace coua::dp {
namespace {

void add_bridge(plan& built, const bridge_view& view) {
  if (built.bridges.size() <= view.number) built.bridges.resize(view.number + 1);
  plan_bridge& bridge = built.bridges[view.number];
  bridge.domains = *view.domains;
  for (std::uint16_t vlan = 1; vlan < n_vlans; ++vlan)
    if (const std::uint16_t domain = bridge.domains[vlan]; domain != 0)
      built.vlan_of[domain] = vlan;
  const unsigned controller = controller_port(view.number);
  plan_port& input = built.ports[controller];
  input = {.present = true, .trunk = true, .learning = false, .native_vlan = 1};
  input.native_domain = bridge.domains[input.native_vlan];
  input.bridge = static_cast<std::uint8_t>(view.number);
  input.any_vlan = true;
  for (std::size_t w = 0; w < built.workers.size(); ++w) {
    built.workers[w].bridges.push_back(view.of_worker[w]);
    built.workers[w].bridge_of[controller] = view.of_worker[w];
  }
}

/// The bridge is there already.
void join_bridge(plan& built, const port_view& view) {
  plan_bridge& bridge = built.bridges[view.bridge];
  bridge.ports |= port_bit(view.number);
  if (view.device->config().local) bridge.local = view.number;
  for (worker_plan& each : built.workers)
    each.bridge_of[view.number] = each.bridge_of[controller_port(view.bridge)];
  const port_config& config = view.device->config();
  for (const std::uint16_t vlan : vlans_of(config)) {
    plan_domain& domain = built.domains[bridge.domains[vlan]];
    (vlan == config.native_vlan ? domain.untagged : domain.tagged) |= port_bit(view.number);
  }
}

plan_storm storm_of(const port_view& view) {
  const storm_limits& limits = view.device->config().storm;
  if (!limits.any()) return {};
  const double hz = cycles_hz();
  const auto rate = [&](const flood_limit& limit) {
    return storm_rate::of(limit, view.last_mbps, view.link_up, hz);
  };
  return {view.storm,
          {rate(limits.broadcast), rate(limits.multicast), rate(limits.unknown_unicast)}};
}

port_set numbers_of(std::span<const port_view> ports, const std::vector<std::string>& names) {
  port_set set = 0;
  for (const port_view& view : ports) {
    const port_config& config = view.device->config();
    const bool is_named = std::find(names.begin(), names.end(), config.name) != names.end();
    if (is_named && !config.mirror.any()) set |= port_bit(view.number);
  }
  return set;
}

/// Which mirror ports get copies, and at which queues workers have to look for them.
void add_mirrors(plan& built, std::span<const port_view> ports) {
  auto mirror = std::make_unique<plan_mirror>();
  port_set received = 0, sent = 0;
  for (const port_view& to : ports) {
    const port_config& config = to.device->config();
    if (!config.mirror.any() || !config.enabled || !to.link_up || to.shut) continue;
    const port_set rx = numbers_of(ports, config.mirror.received);
    const port_set tx = numbers_of(ports, config.mirror.sent);
    for (unsigned number = 0; number < max_ports; ++number) {
      if ((rx & port_bit(number)) != 0) mirror->received[number] |= port_bit(to.number);
      if ((tx & port_bit(number)) != 0) mirror->sent[number] |= port_bit(to.number);
    }
    for (const std::uint16_t vlan : config.mirror.vlans) mirror->vlans[vlan] |= port_bit(to.number);
    received |= config.mirror.vlans.empty() ? rx : rx | built.bridges[to.bridge].ports;
    sent |= tx;
  }
  if ((received | sent) == 0) return;
  for (worker_plan& each : built.workers) {
    for (rx_queue& queue : each.rx)
      if ((received & port_bit(queue.port)) != 0) queue.detours |= detour_tap;
    for (unsigned number = 0; number < max_ports; ++number)
      if ((sent & port_bit(number)) != 0) each.tx[number].detours |= detour_tap;
  }
  built.mirror = std::move(mirror);
}

bool near(const worker_place& worker, int node) { return node < 0 || worker.numa_node == node; }

/// `like`: what the queues of the device have alike.
void spread_queues(plan& built, const port& device, rx_queue like,
                   std::span<const worker_place> workers) {
  like.device = device.device();
  for (unsigned q = 0; q < device.rx_queues(); ++q) {
    const std::size_t worker = worker_for_queue(device.numa_node(), workers, built.workers);
    like.queue = static_cast<std::uint16_t>(q);
    built.workers[worker].rx.push_back(like);
  }
}

void spread_queues(plan& built, const port_view& view, std::span<const worker_place> workers) {
  const auto& members = view.device->members();
  rx_queue like{.port = static_cast<std::uint8_t>(view.number)};
  if (members.empty()) return spread_queues(built, *view.device, like, workers);
  like.detours = detour_bond;
  for (std::size_t m = 0; m < members.size(); ++m) {
    like.member = static_cast<std::uint8_t>(m);
    if ((view.bond.lost & member_bit(like.member)) == 0)
      spread_queues(built, *members[m], like, workers);
  }
}

void add_bond(plan& built, const port_view& view, std::size_t n_workers) {
  const auto& members = view.device->members();
  auto bond = std::make_unique<plan_bond>();
  bond->hash = view.device->config().bond.hash;
  bond->seed = view.device->bond_seed();
  bond->collecting = view.bond.collecting;
  bond->lacp = view.bond.lacp;
  built.lacp |= bond->lacp;
  bond->buckets = fill_buckets(static_cast<unsigned>(members.size()), view.bond.sending);
  bond->tx.resize(n_workers);
  for (std::size_t w = 0; w < n_workers; ++w) {
    for (std::size_t m = 0; m < members.size(); ++m)
      bond->tx[w][m] = members[m]->tx_queue_of(static_cast<unsigned>(w));
    // Of the port there is none; who looks for its device finds that of a member.
    built.workers[w].tx[view.number] = bond->tx[w][0];
    built.workers[w].tx[view.number].detours = detour_bond;
  }
  built.bonds[view.number] = std::move(bond);
}

}  // namespace

unsigned workers_for_node(int node, std::span<const worker_place> workers) {
  const auto n = static_cast<unsigned>(std::count_if(
      workers.begin(), workers.end(), [&](const worker_place& w) { return near(w, node); }));
  return n != 0 ? n : static_cast<unsigned>(workers.size());
}

std::size_t worker_for_queue(int node, std::span<const worker_place> workers,
                             std::span<const worker_plan> plans) {
  const bool any_near = std::any_of(workers.begin(), workers.end(),
                                    [&](const worker_place& w) { return near(w, node); });
  std::size_t best = workers.size();
  for (std::size_t w = 0; w < workers.size(); ++w) {
    if (any_near && !near(workers[w], node)) continue;
    if (best == workers.size() || plans[w].rx.size() < plans[best].rx.size()) best = w;
  }
  return best;
}

bool leave_out_moving(plan& built, const plan& before) {
  std::map<std::pair<std::uint16_t, std::uint16_t>, std::size_t> polled_by;  // device and queue
  for (std::size_t w = 0; w < before.workers.size(); ++w)
    for (const rx_queue& each : before.workers[w].rx) polled_by[{each.device, each.queue}] = w;
  std::size_t n = 0;
  for (std::size_t w = 0; w < built.workers.size(); ++w) {
    n += std::erase_if(built.workers[w].rx, [&](const rx_queue& each) {
      const auto by = polled_by.find({each.device, each.queue});
      return by != polled_by.end() && by->second != w;
    });
  }
  return n != 0;
}

std::unique_ptr<plan> build_plan(std::span<const port_view> ports,
                                 std::span<const worker_place> workers,
                                 std::span<const bridge_view> bridges) {
  auto built = std::make_unique<plan>();
  built->workers.resize(workers.size());
  for (const bridge_view& view : bridges) add_bridge(*built, view);
  for (const port_view& view : ports) {
    const port_config& config = view.device->config();
    built->present |= port_bit(view.number);
    const bool is_mirror = config.mirror.any();
    const bool enabled = config.enabled && !view.shut && !is_mirror;
    if (enabled && view.link_up) built->up |= port_bit(view.number);
    built->ports[view.number] = {
        .present = true,
        .trunk = config.mode == vlan_mode::trunk,
        .learning = config.learning,
        .strips_tags = view.device->strips_tags(),
        .native_vlan = config.native_vlan,
        .native_domain = built->bridges[view.bridge].domains[config.native_vlan],
        .bridge = static_cast<std::uint8_t>(view.bridge),
        .local = config.local,
        .longest_frame = view.device->longest_frame()};
    built->storms[view.number] = storm_of(view);
    join_bridge(*built, view);
    if (enabled && !view.lost) spread_queues(*built, view, workers);
    if (!view.device->members().empty()) {
      add_bond(*built, view, workers.size());
      continue;
    }
    for (std::size_t w = 0; w < workers.size(); ++w)
      built->workers[w].tx[view.number] = view.device->tx_queue_of(static_cast<unsigned>(w));
  }
  add_mirrors(*built, ports);
  return built;
}

}  // namespace coua::dp
