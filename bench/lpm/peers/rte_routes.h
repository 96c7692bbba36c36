// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bench/lpm/coua_routes.h"

namespace coua::bench {

/// DPDK's rte_fib (DIR-24-8) or, for IPv6, rte_fib6 (trie), with next hops of 4 bytes. Errors:
/// unsupported (DPDK does not start), no_memory, no_room (its groups of 256 do not suffice).
result<std::unique_ptr<route_table>> make_rte_fib(const route_set& routes, std::size_t batch);

}  // namespace coua::bench
