// SPDX-License-Identifier: Apache-2.0
//
// Open vSwitch with DPDK, as Debian packages it: a daemon with a database, a folder, sockets and a
// network namespace of its own, so one that runs on the machine is not touched.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/cases/use_case.h"
#include "bench/forward/bench_switch.h"
#include "bench/forward/forward_options.h"
#include "bench/harness/foreign_program.h"

namespace coua::bench {

class ovs_process {
 public:
  /// With the bridge br0 and the rules, without ports. `rules` is a file as `ovs-ofctl add-flows`
  /// reads it; `folder` is made, and outlives it. Errors: not_found (the package is not installed,
  /// or the library of preload.h), unsupported (there is no CPU for its control threads), io (what
  /// a program of it printed last).
  static result<std::unique_ptr<ovs_process>> start(const port_plan&, const std::string& rules,
                                                    const std::string& folder, ovs_caches,
                                                    ovs_limits, unsigned workers, bool huge_pages);
  /// Memory that start() takes, in MiB; of it, that of its packets, which may be huge pages.
  static std::uint64_t memory_mib(const port_plan&);
  static std::uint64_t pool_mib(const port_plan&);

  struct port {
    std::string name;
    pipeline::port_no number;
    std::string devargs;
    unsigned queues;
  };
  /// In one transaction: returns when they are there. Errors: io.
  result<void> add_ports(const std::vector<port>& ports);

  /// What `ovs-appctl` and `ovs-vsctl` answer. Errors: io.
  result<std::string> ask(const word_list& words) const;
  result<std::string> set(const word_list& words) const;
  /// Its limit of flows is ours again: it lowers it when a look at all flows seems to take long, as
  /// of very many, or in one that was paused.
  result<void> lift_limits() const;

  foreign_program& program() { return *switch_; }
  /// Those that move packets. There are none before the first port.
  std::vector<pid_t> worker_threads() const;
  /// The error, with what the daemon's log says of it.
  error with_log(error of) const;

 private:
  explicit ovs_process(std::string folder) : folder_(std::move(folder)) {}
  result<void> bring_up(const port_plan&, const std::string& rules, ovs_caches, ovs_limits,
                        unsigned workers, bool huge_pages);
  result<void> start_database();
  result<void> start_switch(const port_plan&, ovs_caches, ovs_limits, unsigned workers,
                            bool huge_pages);
  word_list environment() const;

  const std::string folder_;
  std::unique_ptr<foreign_program> database_, switch_;
};

}  // namespace coua::bench
