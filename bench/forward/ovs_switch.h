// SPDX-License-Identifier: Apache-2.0
//
// Open vSwitch with DPDK, as Debian packages it, on the same ports, packets and rules, and on the
// CPU of our worker. It has a database, a folder and sockets of its own, so one that runs on the
// machine is not touched. Between its windows it is stopped by signal.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/cases/use_case.h"
#include "bench/forward/bench_switch.h"
#include "bench/forward/mover.h"
#include "bench/harness/foreign_program.h"

namespace coua::bench {

class ovs_switch final : public mover {
 public:
  /// `rules` is a file as `ovs-ofctl add-flows` reads it; `folder` outlives it. Takes packets until
  /// misses have died down. Errors: not_found (the package is not installed), no_room (its pools
  /// have no room for that many packets), io (what a program of it printed last).
  static result<std::unique_ptr<ovs_switch>> start(const use_case&, const port_plan&,
                                                   const std::string& rules,
                                                   const std::string& folder, ovs_caches,
                                                   unsigned workers, bool huge_pages);
  /// Memory that start() takes, in MiB; of it, that of its packets, which may be huge pages.
  static std::uint64_t memory_mib(const port_plan&);
  static std::uint64_t pool_mib(const port_plan&);
  ~ovs_switch() override;

  /// "ovs", "ovs/smc", "ovs/none".
  std::string name() const override;
  result<double> run(double seconds) override;
  /// Where its packets found their rule, as shares: "emc", "smc", "megaflow", "upcall". How many
  /// "megaflows" there are after misses have died down, of how many "megaflow_masks" (of not too
  /// many), and "masks_asked" by a packet that came to them.
  json more() const override;

 private:
  /// Since its start.
  struct counts {
    std::uint64_t packets = 0, simple = 0, emc = 0, smc = 0, megaflow = 0, upcalls = 0, failed = 0;
    std::uint64_t sent = 0;  // by all ports but the source
    double masks_asked = 0;
  };

  ovs_switch(std::string folder, std::string source, ovs_caches caches)
      : folder_(std::move(folder)), source_(std::move(source)), caches_(caches) {}
  result<void> bring_up(const use_case&, const port_plan&, const std::string& rules,
                        unsigned workers, bool huge_pages);
  result<void> start_database();
  result<void> start_switch(const port_plan&, unsigned workers, bool huge_pages);
  result<void> add_ports(const use_case&, const port_plan&, unsigned workers);
  result<void> add_rules(const std::string& rules);
  result<void> settle(std::uint64_t flows);
  result<void> count_megaflows();
  result<std::string> ask(const std::vector<std::string>& words) const;
  result<std::string> set(std::vector<std::string> words) const;
  result<counts> read() const;
  error with_log(error of) const;
  word_list environment() const;

  const std::string folder_, source_;
  const ovs_caches caches_;
  std::unique_ptr<foreign_program> database_, switch_;
  std::vector<pid_t> threads_;  // its workers
  counts at_start_, last_;      // when it was last asked, just before it was stopped
  std::uint64_t cpu_ns_ = 0;    // that its workers had until then
  std::uint64_t megaflows_ = 0, masks_ = 0;
};

}  // namespace coua::bench
