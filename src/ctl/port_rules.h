// SPDX-License-Identifier: Apache-2.0
//
// What makes the description of a port valid, wherever it comes from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dp/switch.h"

namespace coua::ctl {

/// A field that is wrong, by its path inside the object ("vlans.tagged"), and why.
struct field_problem {
  std::string field;
  std::string reason;
};

/// Empty when `name` may be the name of a port, else the reason.
std::string check_port_name(std::string_view name);

/// The same for the name of a port that is to be made. Rules read words such as ALL and LOCAL, in
/// any letters, as what OpenFlow means by them, so that no port may be called so.
std::string check_new_port_name(std::string_view name);

/// Empty when `devargs` can be the name of a DPDK device with its arguments, else the reason.
std::string check_devargs(std::string_view devargs);

/// The device itself, without its arguments.
std::string device_of(const std::string& devargs);

/// The devargs of a port: one, or those of a bond's members.
std::vector<std::string> devices_of(const dp::port_config& port);

/// Everything that is wrong with a port; empty: it is valid. Expects `tagged` sorted.
std::vector<field_problem> check_port(const dp::port_config& port);

/// Empty when a FIB entry may have this address, else the reason.
std::string check_fib_mac(std::uint64_t mac);

/// Empty when a FIB entry of this VLAN may be at the port, else the reason. Expects `tagged`
/// sorted.
std::string check_fib_vlan(const dp::port_config& port, std::uint16_t vlan);

/// Sorts and drops repetitions.
void normalise_vlans(std::vector<std::uint16_t>& vlans);

/// Sorts and drops repetitions.
void normalise_mirror(dp::mirror_sources& mirror);

/// True when the ports are described alike. The order of the tagged VLANs does not matter.
bool same_port(dp::port_config a, dp::port_config b);

/// True when the device is on the PCI bus: "0000:03:00.0" or "03:00.0", with or without arguments.
bool is_pci_devargs(std::string_view devargs);

}  // namespace coua::ctl
