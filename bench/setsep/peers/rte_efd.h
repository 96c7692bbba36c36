// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bench/fib/peers.h"

namespace coua::bench {

/// Starts DPDK with memory for tables of so many keys. Call it before anything else does
/// (peers/eal.h): its memory, which only the EAL's own may be, can not grow later.
result<void> start_rte_efd(std::uint64_t most_entries);

/// DPDK's set separation, with values of 8 bits as it is built. `simd_bits`: the widest vectors
/// that it may use; 0: as it would by itself. Errors: unsupported.
result<std::unique_ptr<lookup_table>> make_rte_efd(const peer_params&, unsigned simd_bits);

}  // namespace coua::bench
