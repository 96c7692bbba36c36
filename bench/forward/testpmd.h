// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/forward/bench_switch.h"
#include "bench/forward/mover.h"
#include "bench/harness/foreign_program.h"

namespace coua::bench {

/// DPDK's own forwarder, dpdk-testpmd, in mac mode (it rewrites both addresses and looks nothing
/// up), on the same ports, packets and buffers, and on the CPU of our workers. Between its windows
/// it is stopped by signal.
class testpmd final : public mover {
 public:
  /// Errors: not_found (dpdk-testpmd is not installed, or the library of preload.h), io (what it
  /// printed last).
  static result<std::unique_ptr<testpmd>> start(const port_plan&, unsigned workers, unsigned burst,
                                                bool huge_pages);
  /// Memory that start() takes, in MiB.
  static std::uint64_t memory_mib(const port_plan&);
  ~testpmd() override;
  testpmd(const testpmd&) = delete;
  testpmd& operator=(const testpmd&) = delete;

  std::string name() const override { return "testpmd-mac"; }
  result<double> run(double seconds) override;

 private:
  testpmd() = default;
  result<std::string> ask(const std::string& command, double seconds);
  result<std::string> read_until_prompt(double seconds);
  result<std::uint64_t> sent();

  std::vector<int> threads_;   // its workers
  std::uint64_t packets_ = 0;  // sent when it was last asked, just before it was stopped
  std::uint64_t cpu_ns_ = 0;   // that its workers had until then
  int terminal_ = -1;
  std::optional<foreign_program> process_;
};

}  // namespace coua::bench
