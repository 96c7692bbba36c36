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

#include <array>
#include <new>

#include "bench/fib/counted_memory.h"
#include "bench/fib/peers.h"
#include "bench/harness/options.h"

namespace coua::bench {

/// Keys one after another, as the map's own interface has it.
template <typename Adapter>
struct single_kernel {
  const typename Adapter::map* table;

  template <typename Sink>
  void each(unsigned, const std::uint64_t* keys, std::size_t n, Sink&& sink) {
    constexpr std::size_t group = 32;
    std::array<std::uint32_t, group> words;
    for (std::size_t i = 0; i < n; i += group) {
      const std::size_t count = std::min(group, n - i);
      for (std::size_t k = 0; k < count; ++k) {
        std::uint16_t value = 0;
        words[k] = Adapter::find(*table, keys[i + k], value) ? value : no_value;
      }
      sink(words.data(), count);
    }
  }
  template <typename Sink>
  void rest(unsigned, Sink&&) {}
};

/// First a prefetch for each key of a batch, then the look-ups.
template <typename Adapter>
struct prefetch_kernel {
  const typename Adapter::map* table;
  std::size_t batch;

  template <typename Sink>
  void each(unsigned, const std::uint64_t* keys, std::size_t n, Sink&& sink) {
    std::array<std::uint32_t, chunk_keys> words;
    for (std::size_t i = 0; i < n; i += batch) {
      const std::size_t count = std::min(batch, n - i);
      for (std::size_t k = 0; k < count; ++k) Adapter::prefetch(*table, keys[i + k]);
      for (std::size_t k = 0; k < count; ++k) {
        std::uint16_t value = 0;
        words[k] = Adapter::find(*table, keys[i + k], value) ? value : no_value;
      }
      sink(words.data(), count);
    }
  }
  template <typename Sink>
  void rest(unsigned, Sink&&) {}
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
    out.push_back(
        make_lookup(name_ + "/single", {{"batch", 1}}, single_kernel<Adapter>{map_.get()}));
    if constexpr (Adapter::prefetches) {
      for (const std::uint64_t batch : params_.batches) {
        out.push_back(make_lookup(name_ + "/prefetch", {{"batch", batch}},
                                  prefetch_kernel<Adapter>{map_.get(), batch}));
      }
    }
    return out;
  }

 private:
  std::string name_;
  peer_params params_;
  counted_memory memory_;  // outlives the map
  std::unique_ptr<typename Adapter::map> map_;
};

}  // namespace coua::bench
