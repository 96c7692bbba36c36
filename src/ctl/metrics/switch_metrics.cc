// SPDX-License-Identifier: Apache-2.0
#include "ctl/metrics/switch_metrics.h"

#include <deque>
#include <limits>
#include <map>
#include <utility>

#include "ctl/port_rules.h"
#include "ctl/running_bridges.h"

namespace coua::ctl {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using labels = std::vector<ClientMetric::Label>;

// Families in the order in which they were first named; a name has one type and one help.
class families {
 public:
  void counter(const std::string& name, const std::string& help, labels of, std::uint64_t value) {
    add("coua_" + name + "_total", help, MetricType::Counter, std::move(of)).counter.value =
        static_cast<double>(value);
  }
  void gauge(const std::string& name, const std::string& help, labels of, double value) {
    add("coua_" + name, help, MetricType::Gauge, std::move(of)).gauge.value = value;
  }
  void gauge(const std::string& name, const std::string& help, labels of, std::uint64_t value) {
    gauge(name, help, std::move(of), static_cast<double>(value));
  }
  /// `counts[i]`: how often the value was i.
  void histogram(const std::string& name, const std::string& help, labels of,
                 const std::vector<std::uint64_t>& counts) {
    auto& made = add("coua_" + name, help, MetricType::Histogram, std::move(of)).histogram;
    std::size_t next_bound = 1;
    const auto close = [&](double bound) { made.bucket.push_back({made.sample_count, bound}); };
    for (std::size_t value = 0; value < counts.size(); value++) {
      made.sample_count += counts[value];
      made.sample_sum += static_cast<double>(value * counts[value]);
      if (value == 0) close(0);
      if (value == next_bound) {
        close(static_cast<double>(value));
        next_bound *= 2;
      }
    }
    close(std::numeric_limits<double>::infinity());
  }
  /// A list of named counters, each under its name.
  void counters(const std::string& of, const labels& which, const std::vector<dp::counter>& list) {
    for (const auto& one : list)
      counter(of + "_" + one.name, "Counter " + one.name + " of a " + of, which, one.value);
  }

  std::vector<MetricFamily> take() {
    return {std::make_move_iterator(all_.begin()), std::make_move_iterator(all_.end())};
  }

 private:
  ClientMetric& add(const std::string& name, const std::string& help, MetricType type, labels of) {
    const auto [at, is_new] = by_name_.try_emplace(name, nullptr);
    if (is_new) at->second = &all_.emplace_back(MetricFamily{name, help, type, {}});
    at->second->metric.emplace_back().label = std::move(of);
    return at->second->metric.back();
  }

  std::deque<MetricFamily> all_;  // which does not move what it holds
  std::map<std::string, MetricFamily*> by_name_;
};

void add_ports(const dp::l2_switch& from, families& to) {
  for (const auto& port : from.ports()) {
    const labels which{{"port", port.config.name}};
    to.gauge(
        "port_up", "1: administratively up, and its link is", which,
        std::uint64_t{port.config.enabled && port.shut_down.empty() && port.link_up && !port.lost});
    to.gauge("port_enabled", "1: the configuration wants it up", which,
             std::uint64_t{port.config.enabled});
    to.gauge("port_shut_down", "1: the switch has shut it down", which,
             std::uint64_t{!port.shut_down.empty()});
    to.gauge("port_recovers_in_seconds",
             "Until it comes back by itself; 0: it is not shut down, or stays so", which,
             std::uint64_t{port.recovers_in_s});
    to.gauge("port_lost", "1: its device went away", which, std::uint64_t{port.lost});
    to.gauge("port_link_mbps", "Of the link; 0: unknown", which, std::uint64_t{port.link_mbps});
    to.gauge("port_learned", "Addresses that are learned on it", which, port.learned);
    to.gauge("port_mac_limit", "Addresses that may be learned on it; 0: no limit", which,
             port.config.mac_limit);
    for (std::size_t m = 0; m < port.members.size(); m++) {
      const dp::member_status& member = port.members[m];
      const labels of{{"port", port.config.name},
                      {"member", std::to_string(m)},
                      {"device", device_of(member.devargs)}};
      const bool is_up = member.active || member.state == "standby";
      to.gauge("port_member_up", "1: this member of a bond is in use, or ready to be", of,
               std::uint64_t{is_up});
      to.gauge("port_member_active", "1: frames are taken from it and sent by it", of,
               std::uint64_t{member.active});
      if (member.lacp) {
        to.counter("port_member_lacp_received", "LACPDUs", of, member.lacp->received);
        to.counter("port_member_lacp_sent", "LACPDUs", of, member.lacp->sent);
        to.counter("port_member_lacp_malformed", "Frames of LACP that are none", of,
                   member.lacp->malformed);
      }
      to.counter("port_member_rx_packets", "That the member's device has counted", of,
                 member.rx_packets);
      to.counter("port_member_tx_packets", "That the member's device has counted", of,
                 member.tx_packets);
    }
    if (const auto counters = from.port_counters(port.config.name))
      to.counters("port", which, *counters);
  }
}

void add_vlans(const dp::l2_switch& from, families& to) {
  for (const auto& vlan : from.vlans()) {
    const labels which{{"bridge", vlan.bridge}, {"vlan", std::to_string(vlan.vlan)}};
    to.gauge("vlan_ports", "Members, tagged and untagged", which,
             std::uint64_t{vlan.tagged.size() + vlan.untagged.size()});
    to.gauge("vlan_learned", "Addresses that are learned in it", which, vlan.learned);
    to.counters("vlan", which, vlan.counters);
  }
}

void add_workers(const dp::l2_switch& from, families& to) {
  for (const auto& worker : from.workers()) {
    const labels which{{"worker", std::to_string(worker.number)},
                       {"core", std::to_string(worker.core)}};
    to.gauge("worker_cycles_per_packet", "Over the last second; 0: no packets", which,
             worker.cycles_per_packet);
    to.gauge("worker_busy_ratio", "Share of its cycles that found packets, over the last second",
             which, worker.busy);
    to.histogram("worker_burst_packets", "Packets in a burst", which, worker.burst_histogram);
    to.counters("worker", which, worker.counters);
  }
}

void add_fib(const dp::fib_status& fib, families& to) {
  to.gauge("fib_entries", "Now in the table", {}, fib.entries);
  to.gauge("fib_slots", "Entries that it has room for, at a load of 1", {}, fib.slots);
  to.gauge("fib_statics", "Static entries", {}, fib.statics);
  to.gauge("fib_in_secondary", "Entries in their secondary bucket", {}, fib.in_secondary);
  to.gauge("fib_bytes", "Memory of the table", {}, fib.bytes);
  to.gauge("fib_ageing_seconds", "After which an entry that was not seen goes; 0: never", {},
           std::uint64_t{fib.ageing_s});
  const std::pair<const char*, std::uint64_t> counted[] = {
      {"added", fib.added},
      {"updated", fib.updated},
      {"erased", fib.erased},
      {"aged_out", fib.aged_out},
      {"refused", fib.refused},
      {"moves", fib.moves},
      {"retries", fib.retries},
      {"reports", fib.reports},
      {"reports_dropped", fib.reports_dropped},
      {"reports_stale", fib.reports_stale},
      {"moved", fib.moved},
      {"flapping", fib.flapping},
      {"limited", fib.limited},
  };
  for (const auto& [name, value] : counted)
    to.counter(std::string("fib_") + name, std::string("Counter ") + name + " of `coua fib stats`",
               {}, value);
}

labels with(labels all, const labels& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

void add_pipeline(pipeline_control& from, const labels& bridge, families& to) {
  const pipeline_status now = from.status();
  to.gauge("pipeline_rules", "Rules in all tables", bridge, now.rules);
  to.gauge("pipeline_rules_max", "Rules that all tables may have", bridge, from.rules_max());
  to.gauge("pipeline_groups", "Groups", bridge, now.groups);
  to.gauge("pipeline_meters", "Meters", bridge, now.meters);
  to.gauge("pipeline_version", "Versions of the rules, counted from the start", bridge,
           now.version);
  for (const auto& table : now.tables) {
    const labels which = with(bridge, {{"table", std::to_string(table.id)}});
    to.gauge("table_rules", "Rules in a table", which, table.rules);
    to.counter("table_lookups", "Packets that were looked up in a table", which, table.lookups);
    to.counter("table_matches", "Packets that a rule of a table matched", which, table.matches);
  }
  for (const auto& drop : now.drops)
    to.counter("pipeline_drops", "Packets that the pipeline dropped, by reason",
               with(bridge, {{"reason", drop.why}}), drop.packets);
}

/// Groups and meters are as many as somebody made, and each is some lines here: the first ones by
/// number have them.
constexpr std::size_t groups_told = 1000, buckets_told = 8000, meters_told = 1000;

void add_traffic(const std::string& name, const std::string& what, const labels& which,
                 const pipeline::traffic& counted, families& to) {
  to.counter(name + "_packets", "Packets " + what, which, counted.packets);
  to.counter(name + "_bytes", "Bytes " + what, which, counted.bytes);
}

void add_groups(pipeline_control& from, const labels& bridge, families& to) {
  std::size_t n_groups = 0, n_buckets = 0;
  from.dump_groups(0, [&](std::span<const group_record> some) {
    for (const group_record& one : some) {
      n_buckets += one.state.buckets.size();
      if (++n_groups > groups_told || n_buckets > buckets_told) return false;
      const std::string id = std::to_string(one.group->id);
      const labels which = with(bridge, {{"group", id}});
      to.gauge("group_references", "Rules and groups that lead to a group", which,
               std::uint64_t{one.state.n_rules + one.state.n_groups});
      add_traffic("group", "that came to a group", which, one.state.counted, to);
      for (std::size_t i = 0; i < one.state.buckets.size(); ++i)
        add_traffic("group_bucket", "that a bucket of a group took",
                    with(which, {{"bucket", std::to_string(i)}}), one.state.buckets[i], to);
    }
    return true;
  });
}

void add_meters(pipeline_control& from, const labels& bridge, families& to) {
  std::size_t n_meters = 0;
  from.dump_meters(0, [&](std::span<const meter_record> some) {
    for (const meter_record& one : some) {
      if (++n_meters > meters_told) return false;
      const std::string id = std::to_string(one.meter->id);
      const labels which = with(bridge, {{"meter", id}});
      to.gauge("meter_flows", "Rules that send packets through a meter", which,
               std::uint64_t{one.state.n_rules});
      add_traffic("meter", "that came to a meter", which, one.state.counted, to);
      for (std::size_t i = 0; i < one.state.bands.size(); ++i)
        add_traffic("meter_band", "that a band of a meter took",
                    with(which, {{"band", std::to_string(i)}}), one.state.bands[i], to);
    }
    return true;
  });
}

/// Those of the configuration: who comes to the switch may be many, and short. Nothing, where their
/// thread has no time.
void add_controllers(controller_list& from, const labels& bridge, families& to) {
  const auto now = from.controllers();
  if (!now) return;
  std::uint64_t others = 0;
  for (const controller_state& each : now->all) {
    if (each.origin != controller_origin::configured) {
      ++others;
      continue;
    }
    const labels which = with(bridge, {{"target", each.target}});
    to.gauge("controller_connected", "1: the bridge is connected to it", which,
             std::uint64_t{each.connected});
    to.counter("controller_connections", "How often the bridge was connected to it", which,
               each.connections);
    to.counter("controller_received", "Messages that it sent", which, each.received);
    to.counter("controller_sent", "Messages that were sent to it", which, each.sent);
  }
  to.gauge("openflow_others", "Connections to the bridge that are open now", bridge, others);
  to.gauge("openflow_standalone",
           "1: no controller is there, and the bridge forwards by itself (fail-standalone)", bridge,
           std::uint64_t{now->standalone});
}

}  // namespace

switch_metrics::switch_metrics(const dp::l2_switch& sw, const running_bridges& bridges,
                               std::string version)
    : switch_(sw), bridges_(bridges), version_(std::move(version)) {}

std::vector<MetricFamily> switch_metrics::Collect() const {
  families made;
  made.gauge("build_info", "1, with the version of couad", {{"version", version_}}, 1.0);
  made.gauge("start_time_seconds", "When couad started, since 1970-01-01", {}, started_s_);
  add_ports(switch_, made);
  add_vlans(switch_, made);
  add_workers(switch_, made);
  add_fib(switch_.fib(), made);
  bridges_.each({}, [&](const held_bridge& one) {
    const labels bridge{{"bridge", one.name}};
    add_pipeline(one.pipeline(), bridge, made);
    add_groups(one.pipeline(), bridge, made);
    add_meters(one.pipeline(), bridge, made);
    add_controllers(one.served->controllers(), bridge, made);
  });
  return made.take();
}

}  // namespace coua::ctl
