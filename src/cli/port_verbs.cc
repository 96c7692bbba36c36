// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "cli/session.h"

namespace coua::cli {
namespace {

const std::pair<const char*, v1::MacLimitAction> actions[] = {
    {"forward", v1::MAC_LIMIT_ACTION_FORWARD},
    {"drop", v1::MAC_LIMIT_ACTION_DROP},
    {"shutdown", v1::MAC_LIMIT_ACTION_SHUTDOWN}};

std::string action_text(v1::MacLimitAction action) {
  for (const auto& [word, is] : actions)
    if (is == action) return word;
  return actions[0].first;
}

json mirror_json(const v1::MirrorSources& mirror) {
  if (mirror.received_size() + mirror.sent_size() + mirror.vlans_size() == 0) return nullptr;
  json vlans = json::array();
  for (const auto& range : mirror.vlans())
    for (unsigned vlan = range.first(); vlan <= range.last(); ++vlan) vlans.push_back(vlan);
  return {{"received", names_json(mirror.received())},
          {"sent", names_json(mirror.sent())},
          {"vlans", std::move(vlans)}};
}

const char* const bond_modes[] = {"", "static", "lacp", "backup"};
const char* const lacp_rates[] = {"", "slow", "fast"};
const char* const bond_hashes[] = {"", "l2", "l23", "l34"};

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
          {"members", std::move(members)}};
}

json port_json(const v1::Port& port) {
  const v1::PortSpec& spec = port.spec();
  json tagged = json::array();
  for (const auto& range : spec.vlans().tagged())
    for (std::uint32_t vlan = range.first(); vlan <= range.last(); vlan++) tagged.push_back(vlan);
  const bool trunk = spec.vlans().mode() == v1::VLAN_MODE_TRUNK;
  return {{"name", spec.name()},
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
          {"learned", port.learned()},
          {"storm",
           {{"broadcast", spec.storm().broadcast()},
            {"multicast", spec.storm().multicast()},
            {"unknown_unicast", spec.storm().unknown_unicast()}}},
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
            {"tagged", tagged}}}};
}

std::string vlans_text(const v1::PortVlans& vlans) {
  if (vlans.mode() != v1::VLAN_MODE_TRUNK) return "access " + std::to_string(vlans.native());
  std::string tagged;
  for (const auto& range : vlans.tagged()) {
    tagged += (tagged.empty() ? "" : ",") + std::to_string(range.first());
    if (range.last() > range.first()) tagged += "-" + std::to_string(range.last());
  }
  return "trunk " + (tagged.empty() ? "-" : tagged) + " native " +
         (vlans.native() == 0 ? "none" : std::to_string(vlans.native()));
}

std::string mbps_text(unsigned mbps) {
  if (mbps == 0) return "";
  return mbps % 1000 == 0 ? std::to_string(mbps / 1000) + "G" : std::to_string(mbps) + "M";
}

std::string link_text(const v1::Port& port) {
  if (port.lost()) return "lost";
  if (!port.spec().enabled()) return "disabled";
  if (!port.shut_down().empty()) return "shut down: " + port.shut_down();
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
  return "hash: " + word_of(bond_hashes, port.spec().bond().hash()) +
         (is_lacp ? ", rate: " + word_of(lacp_rates, port.spec().bond().rate()) : "") + "\n" +
         out.text();
}

std::string ports_text(const google::protobuf::RepeatedPtrField<v1::Port>& ports) {
  table out({"PORT", "LINK", "VLANS", "MAC", "MTU", "LEARNED", "QUEUES", "DEVICE"});
  for (const auto& port : ports)
    out.add({port.spec().name(), link_text(port), vlans_text(port.spec().vlans()), port.mac(),
             std::to_string(port.spec().mtu()), grouped(port.learned()),
             std::to_string(port.rx_queues()) + "/" + std::to_string(port.tx_queues()) +
                 (port.tx_shared() ? " shared" : ""),
             port.spec().has_bond() ? bond_text(port) : port.spec().devargs()});
  return out.text();
}

/// The limits of one port, where it has any.
std::string storm_text(const v1::StormLimits& storm) {
  std::string out;
  const auto add = [&](const char* kind, std::uint64_t limit) {
    if (limit == 0) return;
    out += (out.empty() ? "storm: at most " : ", ") + grouped(limit) + " " + kind;
  };
  add("broadcast", storm.broadcast());
  add("multicast", storm.multicast());
  add("unknown unicast", storm.unknown_unicast());
  return out.empty() ? out : out + " packets/s\n";
}

using vlan_ranges = google::protobuf::RepeatedPtrField<v1::VlanRange>;

std::string ranges_text(const vlan_ranges& ranges) {
  std::string out;
  for (const auto& range : ranges) {
    out += (out.empty() ? "" : ",") + std::to_string(range.first());
    if (range.last() > range.first()) out += "-" + std::to_string(range.last());
  }
  return out;
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

void take_ranges(const std::string& text, vlan_ranges& to) {
  to.Clear();
  const auto ranges = parse_vlans(text);
  for (const auto& [first, last] : *ranges) {
    auto* range = to.Add();
    range->set_first(first);
    range->set_last(last);
  }
}

/// The mirror options over what the port has; false when none was given.
bool take_mirror(const invocation& call, v1::MirrorSources& mirror) {
  const auto names = [&](const char* option, auto& to) {
    if (!call.has(option)) return;
    to.Clear();
    for (const std::string& each : call.words(option)) *to.Add() = each;
  };
  if (call.has("no-mirror")) mirror.Clear();
  names("mirror-received", *mirror.mutable_received());
  names("mirror-sent", *mirror.mutable_sent());
  if (call.has("mirror-vlans")) take_ranges(call.text("mirror-vlans"), *mirror.mutable_vlans());
  return call.has("no-mirror") || call.has("mirror-received") || call.has("mirror-sent") ||
         call.has("mirror-vlans");
}

// The VLAN options over what the port has; false when none was given.
result<bool> take_vlans(const session& s, v1::PortVlans& vlans) {
  const invocation& call = s.call;
  const bool trunk = call.has("tagged") || call.has("native");
  if (call.has("vlan") && trunk)
    return s.misuse("--vlan is for access ports, --tagged and --native are for trunk ports");
  if (call.has("vlan")) {
    vlans.Clear();
    vlans.set_mode(v1::VLAN_MODE_ACCESS);
    vlans.set_native(static_cast<std::uint32_t>(call.number("vlan")));
  }
  if (trunk) vlans.set_mode(v1::VLAN_MODE_TRUNK);
  if (call.has("tagged")) take_ranges(call.text("tagged"), *vlans.mutable_tagged());
  if (call.has("native")) vlans.set_native(static_cast<std::uint32_t>(call.number("native")));
  return trunk || call.has("vlan");
}

/// False when no option of bonds was given.
bool take_bond(const invocation& call, v1::Bond& bond) {
  const auto choose = [&](const char* option, const auto& words) {
    const std::string word = call.text(option);
    for (std::size_t i = 1; i < std::size(words); i++)
      if (word == words[i]) return static_cast<int>(i);
    return 0;
  };
  bond.set_mode(static_cast<v1::BondMode>(choose("bond", bond_modes)));
  bond.set_hash(static_cast<v1::BondHash>(choose("hash", bond_hashes)));
  bond.set_rate(static_cast<v1::LacpRate>(choose("lacp-rate", lacp_rates)));
  for (const std::string& each : split(call.text("members"), ' '))
    if (!each.empty()) bond.add_members(each);
  return call.has("bond") || call.has("hash") || call.has("lacp-rate") || call.has("members");
}

// Members that PortSpec and SetPortRequest have alike.
template <typename Message>
void take_settings(const invocation& call, Message& out) {
  if (call.has("mtu")) out.set_mtu(static_cast<std::uint32_t>(call.number("mtu")));
  if (call.has("mac-limit")) out.set_mac_limit(call.number("mac-limit"));
  if (call.has("storm-broadcast"))
    out.mutable_storm()->set_broadcast(call.number("storm-broadcast"));
  if (call.has("storm-multicast"))
    out.mutable_storm()->set_multicast(call.number("storm-multicast"));
  if (call.has("storm-unknown-unicast"))
    out.mutable_storm()->set_unknown_unicast(call.number("storm-unknown-unicast"));
  if (call.has("mac-limit-action"))
    for (const auto& [word, is] : actions)
      if (call.text("mac-limit-action") == word) out.set_mac_limit_action(is);
  if (call.has("enabled")) out.set_enabled(call.on("enabled"));
  if (call.has("learning")) out.set_learning(call.on("learning"));
  if (call.has("promiscuous")) out.set_promiscuous(call.on("promiscuous"));
}

std::uint32_t small(const invocation& call, const char* name) {
  return static_cast<std::uint32_t>(call.number(name));
}

}  // namespace

result<void> run_port_list(const session& s) {
  const auto got =
      s.daemon.call(s.daemon.ports(), &v1::PortService::Stub::ListPorts, v1::ListPortsRequest());
  if (!got) return tl::unexpected(got.error());
  json list = json::array();
  for (const auto& port : got->ports()) list.push_back(port_json(port));
  s.answer({{"ports", list}}, ports_text(got->ports()));
  return {};
}

result<void> run_port_show(const session& s) {
  v1::GetPortRequest request;
  request.set_name(s.call.text("NAME"));
  auto got = s.daemon.call(s.daemon.ports(), &v1::PortService::Stub::GetPort, request);
  if (!got) return tl::unexpected(got.error());
  google::protobuf::RepeatedPtrField<v1::Port> one;
  *one.Add() = got->port();
  s.answer({{"port", port_json(got->port())}, {"counters", counters_json(got->counters())}},
           ports_text(one) + members_text(got->port()) + storm_text(got->port().spec().storm()) +
               mirror_text(got->port().spec().mirror()) + counters_text(got->counters()));
  return {};
}

result<void> run_port_add(const session& s) {
  v1::AddPortRequest request;
  v1::PortSpec& spec = *request.mutable_spec();
  spec.set_name(s.call.text("NAME"));
  spec.set_devargs(s.call.text("DEVARGS"));
  spec.set_rx_queues(small(s.call, "rx-queues"));
  spec.set_tx_queues(small(s.call, "tx-queues"));
  spec.set_rx_descriptors(small(s.call, "rx-descriptors"));
  spec.set_tx_descriptors(small(s.call, "tx-descriptors"));
  take_settings(s.call, spec);
  v1::PortVlans vlans;
  const auto given = take_vlans(s, vlans);
  if (!given) return tl::unexpected(given.error());
  if (*given) *spec.mutable_vlans() = vlans;
  if (v1::MirrorSources mirror; take_mirror(s.call, mirror)) *spec.mutable_mirror() = mirror;
  if (v1::Bond bond; take_bond(s.call, bond)) *spec.mutable_bond() = bond;
  const auto got = s.daemon.call(s.daemon.ports(), &v1::PortService::Stub::AddPort, request);
  if (!got) return tl::unexpected(got.error());
  s.answer_change({{"port", port_json(got->port())}}, got->changed(), "port " + spec.name(),
                  "added");
  return {};
}

result<void> run_port_remove(const session& s) {
  v1::RemovePortRequest request;
  request.set_name(s.call.text("NAME"));
  const auto got = s.daemon.call(s.daemon.ports(), &v1::PortService::Stub::RemovePort, request);
  if (!got) return tl::unexpected(got.error());
  s.answer_change(json::object(), got->changed(), "port " + request.name(), "removed");
  return {};
}

result<void> run_port_set(const session& s) {
  v1::SetPortRequest request;
  request.set_name(s.call.text("NAME"));
  take_settings(s.call, request);
  v1::PortVlans vlans;
  v1::MirrorSources mirror;
  const bool mirrors = take_mirror(s.call, mirror);
  // What is not said of VLANs and of mirror sources stays.
  if (s.call.has("tagged") != s.call.has("native") || mirrors) {
    v1::GetPortRequest get;
    get.set_name(request.name());
    const auto now = s.daemon.call(s.daemon.ports(), &v1::PortService::Stub::GetPort, get);
    if (!now) return tl::unexpected(now.error());
    if (now->port().spec().vlans().mode() == v1::VLAN_MODE_TRUNK)
      vlans = now->port().spec().vlans();
    mirror = now->port().spec().mirror();
  }
  if (mirrors) {
    take_mirror(s.call, mirror);
    *request.mutable_mirror() = mirror;
  }
  const auto given = take_vlans(s, vlans);
  if (!given) return tl::unexpected(given.error());
  if (*given) *request.mutable_vlans() = vlans;
  if (v1::Bond bond; take_bond(s.call, bond)) *request.mutable_bond() = bond;
  const auto got = s.daemon.call(s.daemon.ports(), &v1::PortService::Stub::SetPort, request);
  if (!got) return tl::unexpected(got.error());
  s.answer_change({{"port", port_json(got->port())}}, got->changed(), "port " + request.name(),
                  "changed");
  return {};
}

}  // namespace coua::cli
