// SPDX-License-Identifier: Apache-2.0
//
// Open vSwitch on the same ports, packets and rules, and on the CPU of our worker. Between its
// windows it is stopped by signal.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/cases/use_case.h"
#include "bench/forward/mover.h"
#include "bench/forward/ovs_counts.h"
#include "bench/forward/ovs_process.h"

namespace coua::bench {

/// "ovs", "ovs/smc", "ovs/none".
std::string name_of(ovs_caches);

class ovs_switch final : public mover {
 public:
  /// Without its source of packets; parameters and errors as of ovs_process::start().
  static result<std::unique_ptr<ovs_switch>> start(const use_case&, const port_plan&,
                                                   const std::string& rules,
                                                   const std::string& folder, ovs_caches,
                                                   ovs_limits, unsigned workers, bool huge_pages);

  /// Packets come from then on: at the latest when it returns, and not before it is called.
  /// Errors: io.
  result<void> add_source();
  /// Until misses have died down, its limits lifted all the while. `pass` lets it take packets for
  /// a moment, and says whether any came through. Errors: io.
  result<void> learn(const std::function<bool()>& pass) const;
  /// Takes packets until misses have died down, and stops. Errors: io.
  result<void> settle();

  std::string name() const override { return name_of(caches_); }
  result<double> run(double seconds) override;
  /// Where its packets found their rule, as shares: "emc", "smc", "megaflow", "upcall". How many
  /// "megaflows" there are after misses have died down, of how many "megaflow_masks" (of not too
  /// many), and "masks_asked" by a packet that came to them.
  json more() const override;

  /// Since its start. Errors: io.
  result<ovs_counts> counts() const { return read_counts(*process_, source_.name); }
  result<void> lift_limits() const { return process_->lift_limits(); }
  /// Of its source: one for each worker and one more. Errors: io.
  result<unsigned> queues_to_send() const;
  /// That its workers had.
  std::uint64_t cpu_ns() const;

 private:
  explicit ovs_switch(ovs_caches caches) : caches_(caches) {}

  const ovs_caches caches_;
  std::unique_ptr<ovs_process> process_;
  ovs_process::port source_;
  std::uint64_t flows_ = 0;
  unsigned workers_ = 0;
  std::vector<pid_t> threads_;
  ovs_counts at_start_, last_;  // when it was last asked, just before it was stopped
  std::uint64_t cpu_ns_ = 0;    // that its workers had until then
  ovs_megaflows megaflows_;
};

}  // namespace coua::bench
