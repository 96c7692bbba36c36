// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "bench/forward/mover.h"
#include "dp/switch.h"

namespace coua::bench {

/// The threads of all workers of this process, ascending.
std::vector<pid_t> threads_of_workers();
/// Those of a switch that was just made: those that were not there before. Errors: io.
result<std::vector<pid_t>> new_workers(const std::vector<pid_t>& before, unsigned wanted);

enum class worker_mode { switching, raw };

/// Wakes the workers of a switch, in one of their two modes, and counts what leaves its ports.
class worker_mover final : public mover {
 public:
  /// `ports`: all of the switch.
  worker_mover(dp::l2_switch& device, std::vector<std::string> ports, std::vector<pid_t> workers,
               worker_mode mode)
      : device_(device), ports_(std::move(ports)), workers_(std::move(workers)), mode_(mode) {}

  std::string name() const override { return mode_ == worker_mode::raw ? "raw-io" : "coua"; }
  /// Of a switch that works, fails when a packet was flooded or dropped.
  result<double> run(double seconds) override;

  /// The parts of run(): the workers work from now on; packets that left all ports since the start
  /// of the switch, and the CPU time that the workers had; they rest, and rest() fails as run()
  /// does.
  void go_on();
  std::uint64_t sent() const;
  std::uint64_t cpu_ns() const;
  result<void> rest();

  /// Flooding is right from now on, or not.
  void allow_floods(bool on) { floods_ = on; }

 private:
  using counts = std::map<std::string, std::uint64_t>;  // of all ports together
  counts count() const;
  result<void> check(const counts& before) const;

  dp::l2_switch& device_;
  const std::vector<std::string> ports_;
  const std::vector<pid_t> workers_;
  const worker_mode mode_;
  counts before_;  // as it began
  bool floods_ = false;
};

}  // namespace coua::bench
