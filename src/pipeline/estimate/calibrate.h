// SPDX-License-Identifier: Apache-2.0
//
// Measures the atoms of the performance model (estimate.h) on this machine: random reads at each
// level of the memory (line_probe.h), and small pipelines, of which each has one thing more than
// another one (pipeline_probe.h). An atom is the difference.
//
// All of it takes some 60 ms of one processor, and 12 MiB. Not when a daemon starts, which few are
// ever asked about their pipelines, and not on a worker's core; but when it is first asked for, by
// whom it is asked, and then never again.
#pragma once

#include "base/result.h"
#include "pipeline/estimate/calibration.h"

namespace coua::pipeline {

/// Errors: no_memory.
result<calibration> calibrate();

/// Of this machine; measured by the first call, which others wait for. Any thread. Errors:
/// no_memory, and then all further calls, too.
const result<calibration>& machine_calibration();

}  // namespace coua::pipeline
