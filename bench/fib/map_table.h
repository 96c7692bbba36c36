// SPDX-License-Identifier: Apache-2.0
//
// A table for each map that has an allocator. The adapter of a map tells how to make, fill and ask
// it:
//
//   using map = ...
//   static std::unique_ptr<map> make(counted_memory&, entries);
//   static bool insert(map&, key, value);
//   static bool find(const map&, key, value&);
//   static constexpr bool prefetches;  and if so  static void prefetch(const map&, key);
#pragma once

#include <new>

#include "bench/fib/counted_memory.h"
#include "bench/fib/peers.h"
#include "bench/harness/options.h"

namespace coua::bench {

using counted_slots = counted_allocator<std::pair<const std::uint64_t, std::uint16_t>>;

/// How a map is filled and asked that has the interface of std::unordered_map; an adapter of it
/// says only how to make one.
template <typename Map>
struct standard_adapter {
  using map = Map;
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

/// Keys one after another, as the map's own interface has it; with Prefetch after a prefetch for
/// each of them.
template <typename Adapter, bool Prefetch>
struct map_call {
  const typename Adapter::map* table;

  std::size_t operator()(unsigned, const std::uint64_t* keys, std::size_t n,
                         std::uint32_t* words) const {
    if constexpr (Prefetch) {
      for (std::size_t k = 0; k < n; ++k) Adapter::prefetch(*table, keys[k]);
    }
    for (std::size_t k = 0; k < n; ++k) {
      std::uint16_t value = 0;
      words[k] = Adapter::find(*table, keys[k], value) ? value : no_value;
    }
    return n;
  }
};

template <typename Adapter>
class map_table final : public lookup_table {
 public:
  map_table(std::string name, const peer_params& params)
      : name_(std::move(name)), params_(params), memory_(params.pages) {}

  std::string name() const override { return name_; }

  result<void> load(const population& people) override try {
    map_ = Adapter::make(memory_, people.entries);
    for (std::uint64_t i = 0; i < people.entries; ++i) {
      const std::uint64_t key = people.key(i);
      if (!Adapter::insert(*map_, key, static_cast<std::uint16_t>(people.value(key)))) {
        return fail(errc::no_room, name_, "refused entry " + std::to_string(i));
      }
    }
    return {};
  } catch (const std::bad_alloc&) {
    return fail(errc::no_memory, name_,
                "no memory after " + std::to_string(memory_.bytes()) +
                    " bytes: fewer --entries, or fewer --peers");
  }

  std::uint64_t bytes() const override { return memory_.bytes(); }
  json describe() const override { return {{"memory", to_string(memory_.got())}}; }

  std::vector<std::unique_ptr<lookup>> lookups() override {
    std::vector<std::unique_ptr<lookup>> out;
    out.push_back(make_lookup(name_ + "/single", {{"batch", 1}},
                              batched_kernel<map_call<Adapter, false>>{{map_.get()}, single_keys}));
    if constexpr (Adapter::prefetches) {
      for (const std::uint64_t batch : params_.batches) {
        out.push_back(
            make_batched_lookup(name_ + "/prefetch", batch, map_call<Adapter, true>{map_.get()}));
      }
    }
    return out;
  }

 private:
  static constexpr std::size_t single_keys = 32;  // whose answers are summed up at once

  std::string name_;
  peer_params params_;
  counted_memory memory_;  // outlives the map
  std::unique_ptr<typename Adapter::map> map_;
};

}  // namespace coua::bench
