// SPDX-License-Identifier: Apache-2.0
//
// The real switch with two ports, its FIB loaded, and an endless packet source.
//
//   packet file, repeated --source--> in | switch | out --net_null--> nowhere
//
// The same ports, packets and buffers serve the raw I/O rate (the switching taken out of the
// worker's loop), loops with other tables, and, in a process of its own, testpmd.
#pragma once

#include <memory>
#include <string>

#include "bench/forward/bench_switch.h"
#include "bench/traffic/l2_traffic.h"

namespace coua::bench {

/// All addresses of the traffic, as static entries of a port. Errors: of the switch.
result<void> load_addresses(dp::l2_switch& to, const l2_traffic&, unsigned port);

class l2_bed {
 public:
  /// The packet file must be there. The memory is the same at every call. Errors: of the switch.
  static result<std::unique_ptr<l2_bed>> create(const l2_traffic&, const port_plan&,
                                                const forward_options&, const packet_memory&);
  ~l2_bed();

  /// The switch; fails when a packet was flooded or dropped.
  mover& switching() { return *switching_; }
  /// The worker's loop without the switching.
  mover& raw() { return *raw_; }

  /// While a writer erases and inserts, some destinations are not there, and flooding is right.
  void set_churning(bool on);

  dp::l2_switch& device() { return switch_->device(); }
  const l2_traffic& traffic() const { return traffic_; }
  unsigned out_port() const { return out_; }
  double bytes_per_entry() const;

 private:
  explicit l2_bed(const l2_traffic& traffic) : traffic_(traffic) {}
  result<void> settle();

  l2_traffic traffic_;
  std::unique_ptr<bench_switch> switch_;
  unsigned out_ = 0;
  std::unique_ptr<worker_mover> switching_, raw_;
};

}  // namespace coua::bench
