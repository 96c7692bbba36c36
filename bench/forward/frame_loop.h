// SPDX-License-Identifier: Apache-2.0
//
// A port that gives the frames of a packet file again and again. They lie one after the other in
// memory, and a frame costs the copy of its lines into a packet from the port's pool. (net_pcap
// fetches each from a packet of its own: with many of them, two lines that are in no cache, and for
// which no hardware looks ahead.)
//
//   net_null: empty packets --> callback behind its receive call: frames --> who polls
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/cache_line.h"
#include "base/result.h"

struct rte_eth_rxtx_callback;
struct rte_mbuf;

namespace coua::bench {

class frame_loop {
 public:
  /// Data room that a packet must have for a frame.
  static constexpr std::size_t room_for(std::size_t frame_bytes) {
    return (frame_bytes + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
  }

  /// On each receive queue of a DPDK device, a net_null, which is configured and whom nobody polls.
  /// Each queue begins with the first frame. Errors: those of net::pcap_reader; not_found (no such
  /// device), invalid (no frames, or of several sizes), no_memory, io.
  static result<std::unique_ptr<frame_loop>> start(const std::string& device,
                                                   const std::string& pcap_file);
  /// Nobody polls the device.
  ~frame_loop();
  frame_loop(const frame_loop&) = delete;
  frame_loop& operator=(const frame_loop&) = delete;

 private:
  /// The place of a queue; written by who polls it.
  struct alignas(cache_line_bytes) place {
    const frame_loop* of = nullptr;
    const std::byte* next = nullptr;
  };

  frame_loop() = default;
  result<void> load(const std::string& pcap_file);
  result<void> make_room(const std::string& pcap_file, std::size_t frame_bytes);
  result<void> add_callbacks(const std::string& device);
  static std::uint16_t fill(std::uint16_t port, std::uint16_t queue, rte_mbuf** packets,
                            std::uint16_t n, std::uint16_t most, void* of_queue) noexcept;

  arena frames_;
  const std::byte* first_ = nullptr;
  const std::byte* end_ = nullptr;
  std::uint16_t frame_bytes_ = 0;
  std::size_t room_ = 0;  // from one frame to the next
  std::uint16_t port_ = 0;
  std::vector<place> places_;                            // of the queues
  std::vector<const rte_eth_rxtx_callback*> callbacks_;  // likewise
};

}  // namespace coua::bench
