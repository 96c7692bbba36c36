// SPDX-License-Identifier: Apache-2.0
//
// Traffic for a learning switch: frames to addresses that are spread evenly over all that the FIB
// holds, from hosts behind another port. One frame for each flow; a packet source repeats them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace coua::bench {

struct l2_traffic {
  /// What --case calls it, beside the names of use cases.
  static constexpr const char* case_name = "l2";

  std::uint64_t rules = 1000;    // addresses in the FIB, all behind the port that frames leave by
  std::uint64_t flows = 1000;    // of them that frames go to; at most `rules`
  std::uint64_t sources = 1000;  // hosts that send, behind the other port
  unsigned size = 64;            // bytes on the wire with the check sequence, 64 to 1518
  std::uint16_t vlan = 1;        // of the addresses; the frames are not tagged
  std::uint64_t seed = 1;        // of the order of the frames
};

/// The unicast address of rule `index`; sources have those from `rules` on.
std::uint64_t l2_address(std::uint64_t index);

/// Errors: invalid (flows, sources or size out of range).
result<void> check_traffic(const l2_traffic&);

/// Bytes of a frame in memory and in a packet file: without the check sequence.
unsigned frame_bytes(const l2_traffic&);

/// Writes the frame of flow `index` (Ethernet, IPv4, UDP); `frame` has frame_bytes().
void make_frame(const l2_traffic&, std::uint64_t index, std::span<std::uint8_t> frame);

/// Writes all frames as a packet file, in random order: the rules are inserted in that of their
/// index, and a table may keep neighbours of it together. Errors: io.
result<void> write_packets(const l2_traffic&, const std::string& path);

/// Writes "VLAN MAC PORT" for each rule, as `coua fib load` reads it. Errors: io.
result<void> write_addresses(const l2_traffic&, const std::string& port, const std::string& path);

}  // namespace coua::bench
