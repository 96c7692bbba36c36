// SPDX-License-Identifier: Apache-2.0
#include "flow/flow_table.h"

#include <cstring>

#include "base/atomic_word.h"
#include "base/hash_key.h"
#include "flow/cuckoo.h"

namespace coua {
namespace {

page_kind to_page_kind(enum coua_flow_pages pages) {
  switch (pages) {
    case COUA_FLOW_PAGES_1G: return page_kind::gib1;
    case COUA_FLOW_PAGES_2M: return page_kind::mib2;
    case COUA_FLOW_PAGES_TRANSPARENT: return page_kind::transparent;
    case COUA_FLOW_PAGES_4K: return page_kind::kib4;
    default: return page_kind::automatic;
  }
}

struct flow_parts {
  flow_geometry geometry;
  keyed_hash hash;
  flow_memory memory;
  std::uint64_t now_ms;
};

result<keyed_hash> make_hash(const std::uint8_t* given) {
  hash_key key;
  if (given != nullptr) {
    std::memcpy(key.data(), given, key.size());
  } else {
    const auto drawn = draw_hash_key();
    if (!drawn) return tl::unexpected(drawn.error());
    key = *drawn;
  }
  return keyed_hash(key);
}

result<flow_parts> make_parts(const coua_flow_params& params) {
  auto geometry = flow_geometry::plan(params);
  if (!geometry) return tl::unexpected(geometry.error());
  if (params.pages < COUA_FLOW_PAGES_AUTO || params.pages > COUA_FLOW_PAGES_4K) {
    return fail(errc::invalid, "pages",
                "is not a value of enum coua_flow_pages that can be asked for");
  }
  if ((params.allocate == nullptr) != (params.release == nullptr)) {
    return fail(errc::invalid, "allocate", "and release must be given together");
  }
  auto hash = make_hash(params.hash_key);
  if (!hash) return tl::unexpected(hash.error());

  arena_params memory;
  memory.pages = to_page_kind(params.pages);
  memory.numa_node = params.numa_node;
  memory.populate_threads = params.populate_threads;
  memory.allocate = params.allocate;
  memory.release = params.release;
  memory.context = params.context;
  flow_memory made;
  const std::pair<arena*, std::uint64_t> parts[] = {{&made.entries, geometry->entry_bytes()},
                                                    {&made.filters, geometry->filter_bytes()},
                                                    {&made.lines, geometry->line_bytes()}};
  for (const auto& [part, bytes] : parts) {
    if (bytes == 0) continue;
    auto created = arena::create(bytes, memory, 64);
    if (!created) return tl::unexpected(created.error());
    *part = std::move(*created);
  }
  return flow_parts{*geometry, *hash, std::move(made), params.now_ms};
}

// The blessed combinations.

template <class Prune, class Expiry, class Sync>
std::unique_ptr<flow_table> make(flow_parts parts) {
  return std::make_unique<flow_cuckoo<Prune, Expiry, Sync>>(parts.geometry, parts.hash,
                                                            std::move(parts.memory), parts.now_ms);
}
template <class Prune, class Expiry>
std::unique_ptr<flow_table> make(flow_parts parts) {
  if (parts.geometry.kind.sync == simd::flow_sync::single) {
    return make<Prune, Expiry, simd::single>(std::move(parts));
  }
  return make<Prune, Expiry, simd::one_writer>(std::move(parts));
}
template <class Prune>
std::unique_ptr<flow_table> make(flow_parts parts) {
  if (parts.geometry.kind.timed) return make<Prune, simd::timer>(std::move(parts));
  return make<Prune, simd::no_expiry>(std::move(parts));
}

}  // namespace

result<std::unique_ptr<flow_table>> flow_table::create(const coua_flow_params& params) {
  auto parts = make_parts(params);
  if (!parts) return tl::unexpected(parts.error());
  switch (parts->geometry.kind.variant) {
    case simd::flow_variant::optimistic: return make<simd::optimistic>(std::move(*parts));
    case simd::flow_variant::pessimistic: return make<simd::pessimistic>(std::move(*parts));
    case simd::flow_variant::horton: return make<simd::horton>(std::move(*parts));
    case simd::flow_variant::bloom: break;
  }
  return make<simd::bloom>(std::move(*parts));
}

std::uint64_t flow_table::hash(bytes_in key) const {
  std::uint64_t words[keyed_hash::max_words];
  simd::to_words(key, geometry_.key_bytes, view_.key_words, words);
  return hash_(words, view_.key_words);
}

std::size_t flow_table::drain(std::uint8_t* keys, std::uint8_t* values, std::size_t max) {
  constexpr std::size_t max_value_words = COUA_FLOW_VALUE_BYTES_MAX / 8;
  std::uint64_t words[keyed_hash::max_words + max_value_words];
  std::size_t n = 0;
  for (; n < max && ring_->pop(words); ++n) {
    std::memcpy(keys + n * geometry_.key_stride, words, geometry_.key_bytes);
    if (values != nullptr) {
      std::memcpy(values + n * geometry_.value_stride, words + geometry_.key_words(),
                  geometry_.value_bytes);
    }
  }
  return n;
}

void flow_table::get_stats(coua_flow_stats& stats) const {
  fill_counts(stats);
  stats.slots = geometry_.n_buckets * geometry_.n_slots;
  stats.buckets = geometry_.n_buckets;
  stats.bytes += lines_.bytes_mapped() + entries_.bytes_mapped();
  stats.now_ms = load_relaxed(&shared_->now_ms);
  stats.key_bytes = geometry_.key_bytes;
  stats.value_bytes = geometry_.value_bytes;
  stats.timers = geometry_.kind.timed;
  stats.unit_ms = geometry_.unit_ms;
  stats.expired_waiting = ring_ != nullptr ? ring_->size() : 0;
  const auto [retries, second_looks] = readers_.sum();
  stats.retries = retries;
  stats.second_looks = second_looks;
}

}  // namespace coua
