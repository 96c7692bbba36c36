// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <map>
#include <thread>

#include "cli/session.h"

namespace coua::cli {
namespace {

std::string fixed(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

template <typename Names>
std::string joined(const Names& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : " ") + name;
  return out.empty() ? "-" : out;
}

template <typename Names>
json names_json(const Names& names) {
  json out = json::array();
  for (const auto& name : names) out.push_back(name);
  return out;
}

json vlan_json(const v1::Vlan& vlan) {
  return {{"vlan", vlan.vlan()},
          {"untagged", names_json(vlan.untagged())},
          {"tagged", names_json(vlan.tagged())},
          {"learned", vlan.learned()},
          {"counters", counters_json(vlan.counters())}};
}

std::string vlans_text(const v1::ListVlansResponse& vlans) {
  table out({"VLAN", "UNTAGGED", "TAGGED", "LEARNED"});
  for (const auto& vlan : vlans.vlans())
    out.add({std::to_string(vlan.vlan()), joined(vlan.untagged()), joined(vlan.tagged()),
             grouped(vlan.learned())});
  return out.text();
}

result<v1::GetStatsResponse> read_stats(const session& s) {
  return s.daemon.call(s.daemon.system(), &v1::SystemService::Stub::GetStats,
                       v1::GetStatsRequest());
}

// Counters of one port that a rate is made of.
struct sample {
  std::uint64_t rx_packets = 0, tx_packets = 0, rx_bytes = 0, tx_bytes = 0, drops = 0;
};

sample take_sample(const v1::PortCounters& port) {
  sample out;
  for (const auto& counter : port.counters()) {
    const std::string& name = counter.name();
    if (name == "rx_packets") out.rx_packets = counter.value();
    if (name == "tx_packets") out.tx_packets = counter.value();
    if (name == "rx_bytes") out.rx_bytes = counter.value();
    if (name == "tx_bytes") out.tx_bytes = counter.value();
    if (name.starts_with("drop_")) out.drops += counter.value();
  }
  return out;
}

struct rates {
  double rx_pps = 0, tx_pps = 0, rx_bps = 0, tx_bps = 0, drop_pps = 0;

  void add(const rates& other) {
    rx_pps += other.rx_pps;
    tx_pps += other.tx_pps;
    rx_bps += other.rx_bps;
    tx_bps += other.tx_bps;
    drop_pps += other.drop_pps;
  }
  json to_json() const {
    return {{"rx_pps", std::round(rx_pps)},
            {"tx_pps", std::round(tx_pps)},
            {"rx_bps", std::round(rx_bps)},
            {"tx_bps", std::round(tx_bps)},
            {"drop_pps", std::round(drop_pps)}};
  }
};

rates rates_of(const sample& before, const sample& after, double seconds) {
  // A port that was removed and added again starts at zero: no rate rather than a negative one.
  const auto rate = [seconds](std::uint64_t a, std::uint64_t b) {
    return b < a ? 0.0 : static_cast<double>(b - a) / seconds;
  };
  return {rate(before.rx_packets, after.rx_packets), rate(before.tx_packets, after.tx_packets),
          8 * rate(before.rx_bytes, after.rx_bytes), 8 * rate(before.tx_bytes, after.tx_bytes),
          rate(before.drops, after.drops)};
}

result<void> run_rates(const session& s) {
  const auto before = read_stats(s);
  if (!before) return tl::unexpected(before.error());
  std::this_thread::sleep_for(std::chrono::duration<double>(s.call.real("rate", 1)));
  const auto after = read_stats(s);
  if (!after) return tl::unexpected(after.error());
  const double seconds = static_cast<double>(after->time_ns() - before->time_ns()) * 1e-9;
  std::map<std::string, sample> first;
  for (const auto& port : before->ports()) first[port.port()] = take_sample(port);
  rates total;
  json ports = json::object();
  table text({"PORT", "RX PPS", "TX PPS", "RX MBIT/S", "TX MBIT/S", "DROPS/S"});
  const auto row = [&](const std::string& name, const rates& r) {
    text.add({name, grouped(static_cast<std::uint64_t>(std::llround(r.rx_pps))),
              grouped(static_cast<std::uint64_t>(std::llround(r.tx_pps))), fixed(r.rx_bps / 1e6, 1),
              fixed(r.tx_bps / 1e6, 1),
              grouped(static_cast<std::uint64_t>(std::llround(r.drop_pps)))});
  };
  for (const auto& port : after->ports()) {
    if (!first.contains(port.port())) continue;
    const rates r = rates_of(first[port.port()], take_sample(port), seconds);
    total.add(r);
    ports[port.port()] = r.to_json();
    row(port.port(), r);
  }
  row("all", total);
  s.answer({{"seconds", seconds}, {"ports", ports}, {"totals", total.to_json()}}, text.text());
  return {};
}

}  // namespace

result<void> run_vlan_list(const session& s) {
  const auto got =
      s.daemon.call(s.daemon.system(), &v1::SystemService::Stub::ListVlans, v1::ListVlansRequest());
  if (!got) return tl::unexpected(got.error());
  json list = json::array();
  for (const auto& vlan : got->vlans()) list.push_back(vlan_json(vlan));
  s.answer({{"vlans", list}}, vlans_text(*got));
  return {};
}

result<void> run_vlan_show(const session& s) {
  v1::ListVlansRequest request;
  request.set_vlan(static_cast<std::uint32_t>(s.call.number("VLAN")));
  const auto got = s.daemon.call(s.daemon.system(), &v1::SystemService::Stub::ListVlans, request);
  if (!got) return tl::unexpected(got.error());
  if (got->vlans_size() != 1) return fail(errc::io, "couad", "answered with another VLAN");
  s.answer({{"vlan", vlan_json(got->vlans(0))}},
           vlans_text(*got) + counters_text(got->vlans(0).counters()));
  return {};
}

result<void> run_stats(const session& s) {
  if (s.call.has("rate")) return run_rates(s);
  const auto got = read_stats(s);
  if (!got) return tl::unexpected(got.error());
  json ports = json::object();
  std::string text;
  for (const auto& port : got->ports()) {
    ports[port.port()] = counters_json(port.counters());
    text += "port " + port.port() + "\n" + counters_text(port.counters());
  }
  text += "all\n" + counters_text(got->totals());
  s.answer({{"totals", counters_json(got->totals())}, {"ports", ports}}, text);
  return {};
}

result<void> run_worker_list(const session& s) {
  const auto got = s.daemon.call(s.daemon.system(), &v1::SystemService::Stub::ListWorkers,
                                 v1::ListWorkersRequest());
  if (!got) return tl::unexpected(got.error());
  json list = json::array();
  table text({"WORKER", "CORE", "NODE", "BUSY", "CYCLES/PACKET", "QUEUES"});
  for (const auto& worker : got->workers()) {
    json histogram = json::array();
    for (std::uint64_t n : worker.burst_histogram()) histogram.push_back(n);
    list.push_back({{"number", worker.number()},
                    {"core", worker.core()},
                    {"numa_node", worker.numa_node()},
                    {"queues", names_json(worker.queues())},
                    {"cycles_per_packet", worker.cycles_per_packet()},
                    {"busy", worker.busy()},
                    {"burst_histogram", histogram},
                    {"counters", counters_json(worker.counters())}});
    text.add({std::to_string(worker.number()), std::to_string(worker.core()),
              worker.numa_node() < 0 ? "-" : std::to_string(worker.numa_node()),
              fixed(100 * worker.busy(), 1) + "%",
              worker.cycles_per_packet() > 0 ? fixed(worker.cycles_per_packet(), 1) : "-",
              joined(worker.queues())});
  }
  s.answer({{"workers", list}}, text.text());
  return {};
}

result<void> run_log_level(const session& s) {
  v1::SetLogLevelRequest request;
  if (s.call.has("LEVEL")) request.set_level(s.call.text("LEVEL"));
  const auto got = s.daemon.call(s.daemon.system(), &v1::SystemService::Stub::SetLogLevel, request);
  if (!got) return tl::unexpected(got.error());
  const bool changed = got->level() != got->before();
  const json object = {{"level", got->level()}};
  if (request.has_level()) {
    s.answer_change(object, changed, "log level", got->level() + ", was " + got->before());
  } else {
    s.answer({{"level", got->level()}, {"changed", false}}, got->level() + "\n");
  }
  return {};
}

result<void> run_version(const session& s) {
  const auto got = s.daemon.call(s.daemon.system(), &v1::SystemService::Stub::GetVersion,
                                 v1::GetVersionRequest());
  if (!got) return tl::unexpected(got.error());
  const json daemon = {{"version", got->version()},
                       {"description", got->description()},
                       {"uptime_s", got->uptime_s()},
                       {"pid", got->pid()},
                       {"config", got->config()}};
  s.answer({{"client", COUA_VERSION}, {"daemon", daemon}},
           std::string("coua  ") + COUA_VERSION + "\ncouad " + got->version() + ", process " +
               std::to_string(got->pid()) + ", up " + std::to_string(got->uptime_s()) + " s\n" +
               got->description() + "\n" +
               (got->config().empty() ? "" : "started with " + got->config() + "\n"));
  return {};
}

}  // namespace coua::cli
