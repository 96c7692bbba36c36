// SPDX-License-Identifier: Apache-2.0
//
// Packets that the controller sends (packet-out). Their actions run in the thread that owns the
// pipeline, which has an executor like a worker's; what they lead to ports and to the L2 switch
// goes by a ring to one worker, since only workers transmit and forward.
//
//   API, controllers --> coua-flows: executor --ring--> worker 0 --> ports, NORMAL
//                            '--> sink of packet-ins
//
// One worker, so that packets leave in the order in which the controller sent them. What finds no
// buffer or a full ring is counted and dropped: there is no OpenFlow error for it.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/spsc_ring.h"
#include "dp/packet_pool.h"
#include "dp/pipeline/packet_in.h"
#include "dp/switch.h"
#include "pipeline/datapath/executor.h"
#include "pipeline/model/action.h"
#include "pipeline/model/of_error.h"

struct rte_mbuf;

namespace coua::dp {

struct packet_out {
  pipeline::port_no in_port = pipeline::port_controller;  // that, or a port of the bridge
  std::vector<std::uint8_t> bytes;                        // 14 to packet_out_bytes_max
  pipeline::action_list actions;
};

/// On its way to the worker.
struct sent_packet {
  rte_mbuf* frame = nullptr;
  pipeline::port_no in_port = 0;
  pipeline::port_no to = 0;  // port_normal: the L2 switch
};
using packet_out_ring = spsc_ring<sent_packet>;

inline constexpr std::size_t packet_out_ring_size = 512;
/// No port has room for a longer frame.
inline constexpr std::size_t packet_out_bytes_max = 9618;

class packet_out_sender {
 public:
  /// `worker` is the number of its executor, `counts` are that one's. Errors: no_memory, no_room.
  static result<std::unique_ptr<packet_out_sender>> create(pipeline::published_plan& follows,
                                                           unsigned worker,
                                                           pipeline::worker_counts& counts,
                                                           packet_out_ring& to);

  // The thread that owns the pipeline.
  /// `actions` are its own, checked, and were compiled for the version that is published. Errors:
  /// bad_request_bad_len.
  pipeline::of_result<void> send(const packet_out& one, const pipeline::op_list& actions,
                                 pipeline::time_ns now, const packet_in_sink& sink);

  /// What the last packet left behind.
  std::span<const pipeline::learned_values> learned() const { return learned_; }

  /// When nobody sends any more: the pool, some of whose packets may be on their way.
  packet_pool take_pool() { return std::move(pool_); }

  /// Any thread: packets and copies that were dropped here, by reason.
  std::vector<counter> drops() const;

 private:
  packet_out_sender(packet_pool pool, packet_out_ring& to);

  packet_pool pool_;
  packet_out_ring& to_;
  const std::unique_ptr<pipeline::packet_copier> copier_;
  std::unique_ptr<pipeline::executor> executor_;
  std::span<const pipeline::learned_values> learned_;
  std::atomic<std::uint64_t> n_full_{0}, n_no_mbuf_{0};
};

/// Gives back what is in the ring. The consumer's thread, or when it has ended.
void drop_packets(packet_out_ring& from);

}  // namespace coua::dp
