// SPDX-License-Identifier: Apache-2.0
//
// A meter as it is from one version on. Its token buckets are shared by all workers: whoever
// charges them holds the lock for the few nanoseconds that it takes.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/flag_lock.h"
#include "pipeline/datapath/versions.h"
#include "pipeline/model/meter.h"
#include "pipeline/semantics/meter_buckets.h"

namespace coua::pipeline {

struct meter_version {
  meter_version(const meter& of, time_ns now) : bands(of.bands), buckets(of, now) {}

  version_no from = 0;
  const meter_version* previous = nullptr;
  std::uint32_t counters = 0;       // of the meter, whatever its version
  std::uint32_t band_counters = 0;  // of the first band; those of the others follow
  std::vector<meter_band> bands;

  // Of all workers.
  mutable std::atomic_flag lock{};
  mutable meter_buckets buckets;
};

}  // namespace coua::pipeline
