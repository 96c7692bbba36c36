// SPDX-License-Identifier: Apache-2.0
//
// A bridge of the switch: its pipeline with the thread that owns it (pipeline/pipeline_owner.h),
// and what each worker has of it (pipeline/worker_bridge.h). What makes it an L2 switch is not
// here: all bridges have one FIB, and each domain of it is of one of them (l2/domain_map.h).
//
// Made and destroyed by whoever asks for it, in a thread that may wait; in between `tables` has it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "dp/pipeline/pipeline_owner.h"
#include "dp/pipeline/worker_bridge.h"
#include "dp/switch.h"

namespace coua::dp {

class switch_bridge {
 public:
  /// 1 to 32 of [A-Za-z0-9_.-], not - first, and what a pipeline can be. Errors: invalid.
  static result<void> validate(const bridge_config& config);
  /// `number`: below bridges_max, and of no other bridge. Its thread runs on these CPUs. Errors:
  /// no_memory, no_room.
  static result<std::unique_ptr<switch_bridge>> create(const bridge_config& config, unsigned number,
                                                       unsigned n_workers,
                                                       std::span<const unsigned> cpus);
  /// When no worker has it any more.
  ~switch_bridge();
  switch_bridge(const switch_bridge&) = delete;
  switch_bridge& operator=(const switch_bridge&) = delete;

  const bridge_config& config() const { return config_; }
  const std::string& name() const { return config_.name; }
  unsigned number() const { return number_; }
  pipeline_owner& pipeline() const { return *pipeline_; }
  worker_bridge* of_worker(unsigned worker) const { return ends_[worker].get(); }
  /// Any thread.
  void set_standalone(bool on);
  /// Ends the thread; of what was on its way nothing is left but packets that ports have.
  void stop();
  /// After stop(), before the end: the pool of packets that controllers sent.
  packet_pool take_pool() { return pipeline_->take_pool(); }

 private:
  switch_bridge(const bridge_config& config, unsigned number) : config_(config), number_(number) {}

  const bridge_config config_;
  const unsigned number_;
  packet_out_ring packet_outs_{packet_out_ring_size};
  std::unique_ptr<pipeline_owner> pipeline_;          // outlives the executors
  std::vector<std::unique_ptr<worker_bridge>> ends_;  // by worker
};

}  // namespace coua::dp
