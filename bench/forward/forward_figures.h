// SPDX-License-Identifier: Apache-2.0
//
// The full-system figures and tables of CuckooSwitch (section 4.4) that need more than the switch.
#pragma once

#include "base/result.h"
#include "bench/forward/l2_forward_case.h"

namespace coua::bench {

/// Figures 8 and 9 put other tables under the same packets.
bool figure_needs_tables(unsigned figure);
result<void> add_figure_tables(const forward_options&, l2_forward_case&, crew&, progress&);

/// Table 3: bytes that the FIB and dense_hash_map take for the same number of entries.
result<report> run_memory_table(const forward_options&, report);

}  // namespace coua::bench
