// SPDX-License-Identifier: Apache-2.0
//
// Ranges that the configuration file and the API check alike.
#pragma once

#include <cstdint>

namespace coua::ctl::limits {

inline constexpr unsigned name_max = 32;
inline constexpr unsigned devargs_max = 1024;
inline constexpr unsigned vlan_min = 1, vlan_max = 4094;  // 0 and 4095 are reserved by 802.1Q
inline constexpr unsigned queues_max = 128;
inline constexpr unsigned descriptors_max = 32768;
inline constexpr unsigned mtu_min = 68, mtu_max = 9600;
inline constexpr unsigned mbuf_bytes_min = 128, mbuf_bytes_max = 65535 - 128;
inline constexpr unsigned ageing_min_s = 6, ageing_max_s = 1'000'000;  // 0: never
inline constexpr std::uint64_t mac_limit_max = std::uint64_t{1} << 40;
inline constexpr unsigned recover_max_s = 1'000'000;
inline constexpr std::size_t mirror_sources_max = 64;  // all ports that a switch can have
inline constexpr std::size_t bond_members_max = 8;     // as many as a LAG usually may have
inline constexpr std::uint64_t rules_max = std::uint64_t{1} << 24;
inline constexpr unsigned packet_in_rate_max = 1'000'000;  // a second
inline constexpr unsigned packet_in_burst_max = 65'536;
inline constexpr unsigned openflow_time_max_s = 3600;  // between probes, or attempts

}  // namespace coua::ctl::limits
