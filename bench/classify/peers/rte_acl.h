// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bench/classify/rule_source.h"
#include "bench/harness/contestant.h"

namespace coua::bench {

/// DPDK's rte_acl with the same rules, as row `rte_acl`. Of 5-tuples only: port ranges are its own
/// and not expanded. Errors: unsupported (no DPDK, no 5-tuples), no_memory, no_room (its tries
/// outgrow their memory).
result<std::unique_ptr<named_contestant>> make_rte_acl(const rule_source& source,
                                                       std::size_t batch);

}  // namespace coua::bench
