// SPDX-License-Identifier: Apache-2.0
#include <libcuckoo/cuckoohash_map.hh>

#include "bench/fib/map_table.h"

namespace coua::bench {
namespace {

struct libcuckoo_adapter {
  using map = libcuckoo::cuckoohash_map<std::uint64_t, std::uint16_t, std::hash<std::uint64_t>,
                                        std::equal_to<std::uint64_t>, counted_slots>;

  static std::unique_ptr<map> make(counted_memory& memory, std::uint64_t entries) {
    return std::make_unique<map>(entries, std::hash<std::uint64_t>(),
                                 std::equal_to<std::uint64_t>(), map::allocator_type(&memory));
  }
  static bool insert(map& table, std::uint64_t key, std::uint16_t value) {
    return table.insert(key, value);
  }
  static bool find(const map& table, std::uint64_t key, std::uint16_t& value) {
    return table.find(key, value);
  }
  static constexpr bool prefetches = false;
};

}  // namespace

std::unique_ptr<lookup_table> make_libcuckoo(const peer_params& params) {
  return std::make_unique<map_table<libcuckoo_adapter>>("libcuckoo", params);
}

}  // namespace coua::bench
