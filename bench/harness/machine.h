// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/harness/report.h"

namespace coua::bench {

/// The machine that the numbers come from: CPU, caches, memory, huge pages, kernel, compiler.
json describe_machine();

}  // namespace coua::bench
