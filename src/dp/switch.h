// SPDX-License-Identifier: Apache-2.0
//
// The switch as the control side sees it: ports, VLANs, workers, FIB and counters. No DPDK type
// crosses this header, so ctl can be read without DPDK at hand.
//
// Threads: `l2_switch` starts the workers (DPDK lcores) and one thread, `tables`, that owns the FIB
// and the configuration. Every public function may be called from any thread: it posts a command
// to `tables` and waits for its answer, except the counters, which are read where they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/flood_limit.h"
#include "base/result.h"
#include "dp/bond/spread.h"
#include "dp/bridges_max.h"
#include "dp/capture/capture.h"

namespace coua::dp {

/// How the DPDK environment starts; once per process.
struct eal_params {
  bool huge_pages = true;          // false, or none free: ordinary memory (--no-huge)
  unsigned memory_mib = 512;       // for packets; not for the FIB, which has its own arena
  std::vector<unsigned> cores;     // workers run on these; empty: all but the first, at least one
  bool pci = false;                // probe PCI devices
  std::vector<std::string> extra;  // further EAL arguments, as they are
};

enum class vlan_mode { access, trunk };

/// What becomes of a frame whose source address is not learned because of mac_limit: it goes on; it
/// is dropped; or it is dropped and the port is shut down.
enum class limit_action { forward, drop, shutdown };

/// What a mirror port sends: copies of what other ports receive and send (SPAN), and nothing else.
/// Such a port is in no VLAN, learns nothing and receives nothing. Ports go by their names: one
/// that comes back is mirrored again. A mirror port is no source.
struct mirror_sources {
  std::vector<std::string> received, sent;  // ports
  std::vector<std::uint16_t> vlans;         // what any port receives in these
  bool any() const { return !received.empty() || !sent.empty() || !vlans.empty(); }
  bool operator==(const mirror_sources&) const = default;
};

/// How a bond uses its members: all that have a link, each for its flows (a static LAG); those on
/// which the other end speaks LACP, each for its flows; or one of them at a time.
enum class bond_mode { balance, lacp, backup };

/// Several devices as one port (link aggregation).
struct bond_config {
  bond_mode mode = bond_mode::balance;
  std::vector<std::string> members;  // DPDK devices, at most bond_members_max; none: no bond
  bond_hash hash = bond_hash::l34;
  lacp_rate rate = lacp_rate::slow;  // mode lacp
  /// With fewer members that could send the bond has no link, and carries nothing. Not in mode
  /// backup.
  unsigned min_links = 1;
  bool any() const { return !members.empty(); }
  bool operator==(const bond_config&) const = default;
};

/// What becomes of a port that brings more than its storm limits: the rest is dropped; and the port
/// is shut down.
enum class storm_action { drop, shutdown };

/// What a port may bring that is flooded (l2/storm.h). A share of a link that does not say its
/// speed is refused (errc::unsupported).
struct storm_limits {
  flood_limit broadcast, multicast, unknown_unicast;
  storm_action action = storm_action::drop;
  bool any() const { return broadcast.any() || multicast.any() || unknown_unicast.any(); }
  bool has_percent() const {
    const auto is_one = [](const flood_limit& l) { return l.unit == flood_limit::units::percent; };
    return is_one(broadcast) || is_one(multicast) || is_one(unknown_unicast);
  }
  bool operator==(const storm_limits&) const = default;
};

struct port_config {
  std::string name;        // 1 to 32 of [A-Za-z0-9_.-], not - first; unique
  std::string bridge;      // that it belongs to; empty: the first one
  std::string devargs;     // any DPDK device: "0000:03:00.0", "net_tap0,iface=tap0", "net_null0"...
  bond_config bond;        // instead of devargs
  unsigned rx_queues = 0;  // 0: as many as workers, where the port can
  unsigned tx_queues = 0;  // 0: one per worker, where the port can; else shared under a lock
  unsigned rx_descriptors = 0;  // 0: the driver's default
  unsigned tx_descriptors = 0;
  unsigned mtu = 1500;  // 68 to 9600
  bool promiscuous = true;
  bool enabled = true;  // administratively up
  vlan_mode mode = vlan_mode::access;
  std::uint16_t native_vlan = 1;      // access: the VLAN; trunk: of untagged frames, 0: none
  std::vector<std::uint16_t> tagged;  // trunk: VLANs carried with a tag; ignored on access ports
  std::uint64_t mac_limit = 0;        // learned addresses; 0: no limit
  limit_action mac_limit_action = limit_action::forward;
  bool learning = true;
  storm_limits storm;
  unsigned recover_s = 0;  // after which a port that the switch has shut down comes back; 0: never
  mirror_sources mirror;   // any: it is a mirror port
  // Its bridge's OpenFlow port LOCAL, of which each has one at most; never a mirror port.
  bool local = false;
  bool operator==(const port_config&) const = default;
};

/// The VLANs that a port carries, tagged or not: sorted where `tagged` is.
inline std::vector<std::uint16_t> vlans_of(const port_config& port) {
  std::vector<std::uint16_t> made;
  if (port.mirror.any()) return made;
  if (port.mode == vlan_mode::trunk) made = port.tagged;
  if (port.native_vlan != 0)
    made.insert(std::ranges::lower_bound(made, port.native_vlan), port.native_vlan);
  return made;
}

enum class idle_mode { spin, yield, sleep };

/// The rules that the OpenFlow pipeline has at first: one for all packets, actions=NORMAL, which
/// makes it an L2 switch; or none, so that all packets are dropped.
enum class first_rules { normal, none };

struct pipeline_config {
  first_rules start = first_rules::normal;
  std::uint64_t rules_max = 1'000'000;  // 1 to 16,777,216
  unsigned packet_in_rate = 1000;       // packets a second to the controller; 1 to 1,000,000
  unsigned packet_in_burst = 250;       // 1 to 65,536
  bool operator==(const pipeline_config&) const = default;
};

/// A bridge is an OpenFlow pipeline with ports of its own, and an L2 switch of its own (NORMAL).
/// Two bridges never see each other's frames, addresses or VLANs, as two boxes.
struct bridge_config {
  std::string name = "br0";  // 1 to 32 of [A-Za-z0-9_.-], not - first; unique
  pipeline_config pipeline;
  bool operator==(const bridge_config&) const = default;
};

struct switch_config {
  std::uint64_t fib_entries = 1'000'000;
  double fib_max_load = 0.95;
  unsigned port_bits = 10;  // ports numbers that a FIB entry can hold: 2^port_bits
  unsigned ageing_s = 300;  // 0: learned entries never age; else 6 to 1,000,000
  int fib_numa_node = -1;
  bool fib_huge_pages = true;  // false: never reserved ones; transparent ones where there are
  idle_mode idle = idle_mode::yield;
  unsigned tx_flush_us = 50;  // packets wait no longer than this in a transmit buffer
  unsigned burst = 64;        // 1 to 64
  unsigned mbufs = 0;         // per NUMA node, shared; 0: per port, computed from its queues
  unsigned mbuf_bytes = 0;    // data room; 0: fits the MTU
  std::vector<bridge_config> bridges = {bridge_config{}};  // at first; one at least
  bool operator==(const switch_config&) const = default;
};

/// What LACP says of a member of a bond.
struct lacp_status {
  std::uint8_t partner_system[6];  // all zero: there is no partner
  std::uint16_t partner_key, partner_port;
  std::uint8_t actor_flags, partner_flags;  // the state bits of IEEE 802.1AX
  std::uint64_t received, sent, malformed;  // LACPDUs
};

/// One device of a bond.
struct member_status {
  std::string devargs, driver;
  std::uint8_t mac[6];
  bool link_up;
  unsigned link_mbps;  // 0: unknown
  bool active;         // frames are taken from it and sent by it
  // "active", or why it is not: "standby", "down", "lost"; by LACP "no partner", "other partner",
  // "loop", "waiting", "collecting" (bond/lacp.h)
  std::string state;
  std::uint64_t rx_packets, tx_packets;  // that the device counts
  std::optional<lacp_status> lacp = {};
};

struct port_status {
  unsigned number;     // what the FIB stores
  unsigned serial;     // never of another port, while a number is given again
  port_config config;  // with the name of its bridge
  std::string driver;
  std::uint8_t mac[6];
  int numa_node;
  bool link_up;
  unsigned link_mbps;      // 0: unknown
  unsigned longest_frame;  // bytes, by the MTU; a driver may refuse to send a longer one
  unsigned rx_queues, tx_queues;
  bool tx_shared;  // fewer transmit queues than workers
  bool lost;       // the device went away
  std::uint64_t learned;
  // By what the switch has shut it down ("mac_limit", "storm_broadcast", "storm_multicast",
  // "storm_unknown_unicast"), as if it were not enabled, until reopen_port(), until it was disabled
  // in between, or until its recover_s are over; empty: it has not.
  std::string shut_down = {};
  std::uint64_t shut_ns = 0;                // of base/clock.h: when
  unsigned recovers_in_s = 0;               // rounded up; 0: it is not shut down, or stays so
  std::vector<member_status> members = {};  // of a bond, in the order of its configuration
};

/// One named counter, as the CLI and the metrics show it.
struct counter {
  std::string name;  // "rx_packets", "drop_ingress_vlan"...
  std::uint64_t value;
};

/// Of the bridge of its port.
struct fib_entry {
  std::uint16_t vlan;
  std::uint64_t mac;  // first byte on the wire in bits 40-47
  unsigned port;      // port number
  bool is_static;
  // Upper bound of the time since it was last seen; 0 for static ones, and where nothing ages.
  unsigned age_s;
  // Of the port. Answers have it; in an insert it guards against a port that was removed since its
  // number was asked for. 0: whichever port has the number.
  unsigned port_serial = 0;
};

struct fib_filter {
  std::string bridge;  // empty: all of them
  std::optional<std::uint16_t> vlan;
  std::optional<unsigned> port;
  std::optional<std::uint64_t> mac;
  std::optional<bool> is_static;
  unsigned port_serial = 0;  // of `port`: matches nothing else that has its number later; 0: does
};

struct fib_status {
  std::uint64_t entries, slots, buckets, buckets_asked, statics, in_secondary, bytes;
  std::uint64_t added, updated, erased, aged_out, refused, moves, retries;
  std::vector<std::uint64_t> path_length;
  std::string layout, memory, simd;
  unsigned ageing_s, value_bits;
  // Learning.
  std::uint64_t reports, reports_dropped, reports_stale, moved, flapping, limited;
};

struct vlan_status {
  std::string bridge;
  std::uint16_t vlan;
  std::vector<unsigned> tagged, untagged;  // port numbers: the flood list
  std::uint64_t learned;
  std::vector<counter> counters;
};

/// That the switch goes on, for a watchdog.
struct switch_pulse {
  std::vector<std::uint64_t> rounds;  // of each worker, by number
  std::uint64_t turns = 0;            // of the thread `tables`: many in a second
  std::uint64_t driver_ns = 0;  // for how long that has been in drivers of ports; 0: it is not
};

struct worker_status {
  unsigned number, core;
  int numa_node;
  // "p0:1": receive queue 1 of port p0; "b0/1:0": queue 0 of the second member of bond b0
  std::vector<std::string> queues;
  double cycles_per_packet;  // over the last second; 0: no packets
  double busy;               // share of the cycles that found packets, over the last second
  std::vector<std::uint64_t> burst_histogram;  // index: packets in the burst
  std::vector<counter> counters;
};

/// What the L2 switch would do with a frame, as things are now.
struct l2_verdict {
  struct copy {
    unsigned port = 0;
    std::vector<std::uint8_t> bytes;
    std::string member = {};  // of a bond: the devargs of the one that sends it
  };
  std::string what;        // "forwarded", "flooded", or the counter of the drop
  std::uint16_t vlan = 0;  // 0: it belongs to none
  std::vector<copy> copies;
  std::string limit;  // that it falls under, and whether there is room just now; empty: none
};

class pipeline_owner;

class l2_switch {
 public:
  /// Starts the environment, the workers and the FIB; no port yet. Once per process at a time. The
  /// place of an error begins with the field of the configuration that brought it about, as the
  /// file calls it: "fib.entries", "dpdk.arguments", "bridges[0].pipeline: ...".
  static result<std::unique_ptr<l2_switch>> create(const eal_params&, const switch_config&);
  virtual ~l2_switch() = default;  // stops the workers, closes the ports

  // Where a function takes the name of a bridge, an empty one is the first of the switch.

  /// Adds a bridge without ports. Errors: invalid, exists, no_room (bridges_max), no_memory.
  virtual result<void> add_bridge(const bridge_config&) = 0;
  /// Errors: not_found, busy (it has ports, or is the only one). Who refers to its pipeline lets go
  /// of that before.
  virtual result<void> remove_bridge(const std::string& name) = 0;
  /// The first one is the oldest.
  virtual std::vector<bridge_config> bridges() const = 0;
  /// The OpenFlow pipeline of a bridge (dp/pipeline/pipeline_owner.h). Null: there is no such
  /// bridge, or it has none, as in tests.
  virtual pipeline_owner* pipeline(const std::string& bridge) = 0;
  /// While it is on, workers pass the pipeline of the bridge over: every packet goes the way of
  /// NORMAL.
  virtual void set_standalone(const std::string& bridge, bool on) = 0;

  /// "2 MiB huge pages, 1 worker on core 1, FIB 1.0 M entries (8.6 MiB, 2 MiB pages), avx512"
  virtual std::string describe() const = 0;

  /// Adds a port; on failure nothing is left behind. A port number is reused only after its FIB
  /// entries are gone. not_found: there is no such bridge; exists: a port of this name, or a local
  /// port of the bridge.
  virtual result<unsigned> add_port(const port_config&) = 0;
  virtual result<void> remove_port(const std::string& name) = 0;
  /// Changes what can change while the port runs (enabled, VLANs, mac_limit, its action, storm,
  /// recover_s, mirror, learning, promiscuous, mtu, a bond's mode, hash, rate and members, of
  /// which those that stay go on as before); name, bridge, devargs, queues, descriptors and
  /// local must be the same (errc::unsupported).
  virtual result<void> update_port(const port_config&) = 0;
  /// Brings a port back that the switch has shut down; any other is left as it is. Errors:
  /// not_found, and of the driver.
  virtual result<void> reopen_port(const std::string& name) = 0;
  /// For who takes a change back: as add_port() or update_port() with its configuration, whichever
  /// is needed. If it was shut down, it is so again, without having been open in between; if it was
  /// open, it is, even where the switch has shut it down since.
  /// Errors: of these.
  virtual result<void> restore_port(const port_status& was) = 0;
  virtual std::vector<port_status> ports() const = 0;
  virtual result<std::vector<counter>> port_counters(const std::string& name) const = 0;

  virtual std::vector<vlan_status> vlans() const = 0;
  virtual std::vector<worker_status> workers() const = 0;
  /// Waits for nobody: `tables` may be in a driver, which opens a port as slowly as it likes.
  virtual switch_pulse pulse() const = 0;
  /// Sums over all ports, those that were removed included, and workers: they never go back.
  virtual std::vector<counter> totals() const = 0;

  virtual fib_status fib() const = 0;
  virtual result<void> set_ageing(unsigned seconds) = 0;
  /// Adds or replaces static (or, for loads, dynamic) entries. Returns how many were stored; an
  /// entry that is invalid or refused fails the call with its index in the message, those before
  /// it stay. not_found: there is no port of this number (and serial).
  virtual result<std::uint64_t> fib_insert(std::span<const fib_entry> entries) = 0;
  virtual result<void> fib_erase(const std::string& bridge, std::uint16_t vlan,
                                 std::uint64_t mac) = 0;
  /// Removes all learned entries that match (static ones too if the filter says is_static = true).
  /// Returns how many. not_found: the port of the filter is no longer there.
  virtual result<std::uint64_t> fib_flush(const fib_filter&) = 0;
  virtual result<fib_entry> fib_find(const std::string& bridge, std::uint16_t vlan,
                                     std::uint64_t mac) const = 0;
  /// Streams matching entries; `sink` returns false to stop. The table stays in use meanwhile.
  virtual result<void> fib_dump(
      const fib_filter&, const std::function<bool(std::span<const fib_entry>)>& sink) const = 0;

  /// Nothing is sent, learned or counted. not_found: there is no such port.
  virtual result<l2_verdict> trace_l2(unsigned port, std::span<const std::uint8_t> frame) const = 0;

  /// Copies of the frames that pass from now on. The switch outlives what it returns. Errors:
  /// invalid, not_found (port), no_room (captures_max run already), no_memory. May wait for name
  /// servers if the filter has names of hosts.
  virtual result<std::unique_ptr<capture>> start_capture(const capture_spec&) {
    return fail(errc::unsupported, "capture", "this switch has none");
  }
};

}  // namespace coua::dp
