// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "base/flood_limit.h"
#include "cli/port_view.h"
#include "cli/port_waiting.h"
#include "cli/session.h"

namespace coua::cli {
namespace {

using vlan_ranges = google::protobuf::RepeatedPtrField<v1::VlanRange>;

void take_ranges(const std::string& text, vlan_ranges& to) {
  to.Clear();
  const auto ranges = parse_vlans(text);
  for (const auto& [first, last] : *ranges) {
    auto* range = to.Add();
    range->set_first(first);
    range->set_last(last);
  }
}

/// Whether some mirror option was given.
result<bool> asks_for_mirror(const session& s) {
  const invocation& call = s.call;
  const bool some =
      call.has("mirror-received") || call.has("mirror-sent") || call.has("mirror-vlans");
  if (some && call.has("no-mirror"))
    return s.misuse("--no-mirror and options that name what is mirrored exclude each other");
  return some || call.has("no-mirror");
}

/// The mirror options over what the port has.
void take_mirror(const invocation& call, v1::MirrorSources& mirror) {
  const auto names = [&](const char* option, auto& to) {
    if (!call.has(option)) return;
    to.Clear();
    for (const std::string& each : call.words(option)) *to.Add() = each;
  };
  if (call.has("no-mirror")) mirror.Clear();
  names("mirror-received", *mirror.mutable_received());
  names("mirror-sent", *mirror.mutable_sent());
  if (call.has("mirror-vlans")) take_ranges(call.text("mirror-vlans"), *mirror.mutable_vlans());
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
  if (call.has("min-links"))
    bond.set_min_links(static_cast<std::uint32_t>(call.number("min-links")));
  for (const std::string& each : split(call.text("members"), ' '))
    if (!each.empty()) bond.add_members(each);
  return call.has("bond") || call.has("hash") || call.has("lacp-rate") || call.has("min-links") ||
         call.has("members");
}

/// Of an option that the grammar has checked.
void take_limit(const invocation& call, const char* option, v1::FloodLimit& to) {
  const flood_limit limit = *parse_flood_limit(call.text(option));
  switch (limit.unit) {
    case flood_limit::units::packets: return to.set_packets_per_second(limit.value);
    case flood_limit::units::bits: return to.set_bits_per_second(limit.value);
    case flood_limit::units::percent:
      return to.set_percent_hundredths(static_cast<std::uint32_t>(limit.value));
    case flood_limit::units::block: return to.set_block(true);
  }
}

// Members that PortSpec and SetPortRequest have alike.
template <typename Message>
void take_settings(const invocation& call, Message& out) {
  if (call.has("mtu")) out.set_mtu(static_cast<std::uint32_t>(call.number("mtu")));
  if (call.has("mac-limit")) out.set_mac_limit(call.number("mac-limit"));
  if (call.has("storm-broadcast"))
    take_limit(call, "storm-broadcast", *out.mutable_storm()->mutable_broadcast());
  if (call.has("storm-multicast"))
    take_limit(call, "storm-multicast", *out.mutable_storm()->mutable_multicast());
  if (call.has("storm-unknown-unicast"))
    take_limit(call, "storm-unknown-unicast", *out.mutable_storm()->mutable_unknown_unicast());
  for (const auto& [word, is] : storm_actions)
    if (call.text("storm-action") == word) out.mutable_storm()->set_action(is);
  if (call.has("recover")) out.set_recover_s(static_cast<std::uint32_t>(call.number("recover")));
  if (call.has("mac-limit-action"))
    for (const auto& [word, is] : mac_limit_actions)
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
  const auto got = list_ports(s);
  if (!got) return tl::unexpected(got.error());
  json list = json::array();
  for (const auto& port : got->ports()) list.push_back(port_json(port));
  s.answer({{"ports", list}}, ports_text(got->ports()));
  return {};
}

result<void> run_port_show(const session& s) {
  v1::GetPortRequest request;
  request.set_name(s.call.text("NAME"));
  v1::GetPortResponse now;
  const auto is_there_and_up = [&]() -> result<bool> {
    auto got = s.daemon.call(s.daemon.ports(), &v1::PortService::Stub::GetPort, request);
    if (!got) return tl::unexpected(got.error());
    now = std::move(*got);
    return is_up(now.port());
  };
  if (auto looked = look_until(s, "it is not up", is_there_and_up); !looked) return looked;
  google::protobuf::RepeatedPtrField<v1::Port> one;
  *one.Add() = now.port();
  s.answer({{"port", port_json(now.port())}, {"counters", counters_json(now.counters())}},
           ports_text(one) + port_details_text(now.port()) + counters_text(now.counters()));
  return {};
}

result<void> run_port_add(const session& s) {
  v1::AddPortRequest request;
  v1::PortSpec& spec = *request.mutable_spec();
  spec.set_name(s.call.text("NAME"));
  spec.set_bridge(s.call.text("bridge"));
  spec.set_devargs(s.call.text("DEVARGS"));
  spec.set_local(s.call.has("local"));
  spec.set_rx_queues(small(s.call, "rx-queues"));
  spec.set_tx_queues(small(s.call, "tx-queues"));
  spec.set_rx_descriptors(small(s.call, "rx-descriptors"));
  spec.set_tx_descriptors(small(s.call, "tx-descriptors"));
  take_settings(s.call, spec);
  v1::PortVlans vlans;
  const auto given = take_vlans(s, vlans);
  if (!given) return tl::unexpected(given.error());
  if (*given) *spec.mutable_vlans() = vlans;
  const auto mirrors = asks_for_mirror(s);
  if (!mirrors) return tl::unexpected(mirrors.error());
  if (*mirrors) take_mirror(s.call, *spec.mutable_mirror());
  if (v1::Bond bond; take_bond(s.call, bond)) *spec.mutable_bond() = bond;
  auto got = s.daemon.call(s.daemon.ports(), &v1::PortService::Stub::AddPort, request);
  if (!got) return tl::unexpected(got.error());
  if (auto waited = wait_for_port(s, *got->mutable_port()); !waited) return waited;
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
  const auto mirrors = asks_for_mirror(s);
  if (!mirrors) return tl::unexpected(mirrors.error());
  // What is not said of VLANs and of mirror sources stays.
  if (s.call.has("tagged") != s.call.has("native") || *mirrors) {
    v1::GetPortRequest get;
    get.set_name(request.name());
    const auto now = s.daemon.call(s.daemon.ports(), &v1::PortService::Stub::GetPort, get);
    if (!now) return tl::unexpected(now.error());
    if (now->port().spec().vlans().mode() == v1::VLAN_MODE_TRUNK)
      vlans = now->port().spec().vlans();
    mirror = now->port().spec().mirror();
  }
  if (*mirrors) {
    take_mirror(s.call, mirror);
    *request.mutable_mirror() = mirror;
  }
  const auto given = take_vlans(s, vlans);
  if (!given) return tl::unexpected(given.error());
  if (*given) *request.mutable_vlans() = vlans;
  if (v1::Bond bond; take_bond(s.call, bond)) *request.mutable_bond() = bond;
  auto got = s.daemon.call(s.daemon.ports(), &v1::PortService::Stub::SetPort, request);
  if (!got) return tl::unexpected(got.error());
  if (auto waited = wait_for_port(s, *got->mutable_port()); !waited) return waited;
  s.answer_change({{"port", port_json(got->port())}}, got->changed(), "port " + request.name(),
                  "changed");
  return {};
}

}  // namespace coua::cli
