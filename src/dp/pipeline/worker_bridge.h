// SPDX-License-Identifier: Apache-2.0
//
// What one worker has of one bridge. The worker comes to it by its plan: from the port that a frame
// came in by, or as one of all bridges. So it comes with a plan, and goes when a grace period has
// passed after the last plan that names it.
#pragma once

#include <atomic>
#include <memory>

#include "base/hash_key.h"
#include "dp/pipeline/learn_out.h"
#include "dp/pipeline/mbuf_packet.h"
#include "dp/pipeline/packet_in_ring.h"
#include "dp/pipeline/packet_out.h"
#include "dp/pipeline/rate_limit.h"
#include "pipeline/datapath/executor.h"

namespace coua::dp {

struct worker_bridge_params {
  unsigned number = 0;                   // of the bridge
  std::uint64_t learn_again_cycles = 0;  // learn_out
  hash_key learn_key{};                  // likewise
  std::uint64_t packet_in_cycles = 0;    // between two packets to the controller, in the long run
  unsigned packet_in_burst = 1;
};

struct worker_bridge {
  explicit worker_bridge(const worker_bridge_params& params)
      : number(params.number),
        packet_in_limit(params.packet_in_cycles, params.packet_in_burst),
        learned(params.learn_again_cycles, params.learn_key) {}
  worker_bridge(const worker_bridge&) = delete;
  worker_bridge& operator=(const worker_bridge&) = delete;

  /// What the worker runs, which takes copies from `copier`. Set before the first plan.
  std::unique_ptr<pipeline::executor> executor;
  const unsigned number;
  std::atomic<bool> standalone{false};  // the pipeline is passed over; relaxed: some bursts later
  mbuf_copier copier;
  rate_limit packet_in_limit;
  packet_in_ring packet_ins{packet_in_ring_size};
  packet_out_ring* packet_outs = nullptr;  // that this worker empties
  learn_out learned;
};

}  // namespace coua::dp
