// SPDX-License-Identifier: Apache-2.0
#include "table/optimistic_fib.h"

#include <algorithm>

#include "table/fib_make.h"

namespace coua {
namespace {

using simd::fib_miss;
using simd::fib_view;

constexpr std::size_t max_batch = 64;
constexpr unsigned n_slots = simd::packed4::n_slots;

/// Reads a version counter as the original does: by an atomic addition of nothing.
struct barrier_reads {
  static std::uint64_t version(const std::uint64_t* counter) {
    return __atomic_add_fetch(const_cast<std::uint64_t*>(counter), 0, __ATOMIC_SEQ_CST);
  }
  static void barrier() { __sync_synchronize(); }
};

/// Reads it in the order that the machine keeps anyway: the acquire loads say so to the compiler.
struct plain_reads {
  static std::uint64_t version(const std::uint64_t* counter) { return load_acquire(counter); }
  static void barrier() { __asm__ volatile("" ::: "memory"); }
};

struct located_key {
  std::uint64_t p, q;
  std::uint64_t buckets[2];

  located_key() = default;
  located_key(const fib_view& view, std::uint64_t key)
      : p(view.permutation.p(key)),
        q(view.permutation.q_of_p(p)),
        buckets{view.bucket(p), view.bucket(q)} {}
};

template <class Reads>
struct versions {
  std::uint64_t words[2];

  versions() = default;
  versions(const fib_view& view, const located_key& key)
      : words{Reads::version(view.stamps + (key.buckets[0] & view.stripe_mask)),
              Reads::version(view.stamps + (key.buckets[1] & view.stripe_mask))} {}
  bool moving() const { return ((words[0] | words[1]) & 1) != 0; }
  bool operator==(const versions&) const = default;
};

std::uint32_t probe(const fib_view& view, std::uint64_t bucket, std::uint64_t want) {
  const std::uint64_t* slots = view.words + bucket * n_slots;
  for (unsigned i = 0; i < n_slots; ++i) {
    const std::uint64_t word = load_acquire(slots + i);
    if (((word ^ want) & view.match_mask) == 0) {
      return static_cast<std::uint32_t>(word) & view.entry_mask;
    }
  }
  return fib_miss;
}

template <class Reads>
std::uint32_t lookup_one(const fib_view& view, std::uint64_t key) {
  const located_key at(view, key);
  for (;;) {
    const versions<Reads> before(view, at);
    Reads::barrier();
    if (before.moving()) continue;
    std::uint32_t entry = probe(view, at.buckets[0], view.want_home(at.p));
    if (entry == fib_miss) entry = probe(view, at.buckets[1], view.want_guest(at.q));
    Reads::barrier();
    if (versions<Reads>(view, at) == before) return entry;
  }
}

void fetch(const fib_view& view, std::uint64_t bucket) {
  __builtin_prefetch(view.words + bucket * n_slots, 0, 3);
}

template <bool Prefetch>
void lookup_batch(const fib_view& view, const std::uint64_t* keys, std::size_t n,
                  std::uint32_t* entries) {
  located_key at[max_batch];
  versions<plain_reads> before[max_batch];
  for (std::size_t i = 0; i < n; ++i) {
    at[i] = located_key(view, keys[i]);
    if (Prefetch) fetch(view, at[i].buckets[0]);
  }
  for (bool stable = false; !stable;) {
    stable = true;
    for (std::size_t i = 0; i < n; ++i) {
      before[i] = versions<plain_reads>(view, at[i]);
      stable &= !before[i].moving();
    }
    if (!stable) continue;
    for (std::size_t i = 0; i < n; ++i) {
      entries[i] = probe(view, at[i].buckets[0], view.want_home(at[i].p));
      if (Prefetch && entries[i] == fib_miss) fetch(view, at[i].buckets[1]);
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (entries[i] != fib_miss) continue;
      entries[i] = probe(view, at[i].buckets[1], view.want_guest(at[i].q));
    }
    for (std::size_t i = 0; i < n; ++i) {
      stable &= versions<plain_reads>(view, at[i]) == before[i];
    }
  }
}

}  // namespace

result<std::unique_ptr<optimistic_fib>> optimistic_fib::create(coua_fib_params params,
                                                               optimistic_step step) {
  params.layout = COUA_FIB_LAYOUT_PACKED4;
  auto parts = fib_parts::create(params);
  if (!parts) return tl::unexpected(parts.error());
  std::unique_ptr<fib> table;
  if (step == optimistic_step::baseline) {
    table = make_fib_table<simd::packed4, barrier_counters>(std::move(*parts));
  } else {
    table = make_fib_table<simd::packed4, plain_counters>(std::move(*parts));
  }
  return std::unique_ptr<optimistic_fib>(new optimistic_fib(std::move(table), step));
}

std::size_t optimistic_fib::lookup(const std::uint64_t* keys, std::size_t n,
                                   std::uint32_t* entries) const {
  const fib_view view = table_->view();
  if (step_ == optimistic_step::baseline) {
    for (std::size_t i = 0; i < n; ++i) entries[i] = lookup_one<barrier_reads>(view, keys[i]);
  } else if (step_ == optimistic_step::memory_order) {
    for (std::size_t i = 0; i < n; ++i) entries[i] = lookup_one<plain_reads>(view, keys[i]);
  } else {
    const auto batch = step_ == optimistic_step::batch ? &lookup_batch<false> : &lookup_batch<true>;
    for (std::size_t at = 0; at < n; at += max_batch) {
      batch(view, keys + at, std::min(n - at, max_batch), entries + at);
    }
  }
  return n - static_cast<std::size_t>(std::count(entries, entries + n, fib_miss));
}

}  // namespace coua
