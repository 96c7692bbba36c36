// SPDX-License-Identifier: Apache-2.0
#include "cli/port_view.h"

#include <algorithm>
#include <vector>

#include "base/flood_limit.h"

namespace coua::cli {
namespace {

using vlan_ranges = google::protobuf::RepeatedPtrField<v1::VlanRange>;

json ranges_json(const vlan_ranges& ranges) {
  json out = json::array();
  for (const auto& range : ranges)
    for (unsigned vlan = range.first(); vlan <= range.last(); ++vlan) out.push_back(vlan);
  return out;
}

std::string ranges_text(const vlan_ranges& ranges) {
  std::string out;
  for (const auto& range : ranges) {
    out += (out.empty() ? "" : ",") + std::to_string(range.first());
    if (range.last() > range.first()) out += "-" + std::to_string(range.last());
  }
  return out;
}

std::string action_text(v1::MacLimitAction action) {
  for (const auto& [word, is] : mac_limit_actions)
    if (is == action) return word;
  return mac_limit_actions[0].first;
}

json mirror_json(const v1::MirrorSources& mirror) {
  if (mirror.received_size() + mirror.sent_size() + mirror.vlans_size() == 0) return nullptr;
  return {{"received", names_json(mirror.received())},
          {"sent", names_json(mirror.sent())},
          {"vlans", ranges_json(mirror.vlans())}};
}

template <std::size_t N>
std::string word_of(const char* const (&words)[N], int value) {
  return value > 0 && static_cast<std::size_t>(value) < N ? words[value] : "";
}

json lacp_json(const v1::BondMember& member) {
  if (!member.has_lacp()) return nullptr;
  const v1::LacpMember& lacp = member.lacp();
  const std::string& partner = lacp.partner_system();
  return {{"partner_system", partner.empty() ? json() : json(partner)},
          {"partner_key", lacp.partner_key()},
          {"partner_port", lacp.partner_port()},
          {"actor_flags", lacp.actor_flags()},
          {"partner_flags", lacp.partner_flags()},
          {"received", lacp.received()},
          {"sent", lacp.sent()},
          {"malformed", lacp.malformed()}};
}

json bond_json(const v1::Port& port) {
  if (!port.spec().has_bond()) return nullptr;
  json members = json::array();
  for (const auto& each : port.members())
    members.push_back({{"devargs", each.devargs()},
                       {"driver", each.driver()},
                       {"mac", each.mac()},
                       {"link_up", each.link_up()},
                       {"link_mbps", each.link_mbps()},
                       {"active", each.active()},
                       {"state", each.state()},
                       {"rx_packets", each.rx_packets()},
                       {"tx_packets", each.tx_packets()},
                       {"lacp", lacp_json(each)}});
  return {{"mode", word_of(bond_modes, port.spec().bond().mode())},
          {"hash", word_of(bond_hashes, port.spec().bond().hash())},
          {"rate", word_of(lacp_rates, port.spec().bond().rate())},
          {"min_links", port.spec().bond().min_links()},
          {"members", std::move(members)}};
}

std::string mbps_text(unsigned mbps) {
  if (mbps == 0) return "";
  return mbps % 1000 == 0 ? std::to_string(mbps / 1000) + "G" : std::to_string(mbps) + "M";
}

std::string link_text(const v1::Port& port) {
  if (port.lost()) return "lost";
  if (!port.spec().enabled()) return "disabled";
  if (!port.shut_down().empty()) {
    const std::string why = "shut down: " + port.shut_down();
    return port.recovers_in_s() == 0
               ? why
               : why + ", " + std::to_string(port.recovers_in_s()) + " s left";
  }
  if (!port.link_up()) return "down";
  const std::string speed = mbps_text(port.link_mbps());
  return speed.empty() ? "up" : "up " + speed;
}

/// "static bond, 1 of 2 members active"
std::string bond_text(const v1::Port& port) {
  const auto active =
      std::ranges::count_if(port.members(), [](const auto& m) { return m.active(); });
  return word_of(bond_modes, port.spec().bond().mode()) + " bond, " + std::to_string(active) +
         " of " + std::to_string(port.members_size()) + " members active";
}

std::string members_text(const v1::Port& port) {
  if (port.members().empty()) return "";
  const bool is_lacp = port.spec().bond().mode() == v1::BOND_MODE_LACP;
  std::vector<std::string> heads = {"MEMBER", "STATE", "LINK", "MAC", "RX", "TX", "DEVICE"};
  if (is_lacp) heads.insert(heads.begin() + 3, {"PARTNER", "KEY", "PORT", "LACP RX/TX"});
  table out(heads);
  for (int i = 0; i < port.members_size(); i++) {
    const v1::BondMember& each = port.members(i);
    const std::string speed = mbps_text(each.link_mbps());
    std::vector<std::string> row = {
        std::to_string(i),
        each.state(),
        each.link_up() ? "up" + (speed.empty() ? "" : " " + speed) : "down",
        each.mac(),
        grouped(each.rx_packets()),
        grouped(each.tx_packets()),
        each.devargs()};
    const v1::LacpMember& lacp = each.lacp();
    const bool has_partner = !lacp.partner_system().empty();
    if (is_lacp)
      row.insert(row.begin() + 3, {has_partner ? lacp.partner_system() : "-",
                                   has_partner ? std::to_string(lacp.partner_key()) : "-",
                                   has_partner ? std::to_string(lacp.partner_port()) : "-",
                                   grouped(lacp.received()) + "/" + grouped(lacp.sent())});
    out.add(row);
  }
  const unsigned least = port.spec().bond().min_links();
  return "hash: " + word_of(bond_hashes, port.spec().bond().hash()) +
         (is_lacp ? ", rate: " + word_of(lacp_rates, port.spec().bond().rate()) : "") +
         (least > 1 ? ", min links: " + std::to_string(least) : "") + "\n" + out.text();
}

flood_limit limit_of(const v1::FloodLimit& limit) {
  switch (limit.limit_case()) {
    case v1::FloodLimit::kBitsPerSecond: return flood_limit::bits(limit.bits_per_second());
    case v1::FloodLimit::kPercentHundredths:
      return flood_limit::percent_hundredths(limit.percent_hundredths());
    case v1::FloodLimit::kBlock: return flood_limit::block();
    default: return limit.packets_per_second();
  }
}

/// As in the file: a number of packets a second, or a text.
json limit_json(const v1::FloodLimit& limit) {
  const flood_limit is = limit_of(limit);
  return is.unit == flood_limit::units::packets ? json(is.value) : json(format_flood_limit(is));
}

/// Of one kind: "2,000 packets/s broadcast", "10Mbps broadcast", "1% (100Mbps) broadcast",
/// "broadcast blocked". `mbps`: of the link; 0: not known.
std::string limit_text(const flood_limit& limit, const char* kind, unsigned mbps) {
  const std::string behind = std::string(" ") + kind;
  switch (limit.unit) {
    case flood_limit::units::packets: return grouped(limit.value) + " packets/s" + behind;
    case flood_limit::units::percent: {
      if (mbps == 0) return format_flood_limit(limit) + " (no speed known now)" + behind;
      const std::uint64_t bits =
          std::uint64_t{mbps} * (1'000'000 / flood_limit::whole) * limit.value;
      return format_flood_limit(limit) + " (" + format_flood_limit(flood_limit::bits(bits)) + ")" +
             behind;
    }
    case flood_limit::units::block: return std::string(kind) + " blocked";
    case flood_limit::units::bits: break;
  }
  return format_flood_limit(limit) + behind;
}

/// The limits of one port, where it has any.
std::string storm_text(const v1::Port& port) {
  const v1::StormLimits& storm = port.spec().storm();
  std::string out;
  const auto add = [&](const char* kind, const v1::FloodLimit& limit) {
    const flood_limit is = limit_of(limit);
    if (!is.any()) return;
    out += (out.empty() ? "storm limits: " : ", ") + limit_text(is, kind, port.link_mbps());
  };
  add("broadcast", storm.broadcast());
  add("multicast", storm.multicast());
  add("unknown unicast", storm.unknown_unicast());
  if (!out.empty() && storm.action() == v1::STORM_ACTION_SHUTDOWN)
    out += "; more shuts the port down";
  return out.empty() ? out : out + "\n";
}

/// The sources of a mirror port.
std::string mirror_text(const v1::MirrorSources& mirror) {
  std::string out;
  const auto add = [&](const char* what, const std::string& of) {
    if (!of.empty()) out += std::string(out.empty() ? "mirror: " : "; ") + what + " " + of;
  };
  const auto names = [](const auto& list) {
    std::string text;
    for (const std::string& name : list) text += (text.empty() ? "" : ", ") + name;
    return text;
  };
  add("what is received by", names(mirror.received()));
  add("what is sent by", names(mirror.sent()));
  add("what is received in VLAN", ranges_text(mirror.vlans()));
  return out.empty() ? out : out + "\n";
}

/// "access 10", "trunk 20-30 native 1"
std::string vlans_text(const v1::PortVlans& vlans) {
  if (vlans.mode() != v1::VLAN_MODE_TRUNK) return "access " + std::to_string(vlans.native());
  const std::string tagged = ranges_text(vlans.tagged());
  return "trunk " + (tagged.empty() ? "-" : tagged) + " native " +
         (vlans.native() == 0 ? "none" : std::to_string(vlans.native()));
}

/// Of the addresses that it learns, where that is not as usual.
std::string learning_text(const v1::PortSpec& spec) {
  if (!spec.learning()) return "learning: off\n";
  if (spec.mac_limit() == 0) return {};
  std::string out = "learning: at most " + grouped(spec.mac_limit()) + "; frames from others ";
  switch (spec.mac_limit_action()) {
    case v1::MAC_LIMIT_ACTION_DROP: return out + "are dropped\n";
    case v1::MAC_LIMIT_ACTION_SHUTDOWN: return out + "shut the port down\n";
    default: return out + "are forwarded\n";
  }
}

}  // namespace

json port_json(const v1::Port& port) {
  const v1::PortSpec& spec = port.spec();
  const bool trunk = spec.vlans().mode() == v1::VLAN_MODE_TRUNK;
  return {{"name", spec.name()},
          {"bridge", spec.bridge()},
          {"local", spec.local()},
          {"number", port.number()},
          {"devargs", spec.devargs()},
          {"driver", port.driver()},
          {"mac", port.mac()},
          {"numa_node", port.numa_node()},
          {"enabled", spec.enabled()},
          {"link_up", port.link_up()},
          {"link_mbps", port.link_mbps()},
          {"lost", port.lost()},
          {"mtu", spec.mtu()},
          {"promiscuous", spec.promiscuous()},
          {"learning", spec.learning()},
          {"mac_limit", spec.mac_limit()},
          {"mac_limit_action", action_text(spec.mac_limit_action())},
          {"shut_down", port.shut_down().empty() ? json() : json(port.shut_down())},
          {"recover_s", spec.recover_s()},
          {"recovers_in_s", port.recovers_in_s() == 0 ? json() : json(port.recovers_in_s())},
          {"learned", port.learned()},
          {"storm",
           {{"broadcast", limit_json(spec.storm().broadcast())},
            {"multicast", limit_json(spec.storm().multicast())},
            {"unknown_unicast", limit_json(spec.storm().unknown_unicast())},
            {"action", spec.storm().action() == v1::STORM_ACTION_SHUTDOWN ? "shutdown" : "drop"}}},
          {"mirror", mirror_json(spec.mirror())},
          {"bond", bond_json(port)},
          {"rx_queues", port.rx_queues()},
          {"tx_queues", port.tx_queues()},
          {"tx_shared", port.tx_shared()},
          {"rx_descriptors", spec.rx_descriptors()},
          {"tx_descriptors", spec.tx_descriptors()},
          {"vlans",
           {{"mode", trunk ? "trunk" : "access"},
            {"native", spec.vlans().native()},
            {"tagged", ranges_json(spec.vlans().tagged())}}}};
}

std::string ports_text(const google::protobuf::RepeatedPtrField<v1::Port>& ports) {
  table out({"PORT", "BRIDGE", "LINK", "VLANS", "MAC", "MTU", "LEARNED", "QUEUES", "DEVICE"});
  for (const auto& port : ports)
    out.add({port.spec().name(), port.spec().bridge(), link_text(port),
             vlans_text(port.spec().vlans()), port.mac(), std::to_string(port.spec().mtu()),
             grouped(port.learned()),
             std::to_string(port.rx_queues()) + "/" + std::to_string(port.tx_queues()) +
                 (port.tx_shared() ? " shared" : ""),
             port.spec().has_bond() ? bond_text(port) : port.spec().devargs()});
  return out.text();
}

std::string port_details_text(const v1::Port& port) {
  const std::string local =
      port.spec().local() ? "local: LOCAL of bridge " + port.spec().bridge() + " to OpenFlow\n"
                          : "";
  const std::string promiscuous = port.spec().promiscuous() ? "" : "promiscuous: off\n";
  return local + promiscuous + learning_text(port.spec()) + members_text(port) + storm_text(port) +
         mirror_text(port.spec().mirror());
}

}  // namespace coua::cli
