// SPDX-License-Identifier: Apache-2.0
#include <rte_errno.h>
#include <rte_hash.h>

#include <array>
#include <bit>
#include <cstring>
#include <set>

#include "bench/fib/peers/eal.h"
#include "bench/fib/peers/rte_heap.h"
#include "bench/flow/flow_peers.h"
#include "bench/harness/options.h"

namespace coua::bench {
namespace {

/// The table of one thread. Values lie in an array beside it, at the position that rte_hash has
/// for a key.
struct one_rte {
  ~one_rte() { rte_hash_free(table); }
  std::unique_ptr<rte_heap> heap;  // outlives the table
  rte_hash* table = nullptr;
  arena values;
};
using tables = std::vector<std::unique_ptr<one_rte>>;

/// rte_hash_lookup_bulk, then a prefetch for each value before the first is read.
struct bulk_kernel {
  const tables* by_thread;
  std::size_t batch;  // at most RTE_HASH_LOOKUP_BULK_MAX
  std::size_t key_words, value_words;

  template <typename Sink>
  void each(unsigned thread, const std::uint64_t* keys, std::size_t n, Sink&& sink) {
    const rte_hash* const table = (*by_thread)[thread]->table;
    const auto* const values =
        static_cast<const std::uint64_t*>((*by_thread)[thread]->values.data());
    std::array<const void*, RTE_HASH_LOOKUP_BULK_MAX> pointers;
    std::array<std::int32_t, RTE_HASH_LOOKUP_BULK_MAX> positions;
    std::array<const std::uint64_t*, RTE_HASH_LOOKUP_BULK_MAX> found;
    for (std::size_t i = 0; i < n; i += batch) {
      const std::size_t count = std::min(batch, n - i);
      for (std::size_t k = 0; k < count; ++k) pointers[k] = keys + (i + k) * key_words;
      rte_hash_lookup_bulk(table, pointers.data(), static_cast<std::uint32_t>(count),
                           positions.data());
      std::uint64_t hits = 0;
      for (std::size_t k = 0; k < count; ++k) {
        hits |= std::uint64_t{positions[k] >= 0} << k;
        found[k] = values + static_cast<std::size_t>(std::max(positions[k], 0)) * value_words;
        __builtin_prefetch(found[k]);
      }
      sink(count, &hits, [&found](std::size_t k) { return found[k]; });
    }
  }
  template <typename Sink>
  void rest(unsigned, Sink&&) {}
};

/// DPDK's hash with the same number of slots as ours. It has a power of two of them.
class rte_flows final : public measured_table {
 public:
  rte_flows(const measured_params& params, rte_kind kind)
      : params_(params), kind_(kind), tables_(params.tables) {}

  std::string name() const override {
    switch (kind_) {
      case rte_kind::plain: return "rte_hash";
      case rte_kind::lock_free: return "rte_hash_lf";
      case rte_kind::extendable: return "rte_hash_ext";
    }
    return "?";
  }

  result<void> make(unsigned thread) override {
    if (tables_[thread]) {
      rte_hash_reset(tables_[thread]->table);
      return {};
    }
    auto made = std::make_unique<one_rte>();
    // Buckets of 8 bytes a slot (twice with the extendable ones), an entry of 8 bytes and the key,
    // a ring of free slots. Its number of entries is one more than it is asked for.
    const std::uint64_t slots = params_.capacity;
    const std::uint64_t entry = (8 + params_.people.key_bytes + 15) / 16 * 16;
    const std::uint64_t need =
        slots * 16 + (slots + 1) * entry + 2 * slots * 4 + slots + rte_heap::slack;
    result<std::unique_ptr<rte_heap>> heap = rte_heap::create(name(), need, params_.pages);
    if (!heap) return tl::unexpected(heap.error());
    made->heap = std::move(*heap);
    result<arena> values =
        allocate((slots + 1) * params_.people.value_words() * 8, params_.pages, 1);
    if (!values) return tl::unexpected(values.error());
    made->values = std::move(*values);

    rte_hash_parameters asked{};
    asked.name = made->heap->id().c_str();
    asked.entries = static_cast<std::uint32_t>(slots);
    asked.key_len = params_.people.key_bytes;
    asked.socket_id = made->heap->socket();
    if (kind_ == rte_kind::lock_free) asked.extra_flag = RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF;
    if (kind_ == rte_kind::extendable) asked.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE;
    made->table = rte_hash_create(&asked);
    if (made->table == nullptr) {
      return fail(errc::no_memory, name(),
                  std::string("rte_hash_create: ") + rte_strerror(rte_errno));
    }
    tables_[thread] = std::move(made);
    return {};
  }

  std::size_t insert(unsigned thread, const std::uint64_t* keys, const std::uint64_t* values,
                     std::size_t n) override {
    const std::size_t key_words = params_.people.key_words();
    const std::size_t value_words = params_.people.value_words();
    auto* const all = static_cast<std::uint64_t*>(tables_[thread]->values.data());
    std::size_t taken = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t position = rte_hash_add_key(tables_[thread]->table, keys + i * key_words);
      if (position < 0) continue;
      std::memcpy(all + static_cast<std::size_t>(position) * value_words, values + i * value_words,
                  value_words * 8);
      ++taken;
    }
    return taken;
  }

  std::uint64_t bytes() const override {
    const std::uint64_t values =
        params_.people.value_bytes == 0 ? 0 : tables_.front()->values.bytes();
    return tables_.front()->heap->bytes_allocated() + values;
  }

  json describe() const override {
    const one_rte& first = *tables_.front();
    return {{"memory", to_string(first.heap->pages())},
            {"load_reached", static_cast<double>(rte_hash_count(first.table)) /
                                 static_cast<double>(params_.capacity)}};
  }

  std::vector<std::unique_ptr<flow_lookup>> lookups() override {
    std::vector<std::unique_ptr<flow_lookup>> out;
    std::set<std::uint64_t> batches;  // several that are too large for it are one
    for (const std::uint64_t batch : params_.batches) {
      const std::uint64_t most = std::min<std::uint64_t>(batch, RTE_HASH_LOOKUP_BULK_MAX);
      if (!batches.insert(most).second) continue;
      out.push_back(make_flow_lookup(
          name() + "/batch", {{"batch", most}}, params_.people,
          bulk_kernel{&tables_, most, params_.people.key_words(), params_.people.value_words()}));
    }
    return out;
  }

 private:
  measured_params params_;
  rte_kind kind_;
  tables tables_;
};

}  // namespace

result<std::unique_ptr<measured_table>> make_rte_flows(const measured_params& params,
                                                       rte_kind kind) {
  if (!std::has_single_bit(params.capacity) || params.capacity < 8 ||
      params.capacity > RTE_HASH_ENTRIES_MAX) {
    return fail(errc::invalid, "--capacity " + size_word(params.capacity),
                "rte_hash takes a power of two of slots, 8 to " + size_word(RTE_HASH_ENTRIES_MAX));
  }
  if (result<void> started = start_eal(); !started) return tl::unexpected(started.error());
  return std::make_unique<rte_flows>(params, kind);
}

}  // namespace coua::bench
