// SPDX-License-Identifier: Apache-2.0
#include <google/sparse_hash_map>

#include "bench/fib/map_table.h"

namespace coua::bench {
namespace {

struct adapter {
  using map =
      google::sparse_hash_map<std::uint64_t, std::uint16_t, std::hash<std::uint64_t>,
                              std::equal_to<std::uint64_t>,
                              counted_allocator<std::pair<const std::uint64_t, std::uint16_t>>>;

  static std::unique_ptr<map> make(counted_memory& memory, std::uint64_t entries) {
    return std::make_unique<map>(entries, std::hash<std::uint64_t>(),
                                 std::equal_to<std::uint64_t>(), map::allocator_type(&memory));
  }
  static bool insert(map& table, std::uint64_t key, std::uint16_t value) {
    return table.insert({key, value}).second;
  }
  static bool find(const map& table, std::uint64_t key, std::uint16_t& value) {
    const auto at = table.find(key);
    if (at == table.end()) return false;
    value = at->second;
    return true;
  }
  static constexpr bool prefetches = false;
};

}  // namespace

std::unique_ptr<lookup_table> make_sparse_hash_map(const peer_params& params) {
  return std::make_unique<map_table<adapter>>("sparse_hash_map", params);
}

}  // namespace coua::bench
