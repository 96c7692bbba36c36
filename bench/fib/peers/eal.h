// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

namespace coua::bench {

/// Starts DPDK's environment for its libraries only: no ports, no huge pages of its own, nothing
/// left on disk. Once per process; later calls answer as the first did. The calling thread keeps
/// its CPUs. `memory_mib`: of DPDK's own memory, on 4 KiB pages that are not there until written.
result<void> start_eal(unsigned memory_mib = 64);

}  // namespace coua::bench
