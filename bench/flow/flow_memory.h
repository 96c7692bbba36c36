// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/flow/flow_options.h"
#include "bench/harness/crew.h"
#include "bench/harness/report.h"

namespace coua::bench {

/// What the tables of one capacity take, each alone in memory: rows `VARIANT/memory`. Tables of a
/// fixed size take it when they are made. Errors: no_memory.
result<void> add_memory(const flow_options&, crew&, std::uint64_t capacity, report& out);

}  // namespace coua::bench
