// SPDX-License-Identifier: Apache-2.0
//
// Valid configurations for property tests, made member by member: what a writer or a comparison
// forgets shows.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ctl/config.h"
#include "ctl/openflow_rules.h"
#include "ctl/port_rules.h"

namespace coua::ctl::random {

// A half-open range. Half of all values are `likely`, the default mostly: what is left out of a
// file is tested, too.
template <typename Number>
Number number(Number low, Number end, Number likely) {
  return *rc::gen::oneOf(rc::gen::just(likely), rc::gen::inRange(low, end));
}

inline bool coin() { return *rc::gen::arbitrary<bool>(); }

/// With letters that YAML has a meaning for.
inline std::string text(std::size_t most, const std::string& letters) {
  const auto n = *rc::gen::inRange<std::size_t>(1, most + 1);
  return *rc::gen::container<std::string>(n, rc::gen::elementOf(letters));
}

inline std::string port_name() {
  if (coin())
    return *rc::gen::element<std::string>("p0", "p1", "null", "true", "1", "0x1", "_", ".5");
  return text(1, "abcXYZ019_.") + text(31, "abcXYZ019_.-");
}

inline std::string path() {
  return "/" + text(40, "ab/. :#\"'{}[],\\\t\x01\x7f&*!|>%@`~-\xc3\xa4") + "x";
}

inline std::string devargs() {
  return "n" + text(60, "abcnet_0123456789,=.:/-#'\"{}[]&*!|>%@`~\\");
}

inline dp::bond_config bond() {
  dp::bond_config out;
  out.mode = *rc::gen::element(dp::bond_mode::balance, dp::bond_mode::lacp, dp::bond_mode::backup);
  if (out.mode == dp::bond_mode::lacp)
    out.rate = *rc::gen::element(dp::lacp_rate::slow, dp::lacp_rate::fast);
  out.hash = *rc::gen::element(dp::bond_hash::l2, dp::bond_hash::l23, dp::bond_hash::l34);
  std::set<std::string> seen;
  const auto n = *rc::gen::inRange(1, 9);
  for (int i = 0; i < n; i++) {
    const std::string one = devargs();
    if (seen.insert(one.substr(0, one.find(','))).second) out.members.push_back(one);
  }
  if (out.mode != dp::bond_mode::backup)
    out.min_links = number(1u, static_cast<unsigned>(out.members.size()) + 1, 1u);
  return out;
}

inline flood_limit storm_limit() {
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return flood_limit::bits(
          number(flood_limit::bits_min, flood_limit::bits_max + 1, std::uint64_t{10'000'000}));
    case 1:
      return flood_limit::percent_hundredths(number<std::uint64_t>(1, flood_limit::whole + 1, 100));
    case 2: return flood_limit::block();
    default: return number<std::uint64_t>(0, flood_limit::packets_max + 1, 0);
  }
}

inline dp::port_config port() {
  dp::port_config out;
  out.name = port_name();
  if (*rc::gen::inRange(0, 4) == 0)
    out.bond = bond();
  else
    out.devargs = devargs();
  out.rx_queues = number(0u, 129u, 0u);
  out.tx_queues = number(0u, 129u, 0u);
  out.rx_descriptors = number(0u, 32769u, 0u);
  out.tx_descriptors = number(0u, 32769u, 0u);
  out.mtu = number(68u, 9601u, 1500u);
  out.promiscuous = coin();
  out.enabled = coin();
  out.learning = coin();
  out.mac_limit = number(std::uint64_t{0}, (std::uint64_t{1} << 40) + 1, std::uint64_t{0});
  out.mac_limit_action = *rc::gen::element(dp::limit_action::forward, dp::limit_action::drop,
                                           dp::limit_action::shutdown);
  out.storm.broadcast = storm_limit();
  out.storm.multicast = storm_limit();
  out.storm.unknown_unicast = storm_limit();
  out.storm.action = *rc::gen::element(dp::storm_action::drop, dp::storm_action::shutdown);
  out.recover_s = number(0u, 1'000'001u, 0u);
  if (coin()) {
    const auto names = [] {
      return *rc::gen::unique<std::vector<std::string>>(
          rc::gen::element<std::string>("a", "p0", "p1", "up.link-1"));
    };
    out.mirror.received = names();
    out.mirror.sent = names();
    out.mirror.vlans =
        *rc::gen::unique<std::vector<std::uint16_t>>(rc::gen::inRange<std::uint16_t>(1, 4095));
    std::erase(out.mirror.received, out.name);
    std::erase(out.mirror.sent, out.name);
    normalise_mirror(out.mirror);
  }
  out.local = !out.mirror.any() && *rc::gen::inRange(0, 8) == 0;
  if (out.mirror.any() && out.bond.mode == dp::bond_mode::lacp)  // which it cannot be
    out.bond.mode = dp::bond_mode::balance, out.bond.rate = dp::lacp_rate::slow;
  if (coin()) {
    out.native_vlan = number<std::uint16_t>(1, 4095, 1);
    return out;
  }
  out.mode = dp::vlan_mode::trunk;
  out.native_vlan = number<std::uint16_t>(0, 4095, 1);
  const std::uint16_t first = *rc::gen::inRange<std::uint16_t>(1, 4000);
  const std::uint16_t n = *rc::gen::inRange<std::uint16_t>(0, 30);
  for (std::uint16_t i = 0; i < n; i++)
    if (coin()) out.tagged.push_back(static_cast<std::uint16_t>(first + i));
  std::erase(out.tagged, out.native_vlan);
  if (out.tagged.empty() && out.native_vlan == 0) out.native_vlan = 1;
  return out;
}

inline bool has_local(const config& in, const std::string& bridge) {
  return std::ranges::any_of(
      in.ports, [&](const dp::port_config& each) { return each.local && each.bridge == bridge; });
}

/// What can change while a switch runs: bridges, ports, static entries, the ageing time. Few names
/// and devices, so that two of them have much in common.
inline config running(unsigned most_ports = 5, unsigned most_statics = 12) {
  config out;
  out.tables.ageing_s = *rc::gen::element(0u, 6u, 300u);
  if (coin()) {
    out.bridges.clear();
    for (const char* name : {"br0", "br1", "br2"})
      if (coin()) out.bridges.emplace_back().name = name;
    if (out.bridges.empty()) out.bridges.emplace_back().name = "br3";
    if (coin()) std::ranges::reverse(out.bridges);
  }
  // Few addresses, which go from one bridge to another.
  std::vector<std::string> listeners{"ptcp:1", "ptcp:2", "punix:/run/1", "punix:/run/2"};
  for (bridge_settings& each : out.bridges) {
    if (coin()) continue;
    const auto at = listeners.begin() + *rc::gen::inRange<long>(0, std::ssize(listeners));
    each.openflow.listen = {*at};
    listeners.erase(at);
  }
  const auto n = *rc::gen::inRange(0u, most_ports + 1);
  std::set<unsigned> devices;
  for (unsigned i = 0; i < n; i++) {
    dp::port_config one;
    one.name = "p" + std::to_string(i);
    const unsigned device = *rc::gen::inRange(0u, 8u);
    if (!devices.insert(device).second) continue;
    one.devargs = "net_null" + std::to_string(device);
    if (*rc::gen::inRange(0, 4) == 0) {
      one.bond.members = {std::exchange(one.devargs, ""), one.name + "-b"};
      one.bond.mode = *rc::gen::element(dp::bond_mode::balance, dp::bond_mode::backup);
      one.bond.hash = *rc::gen::element(dp::bond_hash::l2, dp::bond_hash::l34);
    }
    one.bridge = out.bridges[*rc::gen::inRange<std::size_t>(0, out.bridges.size())].name;
    one.local = *rc::gen::inRange(0, 3) == 0 && !has_local(out, one.bridge);
    one.native_vlan = *rc::gen::element<std::uint16_t>(1, 10);
    one.mtu = *rc::gen::element(1500u, 9000u);
    one.mac_limit_action = *rc::gen::element(dp::limit_action::forward, dp::limit_action::drop);
    one.storm.broadcast = *rc::gen::element<std::uint64_t>(0, 1000);
    out.ports.push_back(one);
  }
  if (coin()) std::ranges::reverse(out.ports);
  std::set<std::pair<std::string, std::uint64_t>> places;
  for (unsigned i = 0; i < most_statics && !out.ports.empty(); i++) {
    const std::uint64_t mac = 0x020000000000 + *rc::gen::inRange(0u, 20u);
    const auto& at = out.ports[*rc::gen::inRange<std::size_t>(0, out.ports.size())];
    if (places.emplace(at.bridge, mac).second)
      out.statics.push_back({at.native_vlan, mac, at.name});
  }
  return out;
}

inline openflow_config controllers() {
  openflow_config of;
  if (coin()) of.datapath_id = *rc::gen::arbitrary<std::uint64_t>() | 1;
  const std::vector<std::string> targets = {"tcp:10.0.0.1:6653", "tcp:[fd00::1]:6653",
                                            "unix:/run/x.sock"};
  for (const auto& each : targets)
    if (coin()) of.controllers.push_back(each);
  if (coin()) of.listen = {"ptcp:6653:127.0.0.1", "punix:/run/y.sock"};
  if (coin()) of.management = path();
  if (coin()) of.fail_mode = fail_mode::standalone;
  of.probe_s = number(1u, 3601u, 5u);
  of.backoff_max_s = number(1u, 3601u, 8u);
  for (std::uint8_t i = 0; i < 3; i++)
    if (coin()) {
      const std::string name = text(31, "ab 1#:{}[],\"\\'~-");
      if (check_new_table_name(name, of.table_names).empty()) of.table_names[i] = name;
    }
  return of;
}

/// But for its name.
inline bridge_settings bridge() {
  bridge_settings out;
  out.pipeline.start = coin() ? dp::first_rules::none : dp::first_rules::normal;
  out.pipeline.rules_max = number<std::uint64_t>(1, (1u << 24) + 1, 1'000'000);
  out.pipeline.packet_in_rate = number(1u, 1'000'001u, 1000u);
  out.pipeline.packet_in_burst = number(1u, 65'537u, 250u);
  if (coin()) {
    out.rules.given = true;
    out.pipeline.start = dp::first_rules::normal;  // which is then not said
    out.pipeline.rules_max = 1'000;
    if (coin())
      out.rules.flows = {"priority=0 actions=NORMAL", "tcp,in_port=3 actions=group:1,output:4"};
    if (coin()) out.rules.meters = {"meter=1 kbps bands= type=drop rate=1000"};
    if (coin() || !out.rules.flows.empty())
      out.rules.groups = {"group_id=2,type=all,bucket=actions=output:1",
                          "group_id=1,type=select,bucket=actions=group:2"};
  }
  out.openflow = controllers();
  return out;
}

/// One, or some with other names; no two of them at one place.
inline std::vector<bridge_settings> bridges() {
  std::vector<bridge_settings> all{bridge()};
  if (coin()) return all;
  std::set<std::string> names, sockets;
  std::set<std::uint64_t> ids;
  all.clear();
  const auto n = *rc::gen::inRange(1, 4);
  for (int i = 0; i < n; i++) {
    bridge_settings one = bridge();
    one.name = port_name();
    if (!names.insert(one.name).second) continue;
    if (!ids.insert(one.openflow.datapath_id).second) one.openflow.datapath_id = 0;
    if (!sockets.insert(normal_path(one.openflow.management)).second)
      one.openflow.management.clear();
    if (!all.empty()) one.openflow.listen.clear();
    all.push_back(one);
  }
  return all;
}

inline config whole() {
  config out;
  if (coin()) out.socket = path();
  if (coin()) out.metrics_listen = *rc::gen::element<std::string>("127.0.0.1:9107", "0.0.0.0:0");
  out.log =
      *rc::gen::element(log_level::error, log_level::warning, log_level::info, log_level::debug);
  out.huge_pages =
      *rc::gen::element(huge_page_mode::automatic, huge_page_mode::off, huge_page_mode::required);
  out.packet_mib = number(32u, 1u << 20, 512u);
  if (coin()) {
    out.cores = *rc::gen::unique<std::vector<unsigned>>(rc::gen::inRange(0u, 1024u));
  } else {
    out.worker_count = number(1u, 1025u, 1u);
  }
  out.pci = *rc::gen::element(pci_mode::automatic, pci_mode::on, pci_mode::off);
  if (coin()) out.eal_arguments = {text(20, "-ab=:#,{}'\""), "--log-level=pmd:debug"};
  if (!out.eal_arguments.empty() && (out.eal_arguments[0] == "-h")) out.eal_arguments.clear();
  dp::switch_config& t = out.tables;
  t.fib_entries = number<std::uint64_t>(1, (std::uint64_t{1} << 40) + 1, 1'000'000);
  t.fib_max_load = coin() ? 0.95 : 0.05 + 0.94 * (*rc::gen::inRange(0, 1'000'000) / 1e6);
  t.port_bits = number(4u, 17u, 10u);
  t.ageing_s = number(6u, 1'000'001u, 0u);
  t.fib_numa_node = number(-1, 64, -1);
  t.fib_huge_pages = out.huge_pages != huge_page_mode::off;
  t.idle = *rc::gen::element(dp::idle_mode::spin, dp::idle_mode::yield, dp::idle_mode::sleep);
  t.tx_flush_us = number(0u, 10'001u, 50u);
  t.burst = number(1u, 65u, 64u);
  t.mbufs = number(0u, (1u << 26) + 1, 0u);
  t.mbuf_bytes = number(128u, 65408u, 0u);
  out.bridges = bridges();
  for (bridge_settings& each : out.bridges) {
    std::string& management = each.openflow.management;
    if (normal_path(management) == normal_path(out.socket)) management.clear();
  }
  if (coin()) {
    out.tls = {path(), path(), path()};
    out.bridges[0].openflow.controllers.push_back("ssl:10.0.0.2:6653");
  }
  std::set<std::string> seen, devices;
  const auto n = *rc::gen::inRange(0, 6);
  for (int i = 0; i < n; i++) {
    dp::port_config one = port();
    one.bridge = out.bridges[*rc::gen::inRange<std::size_t>(0, out.bridges.size())].name;
    if (!seen.insert(one.name).second) continue;
    const auto is_new = [&](const std::string& each) {
      return devices.insert(device_of(each)).second;
    };
    if (has_local(out, one.bridge)) one.local = false;
    if (std::ranges::all_of(devices_of(one), is_new)) out.ports.push_back(one);
  }
  for (std::uint64_t i = 0; i < 5 && !out.ports.empty(); i++) {
    const auto& at = *rc::gen::elementOf(out.ports);
    const std::uint16_t vlan = number<std::uint16_t>(1, 4095, at.native_vlan);
    if (coin() && check_fib_vlan(at, vlan).empty())
      out.statics.push_back({vlan, 0x120000000000 + i, at.name});
  }
  return out;
}

}  // namespace coua::ctl::random
