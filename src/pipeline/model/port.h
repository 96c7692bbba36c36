// SPDX-License-Identifier: Apache-2.0
//
// Ports as OpenFlow numbers them, and what the pipeline must know of each.
#pragma once

#include <cstdint>
#include <string>

namespace coua::pipeline {

using port_no = std::uint32_t;

// Reserved ports (ofp_port_no). All but LOCAL are ways to say where to send a packet.
inline constexpr port_no port_max = 0xffff'ff00;      // the last number of an ordinary port
inline constexpr port_no port_in_port = 0xffff'fff8;  // back where it came from
inline constexpr port_no port_table = 0xffff'fff9;    // through the pipeline; only in a packet-out
inline constexpr port_no port_normal = 0xffff'fffa;   // as an L2 switch would
inline constexpr port_no port_flood = 0xffff'fffb;    // all that do not forbid floods
inline constexpr port_no port_all = 0xffff'fffc;
inline constexpr port_no port_controller = 0xffff'fffd;
inline constexpr port_no port_local = 0xffff'fffe;
inline constexpr port_no port_any = 0xffff'ffff;  // none: the absence of a filter or a watch

/// A number that a port of the switch can have.
constexpr bool is_standard_port(port_no number) {
  return (number >= 1 && number <= port_max) || number == port_local;
}

/// "3", "LOCAL", "CONTROLLER"...
inline std::string port_name(port_no number) {
  switch (number) {
    case port_in_port: return "IN_PORT";
    case port_table: return "TABLE";
    case port_normal: return "NORMAL";
    case port_flood: return "FLOOD";
    case port_all: return "ALL";
    case port_controller: return "CONTROLLER";
    case port_local: return "LOCAL";
    case port_any: return "ANY";
    default: return std::to_string(number);
  }
}

struct port {
  port_no number = 0;
  bool live = true;           // for fast failover: the link is up, and nothing blocks it
  bool no_recv = false;       // OFPPC_NO_RECV: packets from it are dropped
  bool no_fwd = false;        // OFPPC_NO_FWD: packets to it are dropped
  bool no_flood = false;      // FLOOD leaves it out
  bool no_packet_in = false;  // OFPPC_NO_PACKET_IN: of its packets, none goes there for a miss
  port_no own = 0;            // LOCAL: the number that it would have as any other port; else 0

  bool operator==(const port&) const = default;
};

}  // namespace coua::pipeline
