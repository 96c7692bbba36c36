// SPDX-License-Identifier: Apache-2.0
//
// The tables that ours is compared with. Each is in a source file of its own and is used as its
// authors offer it: default hash, sized for the population beforehand, values of 16 bits or one
// word. Their memory comes through an allocator that counts it and that uses the same page size as
// our table.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/arena.h"
#include "bench/fib/lookup_table.h"

namespace coua::bench {

struct peer_params {
  std::uint64_t entries = 0;
  page_kind pages = page_kind::automatic;
  std::vector<std::uint64_t> batches;  // of those that have a batched look-up
};

/// Names of the peers that this build has; `coua-bench fib --peers NAME,...` takes them.
const std::vector<std::string>& peer_names();

/// Makes an empty table. Errors: invalid (no such peer), no_memory, unsupported.
result<std::unique_ptr<lookup_table>> make_peer(const std::string& name, const peer_params&);

// One for each source file.
std::unique_ptr<lookup_table> make_absl(const peer_params&);
std::unique_ptr<lookup_table> make_boost(const peer_params&);
std::unique_ptr<lookup_table> make_dense_hash_map(const peer_params&);
std::unique_ptr<lookup_table> make_sparse_hash_map(const peer_params&);
std::unique_ptr<lookup_table> make_unordered_map(const peer_params&);
std::unique_ptr<lookup_table> make_libcuckoo(const peer_params&);
std::unique_ptr<lookup_table> make_tbb(const peer_params&);
result<std::unique_ptr<lookup_table>> make_rte_hash(const peer_params&, bool lock_free);

}  // namespace coua::bench
