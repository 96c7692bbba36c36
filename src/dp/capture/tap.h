// SPDX-License-Identifier: Apache-2.0
//
// One capture between the workers, which offer frames to it, and its reader. Each worker has a ring
// of its own, so none waits for another one, nor for the reader: where the ring is full, the frame
// is counted as lost. Knows no DPDK.
//
// A frame that is about to be sent is staged: copied before the driver has it, because afterwards
// it may be gone. What became of it is settled when the driver has answered; a record that nobody
// wants then stays in the ring as a void one, which the reader passes over.
//
// Life: the thread `tables` makes it known to the workers with a plan (plan.h), and takes it away
// with another one. Once that is published no worker is in here any more.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/counters.h"
#include "dp/capture/capture.h"
#include "dp/capture/packet_filter.h"
#include "dp/capture/record_ring.h"
#include "dp/counters.h"
#include "dp/plan.h"

namespace coua::dp {

/// Names of ports at a time that some capture has seen; further ones share the last.
inline constexpr std::uint32_t capture_interfaces_max = 256;

/// What became of a frame: it went on, or the counter of its drop.
inline constexpr port_counter::id not_dropped = port_counter::count;

struct frame_view {
  const std::uint8_t* bytes = nullptr;
  std::uint32_t stored = 0;  // bytes that are there
  std::uint32_t length = 0;  // of the frame
};

struct capture_event {
  std::uint64_t time_ns = 0;
  std::uint32_t interface = 0;
  std::uint16_t vlan = 0;
  capture_direction direction = capture_direction::in;
};

class tap {
 public:
  /// Errors: invalid (filter, VLANs, drops, snap, buffer), no_memory. May wait for name servers.
  static result<std::shared_ptr<tap>> create(const capture_spec& spec, unsigned n_workers);

  const capture_spec& spec() const { return spec_; }
  bool wants(capture_direction direction) const {
    return direction == capture_direction::in ? spec_.in : spec_.out;
  }
  bool wants_drops() const { return drops_ != 0; }
  bool wants(port_counter::id fate) const {
    return fate == not_dropped ? drops_ == 0 : (drops_ >> fate & 1) != 0;
  }

  // The workers.
  struct record;
  struct staged {
    enum { no_match, full, stored } how = no_match;
    record* copy = nullptr;
    std::uint32_t interface = 0;
  };
  staged stage(unsigned worker, const capture_event& event, const frame_view& frame) noexcept;
  /// True: the reader is to see it.
  bool settle(unsigned worker, const staged& one, port_counter::id fate) noexcept;
  /// Hands what was settled to the reader.
  void publish(unsigned worker) noexcept { rings_[worker]->publish(); }
  /// Gives the room of what was staged since back: the reader is to see none of it.
  void forget(unsigned worker) noexcept { rings_[worker]->forget(); }
  /// All three, of a frame whose fate is known.
  void offer(unsigned worker, const capture_event& event, const frame_view& frame,
             port_counter::id fate) noexcept;

  // The reader; see capture.h.
  std::size_t read(const std::function<bool(const captured_packet&)>& sink);
  bool is_complete() const {
    return spec_.count != 0 && taken_.load(std::memory_order_relaxed) >= spec_.count;
  }
  capture_counts counts(std::uint32_t interface) const;

 private:
  enum counter : unsigned { seen, captured, lost, n_counters };
  explicit tap(const capture_spec& spec) : spec_(spec) {}
  void count(unsigned worker, std::uint32_t interface, counter what) noexcept;
  const record* oldest(std::size_t& ring);

  capture_spec spec_;
  packet_filter filter_;
  std::bitset<n_vlans> vlans_;
  std::uint64_t drops_ = 0;  // bits by port_counter::id
  std::vector<std::unique_ptr<record_ring>> rings_;
  std::unique_ptr<counters> counts_;
  // Frames kept of `count`. Relaxed: nothing but the number hangs on it.
  alignas(64) std::atomic<std::uint64_t> taken_{0};
};

/// A tap with the ports that it stands for now. `others`: also what has no port number.
struct placed_tap {
  std::shared_ptr<tap> what;
  port_set ports = 0;
  bool others = false;
  bool has(unsigned port) const noexcept {
    return port < max_ports ? (ports & port_bit(port)) != 0 : others;
  }
};

/// All of them, as a plan shows them to the workers.
struct tap_set {
  std::vector<placed_tap> all;
  std::array<std::uint32_t, max_inputs> interfaces{};  // by port number
  bool drops = false;                                  // some tap wants dropped frames
};

/// Ports at which a frame that comes in, or that is sent, is to be shown.
port_set tapped_ports(const tap_set& taps, capture_direction direction);

}  // namespace coua::dp
