// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace coua::bench {

/// Debian chooses between its two builds of Open vSwitch by an alternative; this is the one with
/// DPDK. bench/ovs_daemon.py reads the path from this line.
inline constexpr const char* ovs_daemon = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk";

/// What it is called in errors.
inline constexpr const char* ovs_product = "Open vSwitch with DPDK";

}  // namespace coua::bench
