// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "bench/forward/ovs_process.h"

namespace coua::bench {

/// What Open vSwitch has counted since its start.
struct ovs_counts {
  std::uint64_t packets = 0, simple = 0, emc = 0, smc = 0, megaflow = 0, upcalls = 0, failed = 0;
  std::uint64_t sent = 0;  // by all ports but the source
  double masks_asked = 0;  // by a packet that came to its classifier
  std::uint64_t misses() const { return upcalls + failed; }
};

/// Takes some milliseconds, in which packets go on: `sent` is read last. `source`: a port's name.
/// Errors: io.
result<ovs_counts> read_counts(const ovs_process&, const std::string& source);

/// Hardly a packet missed between the two: it knows all flows that come. False where none came.
bool has_settled(const ovs_counts& before, const ovs_counts& now);

/// Entries of its classifier, and of how many masks they are; of too many that is not counted, and
/// 0. Errors: io.
struct ovs_megaflows {
  std::uint64_t entries = 0, masks = 0;
};
result<ovs_megaflows> read_megaflows(const ovs_process&);

}  // namespace coua::bench
