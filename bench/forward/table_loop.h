// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/fib/lookup_table.h"
#include "bench/forward/mover.h"
#include "bench/harness/crew.h"

namespace coua::bench {

/// A bare forwarder: receive a burst, look the destinations up in some table, send the burst. No
/// learning, one queue, one thread. It uses the ports of a test bed while the switch rests, on the
/// CPU of its first worker.
class table_loop final : public mover {
 public:
  /// `how` and what it belongs to outlive the loop; it answers `miss` to what it does not have.
  table_loop(std::string name, const std::string& in_devargs, const std::string& out_devargs,
             std::uint64_t vlan, unsigned burst, crew& threads, lookup& how, std::uint32_t miss);

  std::string name() const override { return name_; }
  result<double> run(double seconds) override;

 private:
  std::string name_, in_, out_;
  std::uint64_t vlan_;
  unsigned burst_;
  crew& crew_;
  lookup& how_;
  std::uint32_t miss_;
};

}  // namespace coua::bench
