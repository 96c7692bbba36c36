// SPDX-License-Identifier: Apache-2.0
//
// The plan: all that a worker needs to know of the configuration, in one immutable object. The
// thread `tables` builds a new one for every change and publishes it by one pointer; a worker loads
// the pointer when a grace period begins. The old plan, and what only it refers to (a removed
// port), goes when a QSBR grace period has passed.
//
//   plan --- ports[number]    what a frame meets when it comes in
//        |-- bridges[number]  by VLAN: its domain
//        |-- domains[domain]  two bit sets of port numbers: sent untagged, sent tagged
//        |-- up               bit set of the ports that may send
//        `-- workers[w]       the receive queues to poll; per port, the transmit queue to use, and
//                             what the worker has of its bridge
//
// A domain is a VLAN of one bridge, as the FIB knows it (l2/domain_map.h). Its ports are of that
// bridge, and everything behind the ingress rules goes by the domain; so no frame, address or flood
// crosses from bridge to bridge.
//
// A port number is what the FIB stores. There are at most 64, so a set of ports is one word, and
// "may this frame leave there" is one shift and one AND.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "dp/bond/spread.h"
#include "dp/bridges_max.h"
#include "dp/l2/storm.h"
#include "dp/max_ports.h"

namespace coua::dp {

inline constexpr unsigned n_vlans = 4096;
inline constexpr unsigned n_domains = 4096;   // that a FIB key can hold; 0 is none
inline constexpr unsigned domain_shift = 48;  // of the domain in a FIB key
inline constexpr unsigned max_burst = 64;

using port_set = std::uint64_t;
constexpr port_set port_bit(unsigned number) {
  return number < max_ports ? port_set{1} << number : 0;
}
/// `visit` is called with the number of each.
template <typename Visit>
void for_each_port(port_set ports, const Visit& visit) noexcept {
  for (; ports != 0; ports &= ports - 1) visit(static_cast<unsigned>(std::countr_zero(ports)));
}
/// Where packets come in that a controller of the bridge sends, unless it names a port: as by a
/// trunk in every VLAN, untagged ones in VLAN 1. In no set of ports.
constexpr unsigned controller_port(unsigned bridge) { return max_ports + bridge; }
/// Numbers that a frame can come in by.
inline constexpr unsigned max_inputs = max_ports + bridges_max;

struct plan_domain {
  port_set untagged = 0;
  port_set tagged = 0;
  port_set members() const noexcept { return untagged | tagged; }
};

/// By VLAN of a bridge; 0: it has none.
using vlan_domains = std::array<std::uint16_t, n_vlans>;

struct plan_bridge {
  port_set ports = 0;
  unsigned local = max_ports;  // number of the port that is LOCAL; max_ports: there is none
  vlan_domains domains{};
};

struct plan_port {
  bool present = false;
  bool trunk = false;
  bool learning = true;
  bool strips_tags = false;         // the driver takes the tag out of the frame (net_af_packet)
  std::uint16_t native_vlan = 0;    // 0: untagged frames are dropped
  std::uint16_t native_domain = 0;  // of that VLAN
  std::uint8_t bridge = 0;          // number
  bool any_vlan = false;            // whatever the sets of ports say
  bool local = false;               // its bridge's LOCAL
  std::uint32_t longest_frame = 0;  // bytes, by the MTU; a driver may refuse a longer one
};

/// Limits of what a port may bring that is flooded.
struct plan_storm {
  storm_buckets* buckets = nullptr;  // null: no limit at all
  std::array<storm_rate, n_storm_kinds> rates{};
  const storm_rate& operator[](storm_kind kind) const noexcept {
    return rates[static_cast<unsigned>(kind)];
  }
};

/// Which mirror ports get a copy.
struct plan_mirror {
  std::array<port_set, max_ports> received{}, sent{};  // of what this port receives, sends
  // Of what any port of the mirror port's bridge receives in this VLAN.
  std::array<port_set, n_vlans> vlans{};
};

/// Why frames of a queue leave the usual way; bits.
using detour_set = std::uint8_t;
inline constexpr detour_set detour_tap = 1;   // a capture or a mirror wants them
inline constexpr detour_set detour_bond = 2;  // the port is a bond

/// One transmit queue as one worker sees it.
struct tx_queue {
  std::uint16_t device = UINT16_MAX;  // DPDK's port id
  std::uint16_t queue = 0;
  detour_set detours = 0;
  struct tx_lock* lock = nullptr;  // not null: the queue is shared with other workers
};

struct rx_queue {
  std::uint16_t device = 0;
  std::uint16_t queue = 0;
  std::uint8_t port = 0;  // number
  detour_set detours = 0;
  std::uint8_t member = 0;  // of a bond
};

/// A bond's members by their places.
struct plan_bond {
  bond_hash hash = bond_hash::l34;
  std::uint64_t seed = 0;
  bool lacp = false;
  member_set collecting = 0;                               // what others bring is dropped
  bucket_table buckets{};                                  // who sends
  std::vector<std::array<tx_queue, bond_members_max>> tx;  // by worker
};

struct tap_set;        // capture/tap.h
struct worker_bridge;  // pipeline/worker_bridge.h

struct worker_plan {
  std::vector<rx_queue> rx;
  std::array<tx_queue, max_ports> tx{};
  std::vector<worker_bridge*> bridges;                 // all that there are
  std::array<worker_bridge*, max_inputs> bridge_of{};  // the port; null: there is no such port
};

struct plan {
  std::uint64_t serial = 0;             // grows with each plan
  port_set present = 0;                 // has a device
  port_set up = 0;                      // present, enabled, with link: may send
  bool lacp = false;                    // a bond speaks it
  bool drops_tapped = false;            // a capture wants what is dropped
  std::shared_ptr<const tap_set> taps;  // null: no capture is on
  std::array<plan_port, max_inputs> ports{};
  std::array<plan_domain, n_domains> domains{};
  std::array<std::uint16_t, n_domains> vlan_of{};  // by domain: what a tag says
  std::vector<worker_plan> workers;
  std::array<plan_storm, max_inputs> storms{};  // by port number
  std::vector<plan_bridge> bridges;             // by number; without ports where there is none
  std::unique_ptr<const plan_mirror> mirror;    // null: nothing is mirrored
  std::array<std::unique_ptr<const plan_bond>, max_ports> bonds{};  // null: the port is none
};

}  // namespace coua::dp
