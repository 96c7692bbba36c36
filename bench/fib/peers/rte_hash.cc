// SPDX-License-Identifier: Apache-2.0
#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>

#include <array>
#include <bit>

#include "bench/fib/peers.h"
#include "bench/fib/peers/eal.h"
#include "bench/fib/peers/rte_heap.h"

namespace coua::bench {
namespace {

struct bulk_call {
  const rte_hash* table;

  /// Of at most RTE_HASH_LOOKUP_BULK_MAX keys.
  std::size_t operator()(unsigned, const std::uint64_t* keys, std::size_t n,
                         std::uint32_t* words) const {
    std::array<const void*, RTE_HASH_LOOKUP_BULK_MAX> pointers;
    std::array<void*, RTE_HASH_LOOKUP_BULK_MAX> data{};
    for (std::size_t k = 0; k < n; ++k) pointers[k] = keys + k;
    std::uint64_t hits = 0;
    rte_hash_lookup_bulk_data(table, pointers.data(), static_cast<std::uint32_t>(n), &hits,
                              data.data());
    for (std::size_t k = 0; k < n; ++k) {
      const auto value = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(data[k]));
      words[k] = value | (static_cast<std::uint32_t>(hits >> k & 1) - 1);
    }
    return n;
  }
};

/// DPDK's hash, sized as its users do: for the number of entries.
class rte_hash_table final : public lookup_table {
 public:
  rte_hash_table(const peer_params& params, bool lock_free)
      : params_(params), lock_free_(lock_free), name_(lock_free ? "rte_hash_lf" : "rte_hash") {}

  ~rte_hash_table() override { drop(); }

  std::string name() const override { return name_; }

  result<void> load(const population& people) override {
    // It does not promise to hold as many as it was made for; then it gets twice the room.
    for (std::uint64_t room = people.entries; room <= 2 * people.entries; room *= 2) {
      if (result<void> made = create(room); !made) return made;
      if (fill(people)) return {};
      drop();
    }
    return fail(errc::no_room, name_, "refuses entries even with twice the room");
  }

  std::uint64_t bytes() const override { return heap_->bytes_allocated(); }

  json describe() const override {
    return {{"memory", to_string(heap_->pages())},
            {"load", static_cast<double>(entries_) / static_cast<double>(std::bit_ceil(room_))}};
  }

  std::vector<std::unique_ptr<lookup>> lookups() override {
    std::vector<std::unique_ptr<lookup>> out;
    for (const std::uint64_t batch : params_.batches) {
      const std::uint64_t most = std::min<std::uint64_t>(batch, RTE_HASH_LOOKUP_BULK_MAX);
      out.push_back(make_batched_lookup(name_ + "/batch", most, bulk_call{table_}));
    }
    return out;
  }

 private:
  result<void> create(std::uint64_t room) {
    if (room > RTE_HASH_ENTRIES_MAX) {
      return fail(errc::unsupported, name_,
                  "takes at most " + std::to_string(RTE_HASH_ENTRIES_MAX) + " entries");
    }
    // Buckets of 8 bytes a slot, key and value of 16 bytes, a ring of free slots.
    const std::uint64_t need =
        std::bit_ceil(room) * 8 + (room + 1) * 16 + std::bit_ceil(room + 2) * 4 + rte_heap::slack;
    result<std::unique_ptr<rte_heap>> heap = rte_heap::create(name_, need, params_.pages);
    if (!heap) return tl::unexpected(heap.error());
    heap_ = std::move(*heap);

    rte_hash_parameters params{};
    params.name = heap_->id().c_str();
    params.entries = static_cast<std::uint32_t>(room);
    params.key_len = sizeof(std::uint64_t);
    params.socket_id = heap_->socket();
    if (lock_free_) params.extra_flag = RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF;
    table_ = rte_hash_create(&params);
    room_ = room;
    if (table_ == nullptr) {
      return fail(errc::no_memory, name_,
                  std::string("rte_hash_create: ") + rte_strerror(rte_errno));
    }
    return {};
  }

  bool fill(const population& people) {
    for (std::uint64_t i = 0; i < people.entries; ++i) {
      const std::uint64_t key = people.key(i);
      const std::uintptr_t value = people.value(key);
      if (rte_hash_add_key_data(table_, &key, reinterpret_cast<void*>(value)) != 0) return false;
    }
    entries_ = people.entries;
    return true;
  }

  void drop() {
    rte_hash_free(table_);
    table_ = nullptr;
    heap_.reset();
  }

  peer_params params_;
  bool lock_free_;
  std::string name_;
  std::unique_ptr<rte_heap> heap_;
  rte_hash* table_ = nullptr;
  std::uint64_t room_ = 0, entries_ = 0;
};

}  // namespace

result<std::unique_ptr<lookup_table>> make_rte_hash(const peer_params& params, bool lock_free) {
  if (result<void> started = start_eal(); !started) return tl::unexpected(started.error());
  return std::make_unique<rte_hash_table>(params, lock_free);
}

}  // namespace coua::bench
