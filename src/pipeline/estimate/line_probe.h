// SPDX-License-Identifier: Apache-2.0
//
// Random reads of memory in batches, as tables are read: the lines of 32 packets are asked for,
// then each is read, then those of the next 32, which depend on what was read. So what comes out is
// what a line adds when misses overlap, and when each batch has to wait for its last line.
//
// Each cache is measured by a working set of half its size (8 MiB of it at most) that does not fit
// the one before it. Memory is measured by lines of that set which are put out of all caches: so it
// takes no more than some megabytes, however large the caches are. It is no page that the TLB does
// not know; tables of many gigabytes are slower than that.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "pipeline/estimate/calibration.h"

namespace coua::pipeline {

/// The caches, from the first level on; 0: it is not known how large it is. Takes some
/// milliseconds. Errors: no_memory.
result<std::vector<memory_level>> measure_levels(std::span<const std::size_t> caches);

}  // namespace coua::pipeline
