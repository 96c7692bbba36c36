// SPDX-License-Identifier: Apache-2.0
#include <google/sparse_hash_map>

#include "bench/fib/map_table.h"

namespace coua::bench {
namespace {

using sparse_map = google::sparse_hash_map<std::uint64_t, std::uint16_t, std::hash<std::uint64_t>,
                                           std::equal_to<std::uint64_t>, counted_slots>;

struct sparse_adapter : standard_adapter<sparse_map> {
  static std::unique_ptr<sparse_map> make(counted_memory& memory, std::uint64_t entries) {
    return std::make_unique<sparse_map>(entries, std::hash<std::uint64_t>(),
                                        std::equal_to<std::uint64_t>(),
                                        sparse_map::allocator_type(&memory));
  }
};

}  // namespace

std::unique_ptr<lookup_table> make_sparse_hash_map(const peer_params& params) {
  return std::make_unique<map_table<sparse_adapter>>("sparse_hash_map", params);
}

}  // namespace coua::bench
