// SPDX-License-Identifier: Apache-2.0
//
// The counters of the datapath, by name; the names are stable and the same in the API, the CLI and
// the metrics. Every worker has its own rows (base/counters.h), readers sum them.
//
// A frame that was received is counted once in `rx_packets` of its port and once in exactly one of
// `forwarded`, `flooded`, `to_controller`, `to_lacp` and the drops marked (rx); one that rules of
// the OpenFlow pipeline send several times, once for each time. A frame or copy handed to a port is
// counted once in `tx_packets` or one of its `drop_tx` counters. So, over all ports and at rest:
//
//   rx_packets + from_controller + pipeline_copies
//                            = forwarded + flooded + to_controller + to_lacp + sum of drops (rx)
//   forwarded + flood_copies + mirrored
//                            = tx_packets + drop_tx_full + drop_tx_too_long
//
// What the controller sends without naming a port counts in the totals only. `drop_shut_down` of a
// port is no worker's: what waited in its device when it came back from being shut down, and was
// never received.
#pragma once

#include <cstddef>

namespace coua::dp {

namespace port_counter {
enum id : unsigned {
  rx_packets,             // received
  rx_bytes,               //   without the frame check sequence
  tx_packets,             // taken by the driver
  tx_bytes,               //
  forwarded,              // received here, sent to the one port that the FIB or a rule names
  flooded,                // received here, sent to the other ports of the VLAN
  flood_copies,           //   copies made by that, one per port
  mirrored,               // copies for this mirror port
  to_controller,          // received here, handed on to the controller
  to_lacp,                // received here, of the slow protocols, for the bond itself
  from_controller,        // sent by the controller, as if received here
  pipeline_copies,        // sent once more by the pipeline: what a frame is beyond the first one
  drop_pipeline,          // (rx) the pipeline sent it nowhere: `coua flow stats` says why
  drop_packet_in_rate,    // (rx) for the controller, above the rate that is allowed
  drop_packet_in_full,    // (rx) for the controller, which does not keep up
  drop_truncated,         // (rx) shorter than its Ethernet or VLAN header
  drop_lacp_full,         // (rx) for the bond itself, which does not keep up
  drop_lacp_tx,           // LACPDUs of this bond that its member did not take
  drop_bond_standby,      // (rx) on a member of the bond that is not in use
  drop_ingress_vlan,      // (rx) the port does not carry this VLAN
  drop_source_multicast,  // (rx) its source is a group address
  drop_link_local,        // (rx) for 01:80:C2:00:00:0x, which no bridge forwards
  drop_hairpin,           // (rx) its destination is behind the port that it came from
  drop_egress_vlan,       // (rx) the port of its destination does not carry this VLAN
  drop_port_down,         // (rx) the port that it is for is down, disabled or gone
  drop_no_fwd,            // (rx) a controller lets nothing be forwarded to that port (no_fwd)
  drop_no_member,         // (rx) to be flooded, but no other port of the VLAN is up
  // (rx) to be flooded, above the port's limit for its kind (l2/storm.h); in the order of kinds
  drop_storm_broadcast,
  drop_storm_multicast,
  drop_storm_unknown_unicast,
  drop_mac_limit,           // (rx) from an address above the port's limit, which keeps such out
  drop_no_headroom,         // (rx) no room to push a tag, or no packet for a copy to change
  drop_mirror_no_mbuf,      // copies for this mirror port that could not be made: pool exhausted
  drop_no_mbuf,             // flood copies, one per port, that could not be made: pool exhausted
  drop_tx_full,             // the transmit queue of this port was full
  drop_tx_too_long,         // longer than this port's MTU, and its driver refused it
  learn_reports,            // addresses reported to the FIB's owner
  learn_suppressed,         // not reported: a report of the address went out just before
  learn_ring_full,          // not reported: the ring is full (the next packet tries again)
  source_static_elsewhere,  // its source has a static entry at another port (forwarded all the
                            // same)
  count
};
const char* name(std::size_t id);
}  // namespace port_counter

namespace vlan_counter {
enum id : unsigned { rx_packets, rx_bytes, forwarded, flooded, count };
const char* name(std::size_t id);
}  // namespace vlan_counter

namespace worker_counter {
enum id : unsigned {
  rounds,        // turns over all its queues
  rounds_empty,  //   that found nothing
  rx_packets,    // received
  cycles_busy,   // in rounds that found packets
  cycles_idle,   // in the others
  yields,        // times it left the CPU to others
  sleeps,        // times it slept
  tx_flushes,    // transmit bursts
  count
};
const char* name(std::size_t id);
}  // namespace worker_counter

}  // namespace coua::dp
