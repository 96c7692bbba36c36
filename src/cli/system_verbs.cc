// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>

#include "cli/session.h"
#include "cli/top_view.h"
#include "cli/waiting.h"

namespace coua::cli {
namespace {

std::string fixed(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

json vlan_json(const v1::Vlan& vlan) {
  return {{"bridge", vlan.bridge()},
          {"vlan", vlan.vlan()},
          {"untagged", names_json(vlan.untagged())},
          {"tagged", names_json(vlan.tagged())},
          {"learned", vlan.learned()},
          {"counters", counters_json(vlan.counters())}};
}

std::string vlans_text(const v1::ListVlansResponse& vlans) {
  table out({"BRIDGE", "VLAN", "UNTAGGED", "TAGGED", "LEARNED"});
  for (const auto& vlan : vlans.vlans())
    out.add({vlan.bridge(), std::to_string(vlan.vlan()), joined(vlan.untagged()),
             joined(vlan.tagged()), grouped(vlan.learned())});
  return out.text();
}

result<v1::GetStatsResponse> read_stats(const session& s) {
  return s.daemon.call(s.daemon.system(), &v1::SystemService::Stub::GetStats,
                       v1::GetStatsRequest());
}

json rates_json(const top_port& port) {
  return {{"rx_pps", std::round(port.rx_pps)},
          {"tx_pps", std::round(port.tx_pps)},
          {"rx_bps", std::round(port.rx_bps)},
          {"tx_bps", std::round(port.tx_bps)},
          {"drop_pps", std::round(port.drop_pps)}};
}

result<void> run_rates(const session& s) {
  top_reading before, after;
  auto first = read_stats(s);
  if (!first) return tl::unexpected(first.error());
  before.stats = std::move(*first);
  if (s.daemon.wait(std::chrono::duration<double>(s.call.real("rate", 1))))
    return tl::unexpected(interrupted());
  auto last = read_stats(s);
  if (!last) return tl::unexpected(last.error());
  after.stats = std::move(*last);
  const top_view view = make_top_view(before, after);
  json ports = json::object();
  table text({"PORT", "RX PPS", "TX PPS", "RX MBIT/S", "TX MBIT/S", "DROPS/S"});
  const auto row = [&](const top_port& of) {
    const auto whole = [](double rate) {
      return grouped(static_cast<std::uint64_t>(std::llround(rate)));
    };
    text.add({of.name, whole(of.rx_pps), whole(of.tx_pps), fixed(of.rx_bps / 1e6, 1),
              fixed(of.tx_bps / 1e6, 1), whole(of.drop_pps)});
  };
  top_port all;
  all.name = "all";
  for (const top_port& port : view.ports) {
    ports[port.name] = rates_json(port);
    row(port);
    all.rx_pps += port.rx_pps;
    all.tx_pps += port.tx_pps;
    all.rx_bps += port.rx_bps;
    all.tx_bps += port.tx_bps;
    all.drop_pps += port.drop_pps;
  }
  row(all);
  s.answer({{"seconds", view.seconds}, {"ports", ports}, {"totals", rates_json(all)}}, text.text());
  return {};
}

}  // namespace

result<void> run_vlan_list(const session& s) {
  v1::ListVlansRequest request;
  request.set_bridge(s.call.text("bridge"));
  const auto got = s.daemon.call(s.daemon.system(), &v1::SystemService::Stub::ListVlans, request);
  if (!got) return tl::unexpected(got.error());
  json list = json::array();
  for (const auto& vlan : got->vlans()) list.push_back(vlan_json(vlan));
  s.answer({{"vlans", list}}, vlans_text(*got));
  return {};
}

result<void> run_vlan_show(const session& s) {
  v1::ListVlansRequest request;
  request.set_vlan(static_cast<std::uint32_t>(s.call.number("VLAN")));
  request.set_bridge(s.call.text("bridge"));
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
  std::vector<std::string> head = {"WORKER", "CORE", "NODE", "BUSY", "CYCLES/PACKET"};
  for (const std::string& each : burst_heads()) head.push_back(each);
  head.push_back("QUEUES");
  table text(head);
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
    std::vector<std::string> row = {
        std::to_string(worker.number()), std::to_string(worker.core()),
        worker.numa_node() < 0 ? "-" : std::to_string(worker.numa_node()),
        fixed(100 * worker.busy(), 1) + "%",
        worker.cycles_per_packet() > 0 ? fixed(worker.cycles_per_packet(), 1) : "-"};
    for (const std::string& each : burst_cells(bursts_between(nullptr, worker)))
      row.push_back(each);
    row.push_back(joined(worker.queues()));
    text.add(std::move(row));
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
  std::optional<v1::GetVersionResponse> got;
  const auto answers = [&]() -> result<bool> {
    auto said = s.daemon.call(s.daemon.system(), &v1::SystemService::Stub::GetVersion,
                              v1::GetVersionRequest());
    if (!said) return tl::unexpected(said.error());
    got = std::move(*said);
    return true;
  };
  if (auto looked = look_until(s, "the daemon does not answer", answers); !looked) return looked;
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
