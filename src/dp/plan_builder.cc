// SPDX-License-Identifier: Apache-2.0
#include "dp/plan_builder.h"

#include <algorithm>

#include "base/clock.h"
#include "dp/port.h"

namespace coua::dp {
namespace {

void add_vlans(plan& built, unsigned number, const port_config& config) {
  if (config.native_vlan != 0) built.vlans[config.native_vlan].untagged |= port_bit(number);
  if (config.mode != vlan_mode::trunk) return;
  for (const std::uint16_t vlan : config.tagged) built.vlans[vlan].tagged |= port_bit(number);
}

plan_storm storm_of(const port_view& view) {
  const storm_limits& limits = view.device->config().storm;
  if (limits == storm_limits{}) return {};
  const double hz = cycles_hz();
  const auto rate = [&](std::uint64_t per_second) { return storm_rate::of(per_second, hz); };
  return {view.storm,
          {rate(limits.broadcast), rate(limits.multicast), rate(limits.unknown_unicast)}};
}

bool near(const worker_place& worker, int node) { return node < 0 || worker.numa_node == node; }

void spread_queues(plan& built, const port_view& view, std::span<const worker_place> workers) {
  for (unsigned q = 0; q < view.device->rx_queues(); ++q) {
    const std::size_t worker = worker_for_queue(view.device->numa_node(), workers, built.workers);
    built.workers[worker].rx.push_back({view.device->device(), static_cast<std::uint16_t>(q),
                                        static_cast<std::uint8_t>(view.number), false});
  }
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

std::vector<std::uint16_t> vlans_of(const port_config& config) {
  std::vector<std::uint16_t> list;
  if (config.native_vlan != 0) list.push_back(config.native_vlan);
  if (config.mode == vlan_mode::trunk)
    list.insert(list.end(), config.tagged.begin(), config.tagged.end());
  return list;
}

std::unique_ptr<plan> build_plan(std::span<const port_view> ports,
                                 std::span<const worker_place> workers) {
  auto built = std::make_unique<plan>();
  built->workers.resize(workers.size());
  built->ports[controller_port] = {
      .present = true, .trunk = true, .learning = false, .native_vlan = 1, .any_vlan = true};
  for (const port_view& view : ports) {
    const port_config& config = view.device->config();
    built->present |= port_bit(view.number);
    const bool enabled = config.enabled && !view.shut;
    if (enabled && view.link_up) built->up |= port_bit(view.number);
    built->ports[view.number] = {true,
                                 config.mode == vlan_mode::trunk,
                                 config.learning,
                                 view.device->strips_tags(),
                                 config.native_vlan,
                                 view.device->longest_frame()};
    built->storms[view.number] = storm_of(view);
    add_vlans(*built, view.number, config);
    if (enabled && !view.lost) spread_queues(*built, view, workers);
    for (std::size_t w = 0; w < workers.size(); ++w)
      built->workers[w].tx[view.number] = view.device->tx_queue_of(static_cast<unsigned>(w));
  }
  return built;
}

}  // namespace coua::dp
