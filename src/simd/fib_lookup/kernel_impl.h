// SPDX-License-Identifier: Apache-2.0
//
// The kernels' common body, instantiated by generic.cc, avx2.cc and avx512.cc with their own way
// to compare a bucket (`Match`) and with each layout.
//
// A vector load of a bucket only nominates a slot: eight words are not read in one piece. The
// nominated slot is loaded again with acquire and compared again, and only that word counts. A miss
// rests on the stamps: it stands if no entry of the same primary bucket moved since before
// that bucket was read (table/fib_table.h explains why that suffices); else the key is looked up
// again.
// The clock, looked at again, says in one load for a whole group that nothing moved at all.
//
// Hits and misses mixed at random would cost a branch misprediction per key. So the answer of a
// probe is selected, not branched on, and keys not found are appended to a list whose length is
// counted up by a comparison; only the length of a list is branched on, once per group.
#pragma once

#include <algorithm>

#include "simd/fib_lookup/kernels.h"

namespace coua::simd {
namespace {

template <class Match, class Layout>
struct fib_kernel {
  static constexpr std::size_t group = 32;
  static constexpr std::size_t lanes = 8;  // keys hashed without a branch
  // Fetches in a row, between as many probes: of groups, and of the pipeline.
  static constexpr std::size_t row = 16;
  static constexpr std::size_t stride = 4;

  [[gnu::always_inline]] static const std::uint64_t* address(const fib_view& view,
                                                             std::uint64_t permuted) noexcept {
    return view.words + view.bucket(permuted) * Layout::n_words;
  }
  /// Into the second-level cache (T1): the fill buffers of the first level are what bounds the
  /// misses under way (docs/fib.md: 1.2 to 1.7 times the look-ups of T0 where the table is beyond
  /// the cache, 0.92 where it is in it).
  [[gnu::always_inline]] static void fetch(const std::uint64_t* bucket) noexcept {
    __builtin_prefetch(bucket, 0, 2);
    if constexpr (Layout::wide) __builtin_prefetch(bucket + Layout::n_slots, 0, 2);
  }

  /// The entry of the slot that holds `want`, or fib_miss.
  [[gnu::always_inline]] static std::uint32_t probe(const fib_view& view,
                                                    const std::uint64_t* bucket,
                                                    std::uint64_t want) noexcept {
    const std::uint32_t nominated = Match::find(bucket, want, view.match_mask, Layout{});
    const unsigned slot =
        static_cast<unsigned>(__builtin_ctz(nominated | (1u << (Layout::n_slots - 1))));
    const std::uint64_t word = load_acquire(bucket + slot);
    std::uint32_t entry;
    if constexpr (Layout::wide) {
      entry = static_cast<std::uint32_t>(load_acquire(bucket + Layout::n_slots + slot));
    } else {
      entry = static_cast<std::uint32_t>(word) & view.entry_mask;
    }
    return entry | miss_mask((word ^ want) & view.match_mask);
  }

  /// 0 when the words agree, else fib_miss. Written so that no compiler makes a branch of it: with
  /// hits and misses mixed at random that branch would cost more than all the rest.
  [[gnu::always_inline]] static std::uint32_t miss_mask(std::uint64_t differs) noexcept {
    std::uint32_t mask = 0u - std::uint32_t{differs != 0};
    __asm__("" : "+r"(mask));
    return mask;
  }

  /// Whether the answer of a key may be given: of a wide slot, tag and entry are two words, which
  /// belong together only if the bucket did not change hands in between.
  [[gnu::always_inline]] static bool stands(const fib_view& view, std::uint64_t since,
                                            std::uint64_t p, std::uint32_t entry) noexcept {
    const bool moved = view.moved_since(since, view.bucket(p));
    if constexpr (Layout::wide) {
      return !(moved | view.moved_since(since, view.bucket(view.permutation.q_of_p(p))));
    } else {
      return (entry != fib_miss) | !moved;
    }
  }

  /// Looks up again, from the start, the listed keys whose answers do not stand. One attempt each,
  /// then the key waits until the others had theirs; the list ends when nothing moved under any of
  /// them.
  template <typename Place>
  [[gnu::noinline]] static void look_again(const fib_view& view, fib_reader_state& state,
                                           const std::uint64_t* p, std::uint32_t* entries,
                                           Place* unsure, std::size_t n_unsure) noexcept {
    while (n_unsure != 0) {
      store_relaxed(&state.retries, state.retries + n_unsure);
      std::size_t n_left = 0;
      for (std::size_t j = 0; j < n_unsure; ++j) {
        const Place i = unsure[j];
        const std::uint64_t since = load_acquire(view.clock);
        entries[i] = probe(view, address(view, p[i]), view.want_home(p[i]));
        if (entries[i] == fib_miss) {
          const std::uint64_t q = view.permutation.q_of_p(p[i]);
          entries[i] = probe(view, address(view, q), view.want_guest(q));
        }
        if (!stands(view, since, p[i], entries[i])) unsure[n_left++] = i;
      }
      n_unsure = n_left;
    }
  }

  /// Renews the age stamp of an entry that was found. The exchange fails if the writer changed or
  /// moved the entry since; then the refresh is dropped. The epoch is loaded after the entry: a
  /// reader that slept between an older epoch and the entry would set back what others renewed.
  [[gnu::noinline]] static void renew(const fib_view& view, std::uint64_t p) noexcept {
    const std::uint64_t q = view.permutation.q_of_p(p);
    const std::uint64_t wants[2] = {view.want_home(p), view.want_guest(q)};
    const std::uint64_t* buckets[2] = {address(view, p), address(view, q)};
    for (int i = 0; i < 2; ++i) {
      for (unsigned slot = 0; slot < Layout::n_slots; ++slot) {
        const std::uint64_t word = load_acquire(buckets[i] + slot);
        if (((word ^ wants[i]) & view.match_mask) != 0) continue;
        auto* target = const_cast<std::uint64_t*>(buckets[i]) + slot;
        if constexpr (Layout::wide) target += Layout::n_slots;
        const std::uint64_t old = Layout::wide ? load_acquire(target) : word;
        if ((old & fib_static) != 0) return;
        exchange_if(target, old, (old & ~std::uint64_t{fib_age_mask}) | load_relaxed(view.epoch));
        return;
      }
    }
  }

  /// Looks up again those of `n` keys whose answers do not stand, because something moved after the
  /// clock showed `since`. Returns how many are not found. `unsure` is room for a list of `n`. The
  /// view comes as a copy: a caller that gave away its address could not keep it in registers.
  template <typename Place>
  [[gnu::noinline]] static std::size_t settle(fib_view view, fib_reader_state& state,
                                              std::uint64_t since, const std::uint64_t* p,
                                              std::size_t n, std::uint32_t* entries,
                                              Place* unsure) noexcept {
    std::size_t n_unsure = 0;
    for (std::size_t i = 0; i < n; ++i) {
      unsure[n_unsure] = static_cast<Place>(i);
      n_unsure += !stands(view, since, p[i], entries[i]);
    }
    look_again(view, state, p, entries, unsure, n_unsure);
    return static_cast<std::size_t>(std::count(entries, entries + n, fib_miss));
  }

  /// Looks up the keys at places `first` to `end` in their primary buckets. Appends the places of
  /// those not found to a list of `n_pending`, fetches their secondary buckets, and returns how
  /// long the list is now.
  template <typename Place>
  [[gnu::always_inline]] static std::size_t probe_homes(const fib_view& view,
                                                        const std::uint64_t* p, std::size_t first,
                                                        std::size_t end, std::uint32_t* entries,
                                                        Place* pending,
                                                        std::size_t n_pending) noexcept {
    std::size_t next = n_pending;
    for (std::size_t i = first; i < end; ++i) {
      const std::uint32_t entry = probe(view, address(view, p[i]), view.want_home(p[i]));
      entries[i] = entry;
      pending[n_pending] = static_cast<Place>(i);
      n_pending += entry == fib_miss;
    }
    for (; next < n_pending; ++next) {
      fetch(address(view, view.permutation.q_of_p(p[pending[next]])));
    }
    return n_pending;
  }

  /// Looks up the listed keys in their secondary buckets, and again from the start those whose
  /// answer does not stand. Returns how many of the `n` keys were not found.
  template <typename Place>
  [[gnu::always_inline]] static std::size_t probe_seconds(
      const fib_view& view, fib_reader_state& state, std::uint64_t since, const std::uint64_t* p,
      std::size_t n, std::uint32_t* entries, Place* pending, std::size_t n_pending) noexcept {
    std::size_t n_missed = 0;
    for (std::size_t j = 0; j < n_pending; ++j) {
      const Place i = pending[j];
      const std::uint64_t q = view.permutation.q_of_p(p[i]);
      const std::uint32_t entry = probe(view, address(view, q), view.want_guest(q));
      entries[i] = entry;
      pending[n_missed] = i;
      n_missed += entry == fib_miss;
    }
    if (load_acquire(view.clock) == since) [[likely]]
      return n_missed;
    return settle(view, state, since, p, n, entries, pending);
  }

  [[gnu::always_inline]] static void hash_and_fetch(const fib_view& view, const std::uint64_t* keys,
                                                    std::size_t first, std::size_t end,
                                                    std::uint64_t* p) noexcept {
    for (std::size_t i = first; i < end; ++i) {
      p[i] = view.permutation.p(keys[i]);
      fetch(address(view, p[i]));
    }
  }

  /// Resolves up to `group` keys whose primary buckets are being fetched, by turns with fetches for
  /// as many next ones at most.
  [[gnu::always_inline]] static std::size_t resolve(const fib_view& view, fib_reader_state& state,
                                                    const std::uint64_t* p, std::size_t n,
                                                    std::uint32_t* entries,
                                                    const std::uint64_t* next_keys,
                                                    std::size_t n_next,
                                                    std::uint64_t* next_p) noexcept {
    const std::uint64_t since = load_acquire(view.clock);
    std::uint32_t pending[group];
    std::size_t n_pending = 0;
    for (std::size_t at = 0; at < std::max(n, n_next); at += row) {
      n_pending = probe_homes(view, p, at, std::min(at + row, n), entries, pending, n_pending);
      hash_and_fetch(view, next_keys, at, std::min(at + row, n_next), next_p);
    }
    return n - probe_seconds(view, state, since, p, n, entries, pending, n_pending);
  }

  static std::size_t ahead(const fib_view& shared_view, fib_reader_state& state,
                           const std::uint64_t* keys, std::size_t n, std::uint32_t* entries,
                           const std::uint64_t* next_keys, std::size_t n_next) noexcept {
    const fib_view view = shared_view;
    // What was fetched by the last call is not remembered but hashed again: it costs less than to
    // find out whether these are the keys that were announced.
    std::uint64_t p[2][group];
    std::size_t size = std::min(n, group);
    for (std::size_t i = 0; i < size; ++i) p[0][i] = view.permutation.p(keys[i]);
    return run_groups(view, state, keys, n, entries, next_keys, n_next, p);
  }

  static std::size_t batch(const fib_view& shared_view, fib_reader_state& state,
                           const std::uint64_t* keys, std::size_t n,
                           std::uint32_t* entries) noexcept {
    const fib_view view = shared_view;
    std::uint64_t p[2][group];
    const std::size_t size = std::min(n, group);
    hash_and_fetch(view, keys, 0, size, p[0]);
    // Nothing is left to do while the secondary buckets of the last row come: of a single group
    // they are fetched at once. This costs lines, but saves waiting a second time.
    if (n <= group) {
      for (std::size_t i = size - std::min(size, row); i < size; ++i) {
        fetch(address(view, view.permutation.q_of_p(p[0][i])));
      }
    }
    return run_groups(view, state, keys, n, entries, keys, 0, p);
  }

  [[gnu::always_inline]] static std::size_t run_groups(
      const fib_view& view, fib_reader_state& state, const std::uint64_t* keys, std::size_t n,
      std::uint32_t* entries, const std::uint64_t* next_keys, std::size_t n_next,
      std::uint64_t (&p)[2][group]) noexcept {
    std::size_t hits = 0;
    unsigned turn = 0;
    for (std::size_t at = 0; at < n; turn ^= 1) {
      const std::size_t size = std::min(n - at, group);
      const std::size_t next = at + size;
      const bool last = next == n;
      const std::uint64_t* following = last ? next_keys : keys + next;
      const std::size_t n_following = std::min(last ? n_next : n - next, group);
      hits +=
          resolve(view, state, p[turn], size, entries + at, following, n_following, p[turn ^ 1]);
      at = next;
    }
    return hits;
  }

  template <auto Batch>
  static std::size_t refresh(const fib_view& view, fib_reader_state& state,
                             const std::uint64_t* keys, std::size_t n,
                             std::uint32_t* entries) noexcept {
    const std::size_t hits = Batch(view, state, keys, n, entries);
    const std::uint32_t epoch = load_relaxed(view.epoch);
    for (std::size_t i = 0; i < n; ++i) {
      if (entries[i] == fib_miss || (entries[i] & fib_static) != 0) continue;
      if ((entries[i] & fib_age_mask) != epoch) renew(view, view.permutation.p(keys[i]));
    }
    return hits;
  }

  // The pipeline. A key is hashed when it is submitted; all else is done for whole blocks, when one
  // is full, and for a last, partial one only when drained. The primary buckets of the new block
  // are fetched while those of the block before it are looked into, by turns: fetches in a row
  // would wait for the first of them to retire, and probes in a row would leave memory idle
  // (docs/fib.md).

  [[gnu::always_inline]] static void hash(const fib_view& view, const std::uint64_t* keys,
                                          std::size_t n, std::uint64_t* p) noexcept {
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
#pragma GCC unroll 8
      for (std::size_t j = 0; j < lanes; ++j) p[i + j] = view.permutation.p(keys[i + j]);
    }
    for (; i < n; ++i) p[i] = view.permutation.p(keys[i]);
  }
  [[gnu::always_inline]] static void fetch_homes(const fib_view& view, const std::uint64_t* p,
                                                 std::size_t n) noexcept {
    for (std::size_t i = 0; i < n; ++i) fetch(address(view, p[i]));
  }

  /// Looks up 64 keys, from place `first` of their block on, in their primary buckets, by turns
  /// with fetches for the next block. Returns a bit for each that is not found: a list written here
  /// would be stores at addresses that the processor does not know yet, and the loads of the
  /// fetches would wait for them.
  [[gnu::always_inline]] static std::uint64_t fetch_and_probe(const fib_view& view,
                                                              const std::uint64_t* next_p,
                                                              const std::uint64_t* p,
                                                              std::uint32_t* entries) noexcept {
    std::uint64_t missed = 0;
    for (std::size_t i = 0; i < 64; i += stride) {
#pragma GCC unroll 4
      for (std::size_t j = 0; j < stride; ++j) fetch(address(view, next_p[i + j]));
      std::uint64_t missed_here = 0;
#pragma GCC unroll 4
      for (std::size_t j = 0; j < stride; ++j) {
        const std::uint64_t key = p[i + j];
        const std::uint32_t entry = probe(view, address(view, key), view.want_home(key));
        entries[i + j] = entry;
        missed_here |= std::uint64_t{entry == fib_miss} << j;
      }
      missed |= missed_here << i;
    }
    return missed;
  }

  /// Looks up a block of `n` keys in its primary buckets while those of the full block at `next_p`,
  /// if any, are fetched, and fetches the secondary buckets that are needed.
  [[gnu::always_inline]] static void probe_block(const fib_view& view, fib_pipeline& pipe,
                                                 std::size_t n,
                                                 const std::uint64_t* next_p) noexcept {
    const std::size_t at = pipe.probed % fib_pipeline::capacity;
    const std::size_t block = at / fib_pipeline::block;
    const std::uint64_t* const p = pipe.permuted + at;
    std::uint32_t* const entries = pipe.entries + at;
    std::uint8_t* const pending = pipe.pending + at;
    pipe.clock[block] = load_acquire(view.clock);
    std::size_t n_pending = 0;
    if (next_p == nullptr) {
      n_pending = probe_homes(view, p, 0, n, entries, pending, 0);
    } else {
      for (std::size_t first = 0; first < fib_pipeline::block; first += 64) {
        std::uint64_t missed = fetch_and_probe(view, next_p + first, p + first, entries + first);
        for (; missed != 0; missed &= missed - 1) {
          const std::size_t i = first + static_cast<std::size_t>(__builtin_ctzll(missed));
          pending[n_pending++] = static_cast<std::uint8_t>(i);
          fetch(address(view, view.permutation.q_of_p(p[i])));
        }
      }
    }
    pipe.n_pending[block] = static_cast<std::uint8_t>(n_pending);
    pipe.probed += n;
  }
  [[gnu::always_inline]] static void finish_block(const fib_view& view, fib_reader_state& state,
                                                  std::size_t n) noexcept {
    fib_pipeline& pipe = state.pipeline;
    const std::size_t at = pipe.done % fib_pipeline::capacity;
    const std::size_t block = at / fib_pipeline::block;
    probe_seconds(view, state, pipe.clock[block], pipe.permuted + at, n, pipe.entries + at,
                  pipe.pending + at, pipe.n_pending[block]);
    pipe.done += n;
  }
  static std::size_t collect(fib_pipeline& pipe, std::size_t max, std::uint32_t* entries) noexcept {
    const std::size_t n = std::min<std::size_t>(max, pipe.done - pipe.collected);
    const std::size_t at = pipe.collected % fib_pipeline::capacity;
    const std::size_t n_to_end = std::min(n, fib_pipeline::capacity - at);
    std::copy_n(pipe.entries + at, n_to_end, entries);
    std::copy_n(pipe.entries, n - n_to_end, entries + n_to_end);
    pipe.collected += n;
    return n;
  }

  static std::size_t pipeline(const fib_view& shared_view, fib_reader_state& state,
                              const std::uint64_t* keys, std::size_t n,
                              std::uint32_t* entries) noexcept {
    constexpr std::size_t block = fib_pipeline::block;
    const fib_view view = shared_view;
    fib_pipeline& pipe = state.pipeline;
    std::size_t n_out = 0;
    for (std::size_t at = 0; at < n;) {
      const std::size_t size = std::min(n - at, block - pipe.submitted % block);
      std::uint64_t* const p = pipe.permuted + pipe.submitted % fib_pipeline::capacity;
      hash(view, keys + at, size, p);
      pipe.submitted += size;
      at += size;
      if (pipe.submitted % block == 0) {
        const std::uint64_t* const full = p + size - block;
        if (pipe.submitted - pipe.probed > block) {
          probe_block(view, pipe, block, full);
        } else {
          fetch_homes(view, full, block);
        }
        if (pipe.probed - pipe.done > block) finish_block(view, state, block);
      }
      n_out += collect(pipe, size, entries + n_out);
    }
    return n_out;
  }

  static std::size_t drain(const fib_view& shared_view, fib_reader_state& state,
                           std::uint32_t* entries) noexcept {
    constexpr std::uint64_t block = fib_pipeline::block;
    const fib_view view = shared_view;
    fib_pipeline& pipe = state.pipeline;
    const std::size_t n_last = pipe.submitted % block;  // of a block that is not full
    fetch_homes(view, pipe.permuted + (pipe.submitted - n_last) % fib_pipeline::capacity, n_last);
    while (pipe.probed < pipe.submitted) {
      probe_block(view, pipe, std::min(block, pipe.submitted - pipe.probed), nullptr);
    }
    while (pipe.done < pipe.probed) {
      finish_block(view, state, std::min(block, pipe.probed - pipe.done));
    }
    const std::size_t n = collect(pipe, fib_pipeline::capacity, entries);
    // Blocks start at multiples of the block size again.
    pipe.submitted = pipe.probed = pipe.done = pipe.collected = 0;
    return n;
  }

  static constexpr fib_kernels set(isa instruction_set) {
    return {instruction_set, &batch, &ahead, &refresh<batch>, &pipeline, &drain};
  }
};

}  // namespace
}  // namespace coua::simd
