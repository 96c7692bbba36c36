// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/concurrent_hash_map.h>

#include "bench/fib/map_table.h"

namespace coua::bench {
namespace {

struct tbb_adapter {
  using map = tbb::concurrent_hash_map<std::uint64_t, std::uint16_t,
                                       tbb::tbb_hash_compare<std::uint64_t>, counted_slots>;

  static std::unique_ptr<map> make(counted_memory& memory, std::uint64_t entries) {
    return std::make_unique<map>(entries, map::allocator_type(&memory));
  }
  static bool insert(map& table, std::uint64_t key, std::uint16_t value) {
    return table.insert({key, value});
  }
  static bool find(const map& table, std::uint64_t key, std::uint16_t& value) {
    map::const_accessor at;
    if (!table.find(at, key)) return false;
    value = at->second;
    return true;
  }
  static constexpr bool prefetches = false;
};

}  // namespace

std::unique_ptr<lookup_table> make_tbb(const peer_params& params) {
  return std::make_unique<map_table<tbb_adapter>>("tbb", params);
}

}  // namespace coua::bench
