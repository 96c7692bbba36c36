// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

namespace coua::bench {

/// Starts DPDK's environment for its libraries only: no ports, no huge pages of its own, nothing
/// left on disk. Once per process; later calls answer as the first did. The calling thread keeps
/// its CPUs.
result<void> start_eal();

}  // namespace coua::bench
