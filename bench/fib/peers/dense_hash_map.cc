// SPDX-License-Identifier: Apache-2.0
#include <google/dense_hash_map>

#include "bench/fib/map_table.h"

namespace coua::bench {
namespace {

/// dense_hash_map with the address of its slot array, which it does not tell: the only large block
/// that it has taken. With it a batch can prefetch, as CuckooSwitch section 4.4 did to it.
struct addressed_map {
  using slot = std::pair<const std::uint64_t, std::uint16_t>;
  using type = google::dense_hash_map<std::uint64_t, std::uint16_t, std::hash<std::uint64_t>,
                                      std::equal_to<std::uint64_t>, counted_allocator<slot>>;
  addressed_map(counted_memory& memory, std::uint64_t entries)
      : source(memory),
        table(entries, std::hash<std::uint64_t>(), std::equal_to<std::uint64_t>(),
              type::allocator_type(&memory)) {}

  counted_memory& source;
  type table;
  const slot* slots = nullptr;
  std::uint64_t mask = 0;
};

struct dense_adapter {
  using map = addressed_map;

  static std::unique_ptr<map> make(counted_memory& memory, std::uint64_t entries) {
    auto made = std::make_unique<map>(memory, entries);
    made->table.set_empty_key(~std::uint64_t{0});
    made->slots = static_cast<const addressed_map::slot*>(memory.largest()->data());
    made->mask = made->table.bucket_count() - 1;
    return made;
  }
  static bool insert(map& each, std::uint64_t key, std::uint16_t value) {
    const bool added = each.table.insert({key, value}).second;
    return added && each.mask + 1 == each.table.bucket_count();
  }
  static bool find(const map& each, std::uint64_t key, std::uint16_t& value) {
    const auto at = each.table.find(key);
    if (at == each.table.end()) return false;
    value = at->second;
    return true;
  }
  static constexpr bool prefetches = true;
  static void prefetch(const map& each, std::uint64_t key) {
    __builtin_prefetch(each.slots + (std::hash<std::uint64_t>()(key) & each.mask));
  }
};

}  // namespace

std::unique_ptr<lookup_table> make_dense_hash_map(const peer_params& params) {
  return std::make_unique<map_table<dense_adapter>>("dense_hash_map", params);
}

}  // namespace coua::bench
