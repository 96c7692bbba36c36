// SPDX-License-Identifier: Apache-2.0
//
// The device that DPDK made of a text (devargs), after rte_dev_probe().
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace coua::dp {

/// Its port of Ethernet, the first one where it has several; none: it is no network device. By its
/// name: DPDK's own search takes `mac=` for what the device is to have, also where the driver is to
/// give it one (net_tap's mac=fixed).
std::optional<std::uint16_t> find_probed(const std::string& devargs);

/// Of one that was probed for nothing: it would stay with DPDK, and keep its place and its name.
void remove_probed(const std::string& devargs);

}  // namespace coua::dp
