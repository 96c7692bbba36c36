// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/clock.h"
#include "dp/switch_impl.h"

namespace coua::dp {
namespace {

const char* layout_text(coua_fib_layout layout) {
  switch (layout) {
    case COUA_FIB_LAYOUT_PACKED8: return "packed8";
    case COUA_FIB_LAYOUT_PACKED4: return "packed4";
    case COUA_FIB_LAYOUT_WIDE8: return "wide8";
    default: return "auto";
  }
}

std::vector<unsigned> members(port_set ports) {
  std::vector<unsigned> list;
  for (; ports != 0; ports &= ports - 1)
    list.push_back(static_cast<unsigned>(std::countr_zero(ports)));
  return list;
}

}  // namespace

const char* pages_text(coua_fib_pages pages) {
  switch (pages) {
    case COUA_FIB_PAGES_1G: return "1 GiB pages";
    case COUA_FIB_PAGES_2M: return "2 MiB pages";
    case COUA_FIB_PAGES_TRANSPARENT: return "transparent huge pages";
    case COUA_FIB_PAGES_CALLER: return "the caller's memory";
    default: return "4 KiB pages";
  }
}

std::uint64_t switch_impl::port_sum(unsigned number, std::size_t id) const {
  std::uint64_t sum = 0;
  for (const auto& each : workers_) sum += each->port_counters().value(number, id);
  return sum;
}

std::uint64_t switch_impl::domain_sum(std::uint16_t domain, std::size_t id) const {
  std::uint64_t sum = 0;
  for (const auto& each : workers_) sum += each->vlan_counters().value(domain, id);
  return sum;
}

std::vector<port_status> switch_impl::ports() const {
  return tables_->call([&] {
    std::vector<port_status> list;
    for (unsigned number = 0; number < max_ports; ++number) {
      const port_slot& slot = slots_[number];
      if (!slot.device) continue;
      const port& device = *slot.device;
      port_status status{};
      status.number = number;
      status.serial = slot.serial;
      status.config = device.config();
      status.driver = device.driver();
      std::copy_n(device.mac(), sizeof status.mac, status.mac);
      status.numa_node = device.numa_node();
      status.link_up = slot.link.up;
      status.link_mbps = slot.link.mbps;
      status.longest_frame = device.longest_frame();
      status.rx_queues = device.rx_queues();
      status.tx_queues = device.tx_queues();
      status.tx_shared = device.tx_shared();
      status.lost = slot.link.lost;
      status.learned = owner_->learned_on_port(number);
      status.shut_down = slot.shut_by;
      status.shut_ns = slot.shut_ns;
      if (const std::uint64_t at = recovers_at_ns(slot); at != 0) {
        const std::uint64_t now = now_ns();
        constexpr std::uint64_t second = 1'000'000'000;
        status.recovers_in_s =
            at <= now ? 1 : static_cast<unsigned>((at - now + second - 1) / second);
      }
      status.members = members_of(slot);
      list.push_back(std::move(status));
    }
    return list;
  });
}

result<std::vector<counter>> switch_impl::port_counters(const std::string& name) const {
  return tables_->call([&]() -> result<std::vector<counter>> {
    const int number = number_of(name);
    if (number < 0) return fail(errc::not_found, "port " + name, "there is no such port");
    const port_slot& slot = slots_[static_cast<unsigned>(number)];
    std::vector<counter> list;
    for (std::size_t id = 0; id < port_counter::count; ++id)
      list.push_back({port_counter::name(id),
                      port_sum(static_cast<unsigned>(number), id) - slot.baseline[id]});
    for (counter& each : own_counters(slot, *slot.device)) list.push_back(std::move(each));
    return list;
  });
}

/// Those that are no worker's.
std::vector<counter> switch_impl::own_counters(const port_slot& slot, const port& device) {
  std::vector<counter> list = shut_counters(slot);
  for (counter& each : device.device_counters()) list.push_back(std::move(each));
  return list;
}

void switch_impl::keep_counters(const port_slot& slot, const port& leaving) {
  add_counters(counters_of_removed_, own_counters(slot, leaving));
}

std::vector<counter> switch_impl::totals() const {
  return tables_->call([&] {
    std::vector<counter> list;
    for (std::size_t id = 0; id < port_counter::count; ++id) {
      std::uint64_t sum = 0;
      for (unsigned number = 0; number < max_inputs; ++number) sum += port_sum(number, id);
      list.push_back({port_counter::name(id), sum});
    }
    std::vector<counter> own = counters_of_removed_;
    for (const port_slot& slot : slots_)
      if (slot.device) add_counters(own, own_counters(slot, *slot.device));
    list.insert(list.end(), own.begin(), own.end());
    return list;
  });
}

std::vector<vlan_status> switch_impl::vlans() const {
  return tables_->call([&] {
    std::vector<vlan_status> list;
    for (const auto& bridge : bridges_) {
      for (std::uint16_t vlan = 1; vlan < n_vlans - 1; ++vlan) {
        const std::uint16_t domain = domains_.find(bridge->number(), vlan);
        const plan_domain& sets = plan_->domains[domain];
        if (sets.members() == 0) continue;
        vlan_status status{bridge->name(),
                           vlan,
                           members(sets.tagged),
                           members(sets.untagged),
                           owner_->learned_in_domain(domain),
                           {}};
        for (std::size_t id = 0; id < vlan_counter::count; ++id)
          status.counters.push_back(
              {vlan_counter::name(id), domain_sum(domain, id) - domain_baselines_[domain][id]});
        list.push_back(std::move(status));
      }
    }
    return list;
  });
}

std::vector<worker_status> switch_impl::workers() const {
  return tables_->call([&] {
    std::vector<worker_status> list;
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      const worker& each = *workers_[w];
      worker_status status{};
      status.number = static_cast<unsigned>(w);
      status.core = places_[w].core;
      status.numa_node = places_[w].numa_node;
      for (const rx_queue& queue : plan_->workers[w].rx) {
        const bool is_bond = (queue.detours & detour_bond) != 0;
        status.queues.push_back(slots_[queue.port].device->config().name +
                                (is_bond ? "/" + std::to_string(queue.member) : "") + ":" +
                                std::to_string(queue.queue));
      }
      status.cycles_per_packet = rates_[w].cycles_per_packet;
      status.busy = rates_[w].busy_share;
      for (std::size_t n = 0; n <= config_.burst; ++n)
        status.burst_histogram.push_back(each.burst_histogram().sum(n));
      for (std::size_t id = 0; id < worker_counter::count; ++id)
        status.counters.push_back({worker_counter::name(id), each.worker_counters().sum(id)});
      list.push_back(std::move(status));
    }
    return list;
  });
}

switch_pulse switch_impl::pulse() const {
  switch_pulse now;
  for (const auto& each : workers_)
    now.rounds.push_back(each->worker_counters().sum(worker_counter::rounds));
  now.turns = turns_.load(std::memory_order_relaxed);
  const std::uint64_t since = in_driver_since_ns_.load(std::memory_order_relaxed);
  if (since != 0) now.driver_ns = std::max<std::uint64_t>(1, now_ns() - since);
  return now;
}

fib_status switch_impl::fib() const {
  return tables_->call([&] {
    coua_fib_stats stats{};
    stats.size = sizeof stats;
    coua_fib_get_stats(owner_->fib(), &stats);
    fib_status status{};
    status.entries = stats.entries;
    status.slots = stats.slots;
    status.buckets = stats.buckets;
    status.buckets_asked = stats.buckets_asked;
    status.statics = stats.statics;
    status.in_secondary = stats.in_secondary;
    status.bytes = stats.bytes;
    status.added = stats.added;
    status.updated = stats.updated;
    status.erased = stats.erased;
    status.aged_out = stats.aged_out;
    status.refused = stats.refused;
    status.moves = stats.moves;
    status.retries = stats.retries;
    status.path_length.assign(std::begin(stats.path_length), std::end(stats.path_length));
    status.layout = layout_text(stats.layout);
    status.memory = pages_text(stats.pages);
    status.simd = coua_fib_simd(owner_->fib());
    status.ageing_s = owner_->ageing_s();
    status.value_bits = stats.value_bits;
    const learn_counts& learn = owner_->counts();
    status.reports = learn.reports;
    for (const auto& each : workers_)
      for (unsigned number = 0; number < max_ports; ++number)
        status.reports_dropped +=
            each->port_counters().value(number, port_counter::learn_ring_full);
    status.reports_stale = learn.stale;
    status.moved = learn.moved;
    status.flapping = learn.flapping;
    status.limited = learn.limited;
    return status;
  });
}

result<void> switch_impl::set_ageing(unsigned seconds) {
  if (seconds != 0 && (seconds < 6 || seconds > 1'000'000))
    return fail(errc::invalid, "ageing", "it is 0 (never) or 6 to 1,000,000 seconds");
  tables_->call([&] { owner_->set_ageing(seconds, now_ns()); });
  return {};
}

}  // namespace coua::dp
