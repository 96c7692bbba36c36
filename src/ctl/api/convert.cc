// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/convert.h"

#include <algorithm>

#include "base/nearest.h"
#include "ctl/port_rules.h"
#include "ctl/ranges.h"
#include "dp/pipeline/port_numbers.h"
#include "net/mac.h"

namespace coua::ctl {
namespace {

// Numbers that a 16-bit VLAN cannot hold must not wrap into valid ones.
std::uint16_t saturate(std::uint32_t vlan) {
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(vlan, UINT16_MAX));
}

/// False: a range is wrong, or is one too many.
bool take_ranges(const google::protobuf::RepeatedPtrField<v1::VlanRange>& from,
                 const std::string& field, std::vector<std::uint16_t>& to,
                 std::vector<field_problem>& problems) {
  for (int i = 0; i < from.size(); i++) {
    const std::uint32_t first = from.at(i).first();
    const std::uint32_t last = from.at(i).last() == 0 ? first : from.at(i).last();
    if (first < limits::vlan_min || last > limits::vlan_max || first > last ||
        to.size() > limits::vlan_max) {
      problems.push_back({field + "[" + std::to_string(i) + "]",
                          std::to_string(first) + "-" + std::to_string(last) +
                              " is not a range within 1 to 4094, or is one too many"});
      return false;
    }
    for (std::uint32_t vlan = first; vlan <= last; vlan++)
      to.push_back(static_cast<std::uint16_t>(vlan));
  }
  return true;
}

void apply_vlans(const v1::PortVlans& vlans, dp::port_config& port,
                 std::vector<field_problem>& problems) {
  const bool trunk = vlans.mode() == v1::VLAN_MODE_TRUNK ||
                     (vlans.mode() == v1::VLAN_MODE_UNSPECIFIED && vlans.tagged_size() > 0);
  if (!v1::VlanMode_IsValid(vlans.mode()))
    problems.push_back({"vlans.mode", std::to_string(vlans.mode()) + " is not a mode"});
  port.mode = trunk ? dp::vlan_mode::trunk : dp::vlan_mode::access;
  port.native_vlan = vlans.has_native() ? saturate(vlans.native()) : 1;
  port.tagged.clear();
  if (!take_ranges(vlans.tagged(), "vlans.tagged", port.tagged, problems)) return;
  normalise_vlans(port.tagged);
}

flood_limit to_limit(const v1::FloodLimit& from, const char* field,
                     std::vector<field_problem>& problems) {
  switch (from.limit_case()) {
    case v1::FloodLimit::kPacketsPerSecond: return from.packets_per_second();
    case v1::FloodLimit::kBitsPerSecond: return flood_limit::bits(from.bits_per_second());
    case v1::FloodLimit::kPercentHundredths:
      return flood_limit::percent_hundredths(from.percent_hundredths());
    case v1::FloodLimit::kBlock:
      if (from.block()) return flood_limit::block();
      break;
    case v1::FloodLimit::LIMIT_NOT_SET: break;
  }
  problems.push_back({field, "says no limit; 0 packets a second stands for none"});
  return {};
}

/// What is not said stays.
void apply_storm(const v1::StormLimits& from, dp::storm_limits& to,
                 std::vector<field_problem>& problems) {
  if (from.has_broadcast()) to.broadcast = to_limit(from.broadcast(), "storm.broadcast", problems);
  if (from.has_multicast()) to.multicast = to_limit(from.multicast(), "storm.multicast", problems);
  if (from.has_unknown_unicast())
    to.unknown_unicast = to_limit(from.unknown_unicast(), "storm.unknown_unicast", problems);
  switch (from.action()) {
    case v1::STORM_ACTION_UNSPECIFIED: return;
    case v1::STORM_ACTION_DROP: to.action = dp::storm_action::drop; return;
    case v1::STORM_ACTION_SHUTDOWN: to.action = dp::storm_action::shutdown; return;
    default:
      problems.push_back({"storm.action", std::to_string(from.action()) + " is not an action"});
  }
}

void to_message(const flood_limit& limit, v1::FloodLimit& out) {
  switch (limit.unit) {
    case flood_limit::units::packets: return out.set_packets_per_second(limit.value);
    case flood_limit::units::bits: return out.set_bits_per_second(limit.value);
    case flood_limit::units::percent:
      return out.set_percent_hundredths(static_cast<std::uint32_t>(limit.value));
    case flood_limit::units::block: return out.set_block(true);
  }
}

void apply_mirror(const v1::MirrorSources& from, dp::mirror_sources& to,
                  std::vector<field_problem>& problems) {
  to.received.assign(from.received().begin(), from.received().end());
  to.sent.assign(from.sent().begin(), from.sent().end());
  to.vlans.clear();
  take_ranges(from.vlans(), "mirror.vlans", to.vlans, problems);
  normalise_mirror(to);
}

/// What is not said stays.
void apply_bond(const v1::Bond& from, dp::bond_config& to, std::vector<field_problem>& problems) {
  switch (from.mode()) {
    case v1::BOND_MODE_UNSPECIFIED: break;
    case v1::BOND_MODE_STATIC: to.mode = dp::bond_mode::balance; break;
    case v1::BOND_MODE_LACP: to.mode = dp::bond_mode::lacp; break;
    case v1::BOND_MODE_BACKUP: to.mode = dp::bond_mode::backup; break;
    default: problems.push_back({"bond.mode", std::to_string(from.mode()) + " is not a mode"});
  }
  switch (from.hash()) {
    case v1::BOND_HASH_UNSPECIFIED: break;
    case v1::BOND_HASH_L2: to.hash = dp::bond_hash::l2; break;
    case v1::BOND_HASH_L23: to.hash = dp::bond_hash::l23; break;
    case v1::BOND_HASH_L34: to.hash = dp::bond_hash::l34; break;
    default: problems.push_back({"bond.hash", std::to_string(from.hash()) + " is not a hash"});
  }
  switch (from.rate()) {
    case v1::LACP_RATE_UNSPECIFIED: break;
    case v1::LACP_RATE_SLOW: to.rate = dp::lacp_rate::slow; break;
    case v1::LACP_RATE_FAST: to.rate = dp::lacp_rate::fast; break;
    default: problems.push_back({"bond.rate", std::to_string(from.rate()) + " is not a rate"});
  }
  // Another mode has none.
  if (to.mode != dp::bond_mode::lacp && from.rate() == v1::LACP_RATE_UNSPECIFIED)
    to.rate = dp::lacp_rate::slow;
  if (from.has_min_links())
    to.min_links = from.min_links();
  else if (to.mode == dp::bond_mode::backup)
    to.min_links = 1;
  if (from.members_size() > 0) to.members.assign(from.members().begin(), from.members().end());
  if (!to.any()) problems.push_back({"bond.members", "is empty; a bond has members"});
}

void to_message(const dp::bond_config& bond, v1::Bond& out) {
  out.set_mode(bond.mode == dp::bond_mode::backup ? v1::BOND_MODE_BACKUP
               : bond.mode == dp::bond_mode::lacp ? v1::BOND_MODE_LACP
                                                  : v1::BOND_MODE_STATIC);
  out.set_min_links(bond.min_links);
  out.set_rate(bond.rate == dp::lacp_rate::fast ? v1::LACP_RATE_FAST : v1::LACP_RATE_SLOW);
  out.set_hash(bond.hash == dp::bond_hash::l2    ? v1::BOND_HASH_L2
               : bond.hash == dp::bond_hash::l23 ? v1::BOND_HASH_L23
                                                 : v1::BOND_HASH_L34);
  for (const std::string& each : bond.members) out.add_members(each);
}

std::string mac_text(const std::uint8_t (&bytes)[6]) {
  std::uint64_t mac = 0;
  for (const std::uint8_t byte : bytes) mac = mac << 8 | byte;
  return net::format_mac(mac);
}

void to_message(const dp::member_status& member, v1::BondMember& out) {
  out.set_devargs(member.devargs);
  out.set_driver(member.driver);
  out.set_mac(mac_text(member.mac));
  out.set_link_up(member.link_up);
  out.set_link_mbps(member.link_mbps);
  out.set_active(member.active);
  out.set_state(member.state);
  out.set_rx_packets(member.rx_packets);
  out.set_tx_packets(member.tx_packets);
  if (!member.lacp) return;
  v1::LacpMember& lacp = *out.mutable_lacp();
  const std::string partner = mac_text(member.lacp->partner_system);
  if (partner != "00:00:00:00:00:00") lacp.set_partner_system(partner);
  lacp.set_partner_key(member.lacp->partner_key);
  lacp.set_partner_port(member.lacp->partner_port);
  lacp.set_actor_flags(member.lacp->actor_flags);
  lacp.set_partner_flags(member.lacp->partner_flags);
  lacp.set_received(member.lacp->received);
  lacp.set_sent(member.lacp->sent);
  lacp.set_malformed(member.lacp->malformed);
}

void to_message(const std::vector<std::uint16_t>& sorted,
                google::protobuf::RepeatedPtrField<v1::VlanRange>& out) {
  for (const std::uint16_t vlan : sorted) {
    const int n = out.size();
    if (n > 0 && out.at(n - 1).last() + 1 == vlan) {
      out.at(n - 1).set_last(vlan);
    } else {
      auto* range = out.Add();
      range->set_first(vlan);
      range->set_last(vlan);
    }
  }
}

void apply_action(v1::MacLimitAction from, dp::port_config& to,
                  std::vector<field_problem>& problems) {
  switch (from) {
    case v1::MAC_LIMIT_ACTION_UNSPECIFIED:
    case v1::MAC_LIMIT_ACTION_FORWARD: to.mac_limit_action = dp::limit_action::forward; return;
    case v1::MAC_LIMIT_ACTION_DROP: to.mac_limit_action = dp::limit_action::drop; return;
    case v1::MAC_LIMIT_ACTION_SHUTDOWN: to.mac_limit_action = dp::limit_action::shutdown; return;
    default: problems.push_back({"mac_limit_action", std::to_string(from) + " is not an action"});
  }
}

v1::MacLimitAction to_message(dp::limit_action action) {
  switch (action) {
    case dp::limit_action::drop: return v1::MAC_LIMIT_ACTION_DROP;
    case dp::limit_action::shutdown: return v1::MAC_LIMIT_ACTION_SHUTDOWN;
    case dp::limit_action::forward: break;
  }
  return v1::MAC_LIMIT_ACTION_FORWARD;
}

// The first problem with its field as the place; the others follow in the text.
result<dp::port_config> checked(dp::port_config port, std::vector<field_problem> problems) {
  if (problems.empty()) problems = check_port(port);
  if (problems.empty()) return port;
  std::string what = problems[0].reason;
  for (std::size_t i = 1; i < problems.size(); i++)
    what += "; " + problems[i].field + ": " + problems[i].reason;
  return fail(errc::invalid, problems[0].field, what);
}

}  // namespace

result<dp::port_config> to_port_config(const v1::PortSpec& spec) {
  dp::port_config port;
  std::vector<field_problem> problems;
  port.name = spec.name();
  port.bridge = spec.bridge();
  port.devargs = spec.devargs();
  port.local = spec.local();
  port.rx_queues = spec.rx_queues();
  port.tx_queues = spec.tx_queues();
  port.rx_descriptors = spec.rx_descriptors();
  port.tx_descriptors = spec.tx_descriptors();
  if (spec.mtu() != 0) port.mtu = spec.mtu();
  if (spec.has_promiscuous()) port.promiscuous = spec.promiscuous();
  if (spec.has_enabled()) port.enabled = spec.enabled();
  if (spec.has_learning()) port.learning = spec.learning();
  port.mac_limit = spec.mac_limit();
  apply_action(spec.mac_limit_action(), port, problems);
  port.recover_s = spec.recover_s();
  apply_storm(spec.storm(), port.storm, problems);
  apply_mirror(spec.mirror(), port.mirror, problems);
  if (spec.has_bond()) apply_bond(spec.bond(), port.bond, problems);
  if (spec.has_vlans()) apply_vlans(spec.vlans(), port, problems);
  return checked(std::move(port), std::move(problems));
}

result<dp::port_config> with_changes(dp::port_config base, const v1::SetPortRequest& change) {
  std::vector<field_problem> problems;
  if (change.has_mtu()) base.mtu = change.mtu();
  if (change.has_promiscuous()) base.promiscuous = change.promiscuous();
  if (change.has_enabled()) base.enabled = change.enabled();
  if (change.has_learning()) base.learning = change.learning();
  if (change.has_mac_limit()) base.mac_limit = change.mac_limit();
  if (change.has_mac_limit_action()) apply_action(change.mac_limit_action(), base, problems);
  if (change.has_recover_s()) base.recover_s = change.recover_s();
  apply_storm(change.storm(), base.storm, problems);
  if (change.has_mirror()) apply_mirror(change.mirror(), base.mirror, problems);
  if (change.has_vlans()) apply_vlans(change.vlans(), base, problems);
  if (change.has_bond() && !base.bond.any())
    problems.push_back({"bond", "the port is none"});
  else if (change.has_bond())
    apply_bond(change.bond(), base.bond, problems);
  return checked(std::move(base), std::move(problems));
}

void to_message(const dp::port_status& port, v1::Port& out) {
  const dp::port_config& config = port.config;
  v1::PortSpec& spec = *out.mutable_spec();
  spec.set_name(config.name);
  spec.set_bridge(config.bridge);
  spec.set_devargs(config.devargs);
  spec.set_local(config.local);
  spec.set_rx_queues(config.rx_queues);
  spec.set_tx_queues(config.tx_queues);
  spec.set_rx_descriptors(config.rx_descriptors);
  spec.set_tx_descriptors(config.tx_descriptors);
  spec.set_mtu(config.mtu);
  spec.set_promiscuous(config.promiscuous);
  spec.set_enabled(config.enabled);
  spec.set_learning(config.learning);
  spec.set_mac_limit(config.mac_limit);
  spec.set_mac_limit_action(to_message(config.mac_limit_action));
  v1::StormLimits& storm = *spec.mutable_storm();
  to_message(config.storm.broadcast, *storm.mutable_broadcast());
  to_message(config.storm.multicast, *storm.mutable_multicast());
  to_message(config.storm.unknown_unicast, *storm.mutable_unknown_unicast());
  const bool shuts = config.storm.action == dp::storm_action::shutdown;
  storm.set_action(shuts ? v1::STORM_ACTION_SHUTDOWN : v1::STORM_ACTION_DROP);
  spec.set_recover_s(config.recover_s);
  v1::PortVlans& vlans = *spec.mutable_vlans();
  const bool trunk = config.mode == dp::vlan_mode::trunk;
  vlans.set_mode(trunk ? v1::VLAN_MODE_TRUNK : v1::VLAN_MODE_ACCESS);
  vlans.set_native(config.native_vlan);
  if (trunk) to_message(config.tagged, *vlans.mutable_tagged());
  if (config.mirror.any()) {
    v1::MirrorSources& mirror = *spec.mutable_mirror();
    for (const std::string& each : config.mirror.received) mirror.add_received(each);
    for (const std::string& each : config.mirror.sent) mirror.add_sent(each);
    to_message(config.mirror.vlans, *mirror.mutable_vlans());
  }
  if (config.bond.any()) to_message(config.bond, *spec.mutable_bond());
  for (const dp::member_status& each : port.members) to_message(each, *out.add_members());
  out.set_driver(port.driver);
  out.set_mac(mac_text(port.mac));
  out.set_numa_node(port.numa_node);
  out.set_link_up(port.link_up);
  out.set_link_mbps(port.link_mbps);
  out.set_rx_queues(port.rx_queues);
  out.set_tx_queues(port.tx_queues);
  out.set_tx_shared(port.tx_shared);
  out.set_lost(port.lost);
  out.set_learned(port.learned);
  out.set_shut_down(port.shut_down);
  out.set_recovers_in_s(port.recovers_in_s);
  to_message(dp::vlans_of(config), *out.mutable_carries());
  out.set_number(dp::bridge_port(port.number, config.local));
}

result<std::uint16_t> to_vlan(std::uint32_t vlan) {
  if (vlan < limits::vlan_min || vlan > limits::vlan_max)
    return fail(errc::invalid, "vlan", std::to_string(vlan) + " is not from 1 to 4094");
  return static_cast<std::uint16_t>(vlan);
}

result<std::uint64_t> to_mac(const std::string& text) {
  const auto mac = net::parse_mac(text);
  if (!mac) return fail(errc::invalid, "mac", "is not an address such as 02:00:00:00:00:01");
  return *mac;
}

result<std::uint64_t> to_fib_mac(const std::string& text) {
  const auto mac = to_mac(text);
  if (!mac) return mac;
  if (auto reason = check_fib_mac(*mac); !reason.empty())
    return fail(errc::invalid, "mac", std::move(reason));
  return *mac;
}

result<port_id> to_port_id(const std::vector<dp::port_status>& ports, const std::string& name) {
  if (auto reason = check_port_name(name); !reason.empty())
    return fail(errc::invalid, "port", std::move(reason));
  std::vector<std::string> names;
  for (const auto& port : ports) {
    if (port.config.name == name) return port_id{port.number, port.serial};
    names.push_back(port.config.name);
  }
  const std::string near = nearest(name, names);
  return fail(errc::not_found, "port " + name,
              "no such port" + (near.empty() ? "" : "; did you mean '" + near + "'?"));
}

const dp::port_status* find_port(const std::vector<dp::port_status>& ports, port_id id) {
  for (const auto& port : ports)
    if (port_id{port.number, port.serial} == id) return &port;
  return nullptr;
}

std::string port_name(const std::vector<dp::port_status>& ports, unsigned number) {
  for (const auto& port : ports)
    if (port.number == number) return port.config.name;
  return "#" + std::to_string(number);
}

result<dp::fib_filter> to_filter(const dp::l2_switch& sw, const v1::FibFilter& filter) {
  dp::fib_filter out;
  out.bridge = filter.bridge();
  if (filter.has_vlan()) {
    const auto vlan = to_vlan(filter.vlan());
    if (!vlan) return tl::unexpected(vlan.error());
    out.vlan = *vlan;
  }
  if (filter.has_mac()) {
    const auto mac = to_mac(filter.mac());
    if (!mac) return tl::unexpected(mac.error());
    out.mac = *mac;
  }
  if (filter.has_port()) {
    const auto port = to_port_id(sw.ports(), filter.port());
    if (!port) return tl::unexpected(port.error());
    out.port = port->number;
    out.port_serial = port->serial;
  }
  switch (filter.kind()) {
    case v1::FibFilter::KIND_ANY: break;
    case v1::FibFilter::KIND_STATIC: out.is_static = true; break;
    case v1::FibFilter::KIND_DYNAMIC: out.is_static = false; break;
    default:
      return fail(errc::invalid, "filter.kind", std::to_string(filter.kind()) + " is not a kind");
  }
  return out;
}

}  // namespace coua::ctl
