// SPDX-License-Identifier: Apache-2.0
#include "dp/counters.h"

#include <array>

namespace coua::dp {
namespace {

constexpr std::array<const char*, port_counter::count> port_names{
    "rx_packets",
    "rx_bytes",
    "tx_packets",
    "tx_bytes",
    "forwarded",
    "flooded",
    "flood_copies",
    "mirrored",
    "to_controller",
    "to_lacp",
    "from_controller",
    "pipeline_copies",
    "drop_pipeline",
    "drop_packet_in_rate",
    "drop_packet_in_full",
    "drop_truncated",
    "drop_lacp_full",
    "drop_lacp_tx",
    "drop_bond_standby",
    "drop_ingress_vlan",
    "drop_source_multicast",
    "drop_link_local",
    "drop_hairpin",
    "drop_egress_vlan",
    "drop_port_down",
    "drop_no_fwd",
    "drop_no_member",
    "drop_storm_broadcast",
    "drop_storm_multicast",
    "drop_storm_unknown_unicast",
    "drop_mac_limit",
    "drop_no_headroom",
    "drop_mirror_no_mbuf",
    "drop_no_mbuf",
    "drop_tx_full",
    "drop_tx_too_long",
    "learn_reports",
    "learn_suppressed",
    "learn_ring_full",
    "source_static_elsewhere",
};
constexpr std::array<const char*, vlan_counter::count> vlan_names{"rx_packets", "rx_bytes",
                                                                  "forwarded", "flooded"};
constexpr std::array<const char*, worker_counter::count> worker_names{
    "rounds",      "rounds_empty", "rx_packets", "cycles_busy",
    "cycles_idle", "yields",       "sleeps",     "tx_flushes"};

static_assert(port_names.back() != nullptr && worker_names.back() != nullptr);

}  // namespace

const char* port_counter::name(std::size_t id) { return port_names[id]; }
const char* vlan_counter::name(std::size_t id) { return vlan_names[id]; }
const char* worker_counter::name(std::size_t id) { return worker_names[id]; }

}  // namespace coua::dp
