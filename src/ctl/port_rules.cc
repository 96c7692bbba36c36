// SPDX-License-Identifier: Apache-2.0
#include "ctl/port_rules.h"

#include <algorithm>
#include <cctype>

#include "ctl/ranges.h"
#include "net/vlan_list.h"

namespace coua::ctl {
namespace {

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
}

std::string out_of_range(std::uint64_t value, std::uint64_t low, std::uint64_t high) {
  return std::to_string(value) + " is not from " + std::to_string(low) + " to " +
         std::to_string(high);
}

/// DPDK's other way to write devices: "bus=pci,addr=3:0.0/class=eth".
bool is_by_layers(std::string_view devargs) {
  for (const std::string_view layer : {"bus=", "class=", "driver="})
    if (devargs.starts_with(layer) || devargs.find("/" + std::string(layer)) != devargs.npos)
      return true;
  return false;
}

void check_vlans(const dp::port_config& port, std::vector<field_problem>& problems) {
  const bool access = port.mode == dp::vlan_mode::access;
  const bool native_ok =
      port.native_vlan <= limits::vlan_max && (port.native_vlan >= limits::vlan_min || !access);
  if (!native_ok)
    problems.push_back(
        {"vlans.native",
         out_of_range(port.native_vlan, access ? limits::vlan_min : 0, limits::vlan_max)});
  for (std::uint16_t vlan : port.tagged) {
    if (vlan < limits::vlan_min || vlan > limits::vlan_max)
      problems.push_back({"vlans.tagged", out_of_range(vlan, limits::vlan_min, limits::vlan_max)});
  }
  if (access && !port.tagged.empty())
    problems.push_back({"vlans.tagged", "an access port carries no tagged VLANs; use mode trunk"});
  if (!access && port.tagged.empty() && port.native_vlan == 0)
    problems.push_back({"vlans.tagged", "a trunk port without a native VLAN needs tagged VLANs"});
  if (!access && std::ranges::binary_search(port.tagged, port.native_vlan))
    problems.push_back({"vlans.tagged", "VLAN " + std::to_string(port.native_vlan) +
                                            " is the native VLAN, so it cannot be tagged too"});
}

static_assert(limits::bond_members_max == dp::bond_members_max);

void check_bond(const dp::port_config& port, std::vector<field_problem>& problems) {
  const auto& members = port.bond.members;
  if (!port.devargs.empty())
    problems.push_back({"devargs", "is given together with bond; keep one of them"});
  if (members.size() > limits::bond_members_max)
    problems.push_back(
        {"bond.members", "has " + std::to_string(members.size()) + " members, at most " +
                             std::to_string(limits::bond_members_max) + " are allowed"});
  if (port.bond.rate != dp::lacp_rate::slow && port.bond.mode != dp::bond_mode::lacp)
    problems.push_back({"bond.rate", "is for mode lacp only"});
  if (port.bond.mode == dp::bond_mode::backup && port.bond.min_links != 1)
    problems.push_back({"bond.min_links", "is not for mode backup: it uses one member at a time"});
  else if (port.bond.min_links < 1 || port.bond.min_links > members.size())
    problems.push_back(
        {"bond.min_links", std::to_string(port.bond.min_links) + " is not from 1 to " +
                               std::to_string(members.size()) + ", the number of its members"});
  if (port.bond.mode == dp::bond_mode::lacp && port.mirror.any())
    problems.push_back({"bond.mode",
                        "is not for a mirror port: it receives nothing, so it would "
                        "never have a partner"});
  std::vector<std::string> devices;
  for (const std::string& each : members) {
    if (const std::string reason = check_devargs(each); !reason.empty())
      problems.push_back({"bond.members", "a device " + reason});
    devices.push_back(device_of(each));
  }
  std::ranges::sort(devices);
  if (const auto twice = std::ranges::adjacent_find(devices); twice != devices.end())
    problems.push_back({"bond.members", "the device " + *twice + " is given twice"});
}

void check_mirror(const dp::port_config& port, std::vector<field_problem>& problems) {
  if (port.local && port.mirror.any())
    problems.push_back({"local", "is not for a mirror port: it receives nothing"});
  const auto names = [&](const std::string& field, const std::vector<std::string>& sources) {
    if (sources.size() > limits::mirror_sources_max)
      problems.push_back({field, "has " + std::to_string(sources.size()) + " ports, at most " +
                                     std::to_string(limits::mirror_sources_max) + " are allowed"});
    for (const std::string& each : sources) {
      if (const std::string reason = check_port_name(each); !reason.empty())
        problems.push_back({field, "the name of a port " + reason});
      if (each == port.name) problems.push_back({field, "a port is no mirror of itself"});
    }
  };
  names("mirror.received", port.mirror.received);
  names("mirror.sent", port.mirror.sent);
  for (const std::uint16_t vlan : port.mirror.vlans) {
    if (vlan < limits::vlan_min || vlan > limits::vlan_max)
      problems.push_back({"mirror.vlans", out_of_range(vlan, limits::vlan_min, limits::vlan_max)});
  }
}

}  // namespace

std::string check_port_name(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > limits::name_max)
    return "has " + std::to_string(name.size()) + " bytes, at most " +
           std::to_string(limits::name_max) + " are allowed";
  if (!std::ranges::all_of(name, is_name_char))
    return "may have letters, digits, '_', '.' and '-' only";
  if (name.front() == '-') return "begins with '-', as options do";
  return {};
}

std::string check_new_port_name(std::string_view name) {
  static constexpr std::string_view words[] = {"in_port",    "table", "normal", "flood", "all",
                                               "controller", "local", "any",    "none",  "unset"};
  if (std::string reason = check_port_name(name); !reason.empty()) return reason;
  const auto is_name = [name](std::string_view word) {
    return std::ranges::equal(name, word, [](unsigned char a, unsigned char b) {
      return std::tolower(a) == std::tolower(b);
    });
  };
  if (std::ranges::any_of(words, is_name))
    return "is a word of OpenFlow for other ports; give it another one";
  return {};
}

std::string check_devargs(std::string_view devargs) {
  if (devargs.empty()) return "is empty; give a DPDK device such as net_tap0,iface=tap0";
  if (devargs.size() > limits::devargs_max)
    return "has " + std::to_string(devargs.size()) + " bytes, at most " +
           std::to_string(limits::devargs_max) + " are allowed";
  if (!std::ranges::all_of(devargs, [](unsigned char c) { return c > ' ' && c < 0x7f; }))
    return "may have printable ASCII without blanks only";
  if (!std::isalnum(static_cast<unsigned char>(devargs[0])))
    return "must start with a driver's name or a PCI address";
  if (is_by_layers(devargs))
    return "names bus=, class= or driver=, with which DPDK 22.11 crashes; give a driver's name "
           "with "
           "its arguments, or a PCI address";
  const std::string device = device_of(std::string(devargs));
  if (device.starts_with("net_bonding") || device.starts_with("eth_bond"))
    return "takes the devices of other ports; a port with `bond` is what joins devices";
  if (device.starts_with("net_failsafe") || device.starts_with("net_vdev_netvsc"))
    return "takes the devices of other ports; give the device itself";
  return {};
}

std::string device_of(const std::string& devargs) {
  std::string name = devargs.substr(0, devargs.find(','));
  for (const char* bus : {"pci:", "vdev:"})
    if (name.starts_with(bus)) name.erase(0, std::string_view(bus).size());
  if (!is_pci_devargs(name)) return name;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::size_t without_domain = 7;  // hh:hh.h
  return name.size() == without_domain ? "0000:" + name : name;
}

std::vector<std::string> devices_of(const dp::port_config& port) {
  return port.bond.any() ? port.bond.members : std::vector<std::string>{port.devargs};
}

std::vector<field_problem> check_port(const dp::port_config& port) {
  std::vector<field_problem> problems;
  const auto text = [&](const char* field, std::string reason) {
    if (!reason.empty()) problems.push_back({field, std::move(reason)});
  };
  const auto range = [&](const char* field, std::uint64_t value, std::uint64_t low,
                         std::uint64_t high) {
    if (value < low || value > high) problems.push_back({field, out_of_range(value, low, high)});
  };
  text("name", check_new_port_name(port.name));
  if (port.bond.any())
    check_bond(port, problems);
  else
    text("devargs", check_devargs(port.devargs));
  range("rx_queues", port.rx_queues, 0, limits::queues_max);
  range("tx_queues", port.tx_queues, 0, limits::queues_max);
  range("rx_descriptors", port.rx_descriptors, 0, limits::descriptors_max);
  range("tx_descriptors", port.tx_descriptors, 0, limits::descriptors_max);
  range("mtu", port.mtu, limits::mtu_min, limits::mtu_max);
  range("mac_limit", port.mac_limit, 0, limits::mac_limit_max);
  range("recover_s", port.recover_s, 0, limits::recover_max_s);
  text("storm.broadcast", check_flood_limit(port.storm.broadcast));
  text("storm.multicast", check_flood_limit(port.storm.multicast));
  text("storm.unknown_unicast", check_flood_limit(port.storm.unknown_unicast));
  check_vlans(port, problems);
  check_mirror(port, problems);
  return problems;
}

std::string check_fib_mac(std::uint64_t mac) {
  if (mac == 0) return "is all zeros";
  if ((mac >> 40 & 1) != 0) return "is a group address (its first byte is odd), which is flooded";
  return {};
}

std::string check_fib_vlan(const dp::port_config& port, std::uint16_t vlan) {
  return net::check_carried(port.name, dp::vlans_of(port), vlan);
}

void normalise_vlans(std::vector<std::uint16_t>& vlans) {
  std::ranges::sort(vlans);
  const auto tail = std::ranges::unique(vlans);
  vlans.erase(tail.begin(), tail.end());
}

void normalise_mirror(dp::mirror_sources& mirror) {
  for (std::vector<std::string>* names : {&mirror.received, &mirror.sent}) {
    std::ranges::sort(*names);
    const auto tail = std::ranges::unique(*names);
    names->erase(tail.begin(), tail.end());
  }
  normalise_vlans(mirror.vlans);
}

bool same_port(dp::port_config a, dp::port_config b) {
  for (dp::port_config* each : {&a, &b}) {
    normalise_vlans(each->tagged);
    normalise_mirror(each->mirror);
  }
  return a == b;
}

bool is_pci_devargs(std::string_view devargs) {
  std::string_view name = devargs.substr(0, devargs.find(','));
  // The pattern of an address from its end: hh:hh.h, with an optional domain hhhh: before it.
  const auto matches = [&](std::string_view pattern) {
    return name.size() == pattern.size() && std::ranges::equal(name, pattern, [](char c, char p) {
             return p == 'h' ? std::isxdigit(static_cast<unsigned char>(c)) != 0 : c == p;
           });
  };
  return matches("hh:hh.h") || matches("hhhh:hh:hh.h");
}

}  // namespace coua::ctl
