// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "bench/fib/map_table.h"

namespace coua::bench {
namespace {

using unordered_map = std::unordered_map<std::uint64_t, std::uint16_t, std::hash<std::uint64_t>,
                                         std::equal_to<std::uint64_t>, counted_slots>;

struct unordered_adapter : standard_adapter<unordered_map> {
  static std::unique_ptr<unordered_map> make(counted_memory& memory, std::uint64_t entries) {
    auto made = std::make_unique<unordered_map>(unordered_map::allocator_type(&memory));
    made->reserve(entries);
    return made;
  }
};

}  // namespace

std::unique_ptr<lookup_table> make_unordered_map(const peer_params& params) {
  return std::make_unique<map_table<unordered_adapter>>("unordered_map", params);
}

}  // namespace coua::bench
