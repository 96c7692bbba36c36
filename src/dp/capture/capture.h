// SPDX-License-Identifier: Apache-2.0
//
// Copies of the frames that pass the switch, for who wants to look at them. What a capture asks
// for, what it gets, and how it is read. No DPDK type crosses this header.
//
// Where a frame is copied:
//
//   in     as the port received it (a tag that the driver took out is put back), before any rule
//   out    as the port sends it; only what the driver took
//   drop   where it is dropped, as it was then, with the name of the counter
//
// A frame's VLAN is that of its tag (type 0x8100), or the native VLAN of the port that it comes in
// or leaves by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace coua::dp {

/// At a time. A worker asks each of them for each frame that some capture may want.
inline constexpr unsigned captures_max = 8;
inline constexpr std::uint32_t capture_snap_max = 65'535;  // longer than any frame of a port
inline constexpr std::size_t capture_buffer_min = std::size_t{256} << 10;
inline constexpr std::size_t capture_buffer_max = std::size_t{256} << 20;
inline constexpr std::size_t capture_buffer = std::size_t{4} << 20;

struct capture_spec {
  std::vector<std::string> ports;  // names; empty: all, those that are added later too
  bool in = true, out = true;      // at least one
  std::vector<std::pair<std::uint16_t, std::uint16_t>> vlans;  // first and last; empty: all
  // Names of drop counters, with or without "drop_", or "any". Empty: frames that ports receive and
  // send; else: those that are dropped for such a reason, and no others.
  std::vector<std::string> drops;
  std::string filter;            // in libpcap's language; empty: all
  std::uint32_t snap = 0;        // bytes kept of a frame; 0: capture_snap_max
  std::uint64_t count = 0;       // frames, then it is over; 0: no limit
  std::size_t buffer_bytes = 0;  // per worker; 0: capture_buffer
};

enum class capture_direction : std::uint8_t { in, out };

struct captured_packet {
  std::uint64_t time_ns = 0;    // since 1970
  std::uint32_t interface = 0;  // capture::interfaces()
  std::uint32_t length = 0;     // on the wire
  std::uint16_t vlan = 0;       // 0: none
  capture_direction direction = capture_direction::in;
  const char* drop = nullptr;  // the counter; null: it was not dropped here
  std::span<const std::uint8_t> bytes;
};

struct capture_counts {
  std::uint64_t seen = 0;      // of the ports, in the direction, dropped for a reason asked for
  std::uint64_t captured = 0;  //   that were in the VLANs, passed the filter, and were copied
  std::uint64_t lost = 0;      //   likewise, but the buffer was full
};

/// A capture that runs, for its one reader. It ends with this object.
class capture {
 public:
  virtual ~capture() = default;

  /// Hands over what was captured since, the oldest first, until the sink returns false; the packet
  /// that it was called with counts as read. Never waits. Returns how many. The bytes are the
  /// sink's until it returns.
  virtual std::size_t read(const std::function<bool(const captured_packet&)>& sink) = 0;
  /// No more comes in; what is there can still be read.
  virtual void stop() = 0;
  /// The limit `count` is reached: what is there to be read is the rest.
  virtual bool is_complete() const = 0;
  /// Names of ports; grows at its end. What the controller sends without a port comes from
  /// "(controller)".
  virtual std::vector<std::string> interfaces() const = 0;
  virtual capture_counts counts(std::uint32_t interface) const = 0;
};

}  // namespace coua::dp
