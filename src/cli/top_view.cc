// SPDX-License-Identifier: Apache-2.0
#include "cli/top_view.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace coua::cli {
namespace {

using count_map = std::map<std::string, std::uint64_t>;

template <typename Counters>
count_map to_map(const Counters& counters) {
  count_map out;
  for (const auto& each : counters) out[each.name()] = each.value();
  return out;
}

std::uint64_t of(const count_map& counts, const std::string& name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

double grown(std::uint64_t before, std::uint64_t after) {
  return static_cast<double>(after >= before ? after - before : after);
}

bool is_drop(const std::string& name) { return name.starts_with("drop_"); }

std::uint64_t all_drops(const count_map& counts) {
  std::uint64_t sum = 0;
  for (const auto& [name, value] : counts)
    if (is_drop(name)) sum += value;
  return sum;
}

top_port port_view(const std::string& name, const count_map& before, const count_map& after,
                   double seconds) {
  const auto rate = [&](const char* counter) {
    return grown(of(before, counter), of(after, counter)) / seconds;
  };
  top_port out;
  out.name = name;
  out.rx_pps = rate("rx_packets");
  out.tx_pps = rate("tx_packets");
  out.rx_bps = 8 * rate("rx_bytes");
  out.tx_bps = 8 * rate("tx_bytes");
  out.drops = all_drops(after);
  out.drop_pps = grown(all_drops(before), out.drops) / seconds;
  return out;
}

std::size_t burst_class(std::size_t packets) {
  constexpr std::size_t ends[] = {2, 8, 32, 64};
  return static_cast<std::size_t>(std::ranges::upper_bound(ends, packets) - ends);
}

top_worker worker_view(const v1::Worker* before, const v1::Worker& after, double seconds) {
  const count_map first = before != nullptr ? to_map(before->counters()) : count_map();
  const count_map last = to_map(after.counters());
  const auto growth = [&](const char* name) { return grown(of(first, name), of(last, name)); };
  const double packets = growth("rx_packets");
  const double busy = growth("cycles_busy");
  const double idle = growth("cycles_idle");
  top_worker out;
  out.number = after.number();
  out.core = after.core();
  out.pps = packets / seconds;
  if (busy + idle > 0) out.busy = busy / (busy + idle);
  if (packets > 0) out.cycles_per_packet = busy / packets;
  out.bursts = bursts_between(before, after);
  return out;
}

std::string uptime(std::uint64_t seconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%02u:%02u:%02u", static_cast<unsigned>(seconds / 3600 % 24),
                static_cast<unsigned>(seconds / 60 % 60), static_cast<unsigned>(seconds % 60));
  const std::uint64_t days = seconds / 86400;
  return (days > 0 ? std::to_string(days) + " d " : "") + text;
}

json to_json(const std::vector<top_count>& counts) {
  json out = json::object();
  for (const top_count& each : counts)
    out[each.name] = {{"per_second", each.per_second}, {"total", each.total}};
  return out;
}

json to_json(const top_port& port) {
  return {{"rx_pps", port.rx_pps}, {"tx_pps", port.tx_pps},     {"rx_bps", port.rx_bps},
          {"tx_bps", port.tx_bps}, {"drop_pps", port.drop_pps}, {"drops", port.drops}};
}

}  // namespace

burst_sizes bursts_between(const v1::Worker* before, const v1::Worker& after) {
  burst_sizes out;
  double polls = 0, in_them = 0;
  for (int n = 1; n < after.burst_histogram_size(); ++n) {
    const bool known = before != nullptr && n < before->burst_histogram_size();
    const double more = grown(known ? before->burst_histogram(n) : 0, after.burst_histogram(n));
    polls += more;
    in_them += more * n;
    out.shares[burst_class(static_cast<std::size_t>(n))] += more;
  }
  if (polls == 0) return out;
  out.mean = in_them / polls;
  for (double& share : out.shares) share /= polls;
  return out;
}

top_view make_top_view(const top_reading& before, const top_reading& after) {
  top_view out;
  out.daemon = "couad " + after.daemon.version() + ", up " + uptime(after.daemon.uptime_s());
  out.seconds = std::max(1e-3, grown(before.stats.time_ns(), after.stats.time_ns()) * 1e-9);

  std::map<std::string, count_map> first;
  for (const auto& port : before.stats.ports()) first[port.port()] = to_map(port.counters());
  std::map<std::string, const v1::Port*> states;
  for (const auto& port : after.ports.ports()) states[port.spec().name()] = &port;
  for (const auto& port : after.stats.ports()) {
    const count_map last = to_map(port.counters());
    // What a port counted before it was seen first is no rate.
    const count_map& from = first.contains(port.port()) ? first[port.port()] : last;
    top_port made = port_view(port.port(), from, last, out.seconds);
    if (const auto state = states.find(port.port()); state != states.end()) {
      made.is_up = state->second->link_up();
      made.mbps = state->second->link_mbps();
      made.learned = state->second->learned();
      out.all.learned += made.learned;
    }
    out.ports.push_back(std::move(made));
  }
  const std::uint64_t learned = out.all.learned;
  const count_map totals_before = to_map(before.stats.totals());
  const count_map totals = to_map(after.stats.totals());
  out.all = port_view("all", totals_before, totals, out.seconds);
  out.all.learned = learned;

  const auto worker_before = [&](unsigned number) -> const v1::Worker* {
    for (const auto& each : before.workers.workers())
      if (each.number() == number) return &each;
    return nullptr;
  };
  for (const auto& each : after.workers.workers())
    out.workers.push_back(worker_view(worker_before(each.number()), each, out.seconds));

  const auto count = [&](std::string name, std::uint64_t from, std::uint64_t to) {
    return top_count{std::move(name), grown(from, to) / out.seconds, to};
  };
  for (const auto& [name, value] : totals)
    if (is_drop(name) && value != 0)
      out.drops.push_back(count(name, of(totals_before, name), value));
  std::ranges::stable_sort(out.drops, [](const top_count& a, const top_count& b) {
    return a.per_second > b.per_second;
  });

  const auto& was = before.fib;
  const auto& is = after.fib;
  out.fib_entries = is.entries();
  out.fib_slots = is.slots();
  if (is.slots() > 0)
    out.fib_load = static_cast<double>(is.entries()) / static_cast<double>(is.slots());
  out.fib = {count("added", was.added(), is.added()), count("erased", was.erased(), is.erased()),
             count("aged_out", was.aged_out(), is.aged_out()),
             count("moved", was.moved(), is.moved()),
             count("refused", was.refused(), is.refused())};
  out.learning = {
      count("reports", was.reports(), is.reports()),
      count("ring_full", of(totals_before, "learn_ring_full"), of(totals, "learn_ring_full")),
      count("stale", was.reports_stale(), is.reports_stale()),
      count("limited", was.limited(), is.limited()),
      count("flapping", was.flapping(), is.flapping())};
  for (const v1::Bridge& each : after.bridges.bridges()) {
    out.bridges++;
    out.rules += each.flows();
    out.groups += each.groups();
    out.meters += each.meters();
  }
  return out;
}

const char* to_string(top_order order) {
  switch (order) {
    case top_order::name: return "name";
    case top_order::rx: return "rx";
    case top_order::tx: return "tx";
    case top_order::drops: return "drops";
  }
  return "";
}

void sort_ports(top_view& view, top_order order) {
  const auto key = [order](const top_port& port) {
    switch (order) {
      case top_order::rx: return port.rx_bps;
      case top_order::tx: return port.tx_bps;
      case top_order::drops: return port.drop_pps;
      default: return 0.0;
    }
  };
  std::ranges::sort(view.ports, [&](const top_port& a, const top_port& b) {
    return key(a) != key(b) ? key(a) > key(b) : a.name < b.name;
  });
}

json top_view::to_json() const {
  json of_ports = json::object();
  for (const top_port& port : ports) {
    json one = cli::to_json(port);
    one["link_up"] = port.is_up;
    one["link_mbps"] = port.mbps;
    one["learned"] = port.learned;
    of_ports[port.name] = std::move(one);
  }
  json of_workers = json::array();
  for (const top_worker& worker : workers) {
    json bursts_of = json::object();
    for (std::size_t i = 0; i < burst_classes; ++i)
      bursts_of[burst_class_names[i]] = worker.bursts.shares[i];
    of_workers.push_back({{"number", worker.number},
                          {"core", worker.core},
                          {"busy", worker.busy},
                          {"cycles_per_packet", worker.cycles_per_packet},
                          {"pps", worker.pps},
                          {"mean_burst", worker.bursts.mean},
                          {"bursts", std::move(bursts_of)}});
  }
  return {{"seconds", seconds},
          {"ports", std::move(of_ports)},
          {"totals", cli::to_json(all)},
          {"workers", std::move(of_workers)},
          {"drops", cli::to_json(drops)},
          {"fib",
           {{"entries", fib_entries},
            {"slots", fib_slots},
            {"load", fib_load},
            {"counters", cli::to_json(fib)}}},
          {"learning", cli::to_json(learning)},
          {"rules", rules},
          {"groups", groups},
          {"meters", meters}};
}

}  // namespace coua::cli
