// SPDX-License-Identifier: Apache-2.0
//
// A port whose other end is the test: two rings, one to put frames in, one to take them out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct rte_mbuf;
struct rte_mempool;
struct rte_ring;

namespace coua::dp {

using frame_bytes = std::vector<std::uint8_t>;

/// As devices count it.
struct dropped_frames {
  std::uint64_t rx_missed, rx_errors, rx_no_mbuf, tx_errors;
};

/// Needs a running environment, and must outlive the switch's port.
class test_ring_port {
 public:
  explicit test_ring_port(const std::string& name, unsigned ring_size = 1024);
  ~test_ring_port();  // frees what is left in the rings
  test_ring_port(const test_ring_port&) = delete;
  test_ring_port& operator=(const test_ring_port&) = delete;

  /// For port_config. DPDK removes the device with the port: make() makes it again.
  const std::string& devargs() const { return devargs_; }
  void make();

  /// False when the ring is full. `segments` > 1 spreads the bytes over several packets' buffers.
  bool send(const frame_bytes& frame, unsigned segments = 1);
  /// As a driver does that takes tags out: an untagged frame, and a tag of `control` beside it.
  bool send_stripped(const frame_bytes& frame, std::uint16_t control);
  /// From now on its frames begin where their packets do.
  void leave_no_headroom() { headroom_ = false; }
  /// Sends the next frame that came out of `other`, the packet itself and not a copy.
  bool send_from(test_ring_port& other);
  /// The next frame that came out, waiting up to `ms` for it.
  std::optional<frame_bytes> receive(unsigned ms = 30'000);
  /// True when nothing comes out within `ms`.
  bool silent(unsigned ms = 30);
  /// Frames that the switch has not received yet; and those that it has sent.
  unsigned waiting() const;
  unsigned came_out() const;
  /// Pulls the cable, or puts it back. Only while the switch has the port.
  void set_link(bool up);
  /// What its link says of its speed from now on, until a ring port is destroyed; 0: nothing. Only
  /// while the switch has the port.
  void set_speed(unsigned mbps);
  /// From now on, until a ring port is destroyed, DPDK answers this when the switch sets a link.
  static void fail_links(int error);
  /// From now on, until it is told nothing or a ring port is destroyed, every device says that it
  /// has dropped so many.
  static void say_dropped(std::optional<dropped_frames> n);
  /// Pulls the device itself, until a ring port is destroyed. Only while the switch has the port.
  void vanish();
  /// Its driver says that it is gone. Only while the switch has the port.
  void say_removed();
  /// From now on, until a ring port is destroyed, the device stops at a frame that is longer. Only
  /// while no frame is on its way.
  void refuse_longer_than(unsigned bytes);
  /// From now on, until a ring port is destroyed, the worker takes `ms` for each poll of the
  /// device; and whether it is in one.
  void poll_slowly(unsigned ms);
  static bool in_poll();
  /// As many workers as were in one at a time.
  static unsigned most_in_poll();
  /// Frames that the test has allocated and that are not back.
  static unsigned in_use();
  /// Takes all packets of the test's pool but `left`; and gives them back.
  static void exhaust(unsigned left);
  static void relax();

 private:
  /// The frame in a packet of its own, or nullptr: there is none left.
  rte_mbuf* packet_of(const frame_bytes& frame, unsigned segments) const;
  bool put(rte_mbuf* packet);
  /// The next packet that came out, or nullptr after `ms`.
  rte_mbuf* take(unsigned ms);
  /// DPDK's number of it.
  std::uint16_t device() const;

  std::string name_, devargs_;
  bool headroom_ = true;
  rte_ring* in_;
  rte_ring* out_;
};

}  // namespace coua::dp
