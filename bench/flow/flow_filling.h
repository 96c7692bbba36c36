// SPDX-License-Identifier: Apache-2.0
//
// Filling tables, and how long that takes. Keys and values are made chunk by chunk outside of the
// clock; every thread of the crew fills its own table.
#pragma once

#include "bench/flow/measured_table.h"
#include "bench/harness/crew.h"

namespace coua::bench {

/// Makes the tables of all threads anew. Errors: as of measured_table::make.
result<void> make_empty(crew&, measured_table&);

/// Inserts entries [from, to) of the population into the table of every thread; returns the seconds
/// of CPU that a thread needed, on average. Errors: no_room (names the table and the entry).
result<double> fill_tables(crew&, measured_table&, const flow_population&, std::uint64_t from,
                           std::uint64_t to);

}  // namespace coua::bench
