// SPDX-License-Identifier: Apache-2.0
//
// How much source a variant is: the table of Cuckoo++ that compares complexity.
#pragma once

#include "bench/flow/flow_options.h"
#include "bench/harness/report.h"

namespace coua::bench {

/// Table 1: the lines of source that each variant is made of, and how many more they are than those
/// of the pessimistic table without timers. Rows `VARIANT/source`. Counted when coua-bench was
/// built (count_lines.py); needs no table.
void add_source_lines(const flow_options&, report&);

}  // namespace coua::bench
