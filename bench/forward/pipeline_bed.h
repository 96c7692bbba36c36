// SPDX-License-Identifier: Apache-2.0
//
// The real switch with the rules of a use case, and an endless packet source behind one of its
// ports; what leaves by the others goes nowhere.
//
//   packet file, repeated --source--> port | pipeline | ports --net_null--> nowhere
#pragma once

#include <memory>

#include "bench/cases/use_case.h"
#include "bench/forward/bench_switch.h"
#include "bench/harness/churn.h"

namespace coua::bench {

class pipeline_bed {
 public:
  /// The packet file must be there. The memory is the same at every call. Errors: of the switch.
  static result<std::unique_ptr<pipeline_bed>> create(const use_case& of, const port_plan&,
                                                      const forward_options&, const packet_memory&);

  /// The switch; fails when a packet was dropped.
  mover& switching() { return *switching_; }
  /// The same, for who measures otherwise. They have not worked yet.
  worker_mover& workers() { return *switching_; }
  /// The worker's loop without the switching.
  mover& raw() { return *raw_; }
  worker_mover& raw_workers() { return *raw_; }
  /// Adds all spare rules of the case. Returns who removes them and adds them again, through the
  /// owner of the pipeline.
  result<std::unique_ptr<churned>> make_writer();

 private:
  explicit pipeline_bed(const use_case& of) : case_(of) {}
  result<void> add_ports(const port_plan& ports);
  result<void> load_rules();

  const use_case& case_;
  std::unique_ptr<bench_switch> switch_;
  std::unique_ptr<worker_mover> switching_, raw_;
};

}  // namespace coua::bench
