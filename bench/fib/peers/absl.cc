// SPDX-License-Identifier: Apache-2.0
#include <absl/container/flat_hash_map.h>

#include "bench/fib/map_table.h"

namespace coua::bench {
namespace {

using absl_map = absl::flat_hash_map<std::uint64_t, std::uint16_t,
                                     absl::flat_hash_map<std::uint64_t, std::uint16_t>::hasher,
                                     std::equal_to<std::uint64_t>, counted_slots>;

struct absl_adapter : standard_adapter<absl_map> {
  static std::unique_ptr<absl_map> make(counted_memory& memory, std::uint64_t entries) {
    auto made = std::make_unique<absl_map>(absl_map::allocator_type(&memory));
    made->reserve(entries);
    return made;
  }
  static constexpr bool prefetches = true;
  static void prefetch(const absl_map& table, std::uint64_t key) { table.prefetch(key); }
};

}  // namespace

std::unique_ptr<lookup_table> make_absl(const peer_params& params) {
  return std::make_unique<map_table<absl_adapter>>("absl", params);
}

}  // namespace coua::bench
