// SPDX-License-Identifier: Apache-2.0
#include <boost/unordered/unordered_flat_map.hpp>

#include "bench/fib/map_table.h"

namespace coua::bench {
namespace {

using boost_map =
    boost::unordered_flat_map<std::uint64_t, std::uint16_t, boost::hash<std::uint64_t>,
                              std::equal_to<std::uint64_t>, counted_slots>;

struct boost_adapter : standard_adapter<boost_map> {
  static std::unique_ptr<boost_map> make(counted_memory& memory, std::uint64_t entries) {
    return std::make_unique<boost_map>(entries, boost_map::allocator_type(&memory));
  }
};

}  // namespace

std::unique_ptr<lookup_table> make_boost(const peer_params& params) {
  return std::make_unique<map_table<boost_adapter>>("boost", params);
}

}  // namespace coua::bench
