// SPDX-License-Identifier: Apache-2.0
//
// The kernels' common body, instantiated by generic.cc and sse2.cc with their own way to compare a
// bucket's tags (`Match`), with each combination of policies and some shapes of entries.
//
// What readers rely on when a writer runs (flow/cuckoo.h proves it): the meta word of a bucket is
// loaded before its tags; the pair of a nominated slot is loaded again with acquire, since the
// vector load only nominates; key and value are loaded with acquire; then the version must still
// be the same. A miss stands if the primary's version is still the same after the last bucket was
// read, whether the filter or the second bucket decided it; and if the time is still the same.
//
// Hits and misses mixed at random would cost a branch misprediction per key. So what a bucket says
// is not branched on: keys are appended to lists whose lengths are counted up by comparisons, and
// only the length of a list is branched on. What is branched on is rare: a key that differs though
// its tag agrees (1 in 8,000 look-ups), a version that changed.
#pragma once

#include <algorithm>

#include "simd/flow_lookup/kernels.h"
#include "simd/flow_lookup/key_words.h"
#include "simd/flow_lookup/policies.h"

namespace coua::simd {
namespace {

/// Loads that a compiler must not let slip behind the loads that follow.
[[gnu::always_inline]] inline void keep_order() noexcept { __asm__ volatile("" ::: "memory"); }

/// 0 or 1, in a way that no compiler makes a branch of.
[[gnu::always_inline]] inline std::uint32_t as_number(bool condition) noexcept {
  std::uint32_t number = condition;
  __asm__("" : "+r"(number));
  return number;
}

template <prune_policy Prune, expiry_policy Expiry, sync_policy Sync, class Shape, class Match>
struct flow_kernel {
  using bytes_in = const std::uint8_t*;
  static constexpr unsigned group_size = flow_group::size;

  [[gnu::always_inline]] static unsigned key_words(const flow_view& view) noexcept {
    if constexpr (Shape::key_words != 0) return Shape::key_words;
    return view.key_words;
  }
  [[gnu::always_inline]] static unsigned value_words(const flow_view& view) noexcept {
    if constexpr (Shape::value_words != 0) return Shape::value_words;
    return view.value_words;
  }
  [[gnu::always_inline]] static std::uint64_t entry_words(const flow_view& view) noexcept {
    if constexpr (Shape::key_words != 0 && Shape::value_words != 0) {
      return Shape::key_words + Shape::value_words;
    }
    return view.entry_words;
  }
  [[gnu::always_inline]] static const std::uint64_t* entry(const flow_view& view,
                                                           std::uint64_t where) noexcept {
    return view.entries + where * entry_words(view);
  }
  [[gnu::always_inline]] static const flow_line& line_of(const flow_view& view,
                                                         std::uint64_t bucket) noexcept {
    return view.lines[bucket];
  }

  /// Into the second-level cache, as for the FIB (docs/fib.md).
  [[gnu::always_inline]] static void fetch(const void* memory) noexcept {
    __builtin_prefetch(memory, 0, 2);
  }
  /// An entry, or a line that is in the cache already instead of a branch around the fetch.
  [[gnu::always_inline]] static void fetch_entry(const flow_view& view, const flow_line& line,
                                                 std::uint64_t where, bool wanted) noexcept {
    const void* first = entry(view, where);
    const void* at = wanted ? first : &line;
    fetch(at);
    // An entry of 32 bytes never straddles two lines, nor does one of 16.
    if constexpr (Shape::key_words + Shape::value_words != 4 || Shape::value_words == 0) {
      fetch(wanted ? static_cast<const char*>(first) + entry_words(view) * 8 - 1
                   : static_cast<const char*>(at));
    }
  }

  // The four steps.

  /// Hashes keys `from` to `group.n` of a group, and fetches their primary buckets.
  template <bool Fetch = true>
  [[gnu::always_inline]] static void start(const flow_view& view, flow_group& group, unsigned from,
                                           bytes_in keys, const std::uint64_t* hashes) noexcept {
    const unsigned n_words = key_words(view);
    for (unsigned i = from; i < group.n; ++i, keys += view.key_stride) {
      std::uint64_t* words = group.keys + i * n_words;
      to_words(keys, view.key_bytes, n_words, words);
      const std::uint64_t hash =
          hashes != nullptr ? hashes[i - from] : (*view.hash)(words, n_words);
      const std::uint64_t home = home_bucket(hash, view.n_buckets);
      group.hashes[i] = hash;
      group.homes[i] = home;
      if constexpr (Fetch) {
        fetch(&line_of(view, home));
        if constexpr (Prune::fetch_both) {
          fetch(&line_of(view, Prune::other(home, fingerprint_of(hash), 1, view.n_buckets)));
        }
      }
    }
  }

  [[gnu::always_inline]] static void probe_homes(const flow_view& view,
                                                 flow_group& group) noexcept {
    group.now = Expiry::timed ? Sync::load(view.now) : 0;
    if constexpr (!Sync::concurrent) group.moves = *view.moves;
    unsigned n_found = 0, n_seconds = 0;
    std::uint32_t unsure = 0;
    for (unsigned i = 0; i < group.n; ++i) {
      const std::uint64_t home = group.homes[i];
      const fingerprint print = fingerprint_of(group.hashes[i]);
      const flow_line& line = line_of(view, home);
      const std::uint64_t meta = Sync::load(&line.meta);
      const std::uint32_t nominated =
          Match::template find<Expiry::timed>(line, tag_of(print), group.now);
      keep_order();
      const unsigned via = Prune::via(Sync::load(&line.filter), print);
      const std::uint32_t found = as_number(nominated != 0);
      const std::uint32_t second = as_number(via != 0) & ~found;
      const std::uint64_t where = home * flow_line::n_slots +
                                  static_cast<unsigned>(__builtin_ctz(nominated | 1u << 15)) / 2;
      group.seen_home[i] = group.seen[i] = meta;
      group.where[i] = where;
      group.vias[i] = static_cast<std::uint8_t>(via);
      group.found[n_found] = static_cast<std::uint8_t>(i);
      n_found += found;
      group.seconds[n_seconds] = static_cast<std::uint8_t>(i);
      n_seconds += second;
      if constexpr (Sync::concurrent && Prune::filters) {
        const bool changed = !same_version(meta, Sync::load(&line.meta));
        unsure |= (as_number(changed) & ~(found | second) & 1) << i;
      }
      fetch_entry(view, line, where, found != 0);
    }
    if constexpr (!Prune::fetch_both) {
      for (unsigned j = 0; j < n_seconds; ++j) {
        const unsigned i = group.seconds[j];
        fetch(&line_of(view, second_bucket(view, group, i)));
      }
    }
    group.n_found = n_found;
    group.n_seconds = n_seconds;
    group.unsure = unsure;
  }

  [[gnu::always_inline]] static std::uint64_t second_bucket(const flow_view& view,
                                                            const flow_group& group,
                                                            unsigned i) noexcept {
    return Prune::other(group.homes[i], fingerprint_of(group.hashes[i]), group.vias[i],
                        view.n_buckets);
  }

  [[gnu::always_inline]] static void probe_seconds(const flow_view& view,
                                                   flow_group& group) noexcept {
    unsigned n_found = group.n_found;
    std::uint32_t unsure = group.unsure;
    for (unsigned j = 0; j < group.n_seconds; ++j) {
      const unsigned i = group.seconds[j];
      const std::uint64_t bucket = second_bucket(view, group, i);
      const flow_line& line = line_of(view, bucket);
      const std::uint64_t meta = Sync::load(&line.meta);
      const std::uint32_t nominated = Match::template find<Expiry::timed>(
          line, tag_of(fingerprint_of(group.hashes[i])), group.now);
      keep_order();
      const std::uint32_t found = as_number(nominated != 0);
      const std::uint64_t where = bucket * flow_line::n_slots +
                                  static_cast<unsigned>(__builtin_ctz(nominated | 1u << 15)) / 2;
      group.seen[i] = meta;
      group.where[i] = where;
      group.found[n_found] = static_cast<std::uint8_t>(i);
      n_found += found;
      if constexpr (Sync::concurrent) {
        const std::uint64_t home_now = Sync::load(&line_of(view, group.homes[i]).meta);
        unsure |= (as_number(!same_version(group.seen_home[i], home_now)) & ~found & 1) << i;
      }
      fetch_entry(view, line, where, found != 0);
    }
    group.n_found = n_found;
    group.unsure = unsure;
  }

  /// Compares the key of a nominated entry and copies its value to `value`. True when it is the
  /// key's, visible, and of one piece.
  [[gnu::always_inline]] static bool take(const flow_view& view, const std::uint64_t* key,
                                          fingerprint print, std::uint64_t where,
                                          std::uint64_t seen, std::uint64_t now,
                                          std::uint32_t renew_units, std::uint8_t* value) noexcept {
    const flow_line& line = line_of(view, where / flow_line::n_slots);
    const std::uint32_t* slot = line.pairs + where % flow_line::n_slots;
    const std::uint32_t pair = Sync::load(slot);
    const std::uint64_t* words = entry(view, where);
    std::uint64_t differs = (pair ^ print) & 0xffff;
    for (unsigned w = 0; w < key_words(view); ++w) differs |= Sync::load(words + w) ^ key[w];
    const std::uint64_t* stored = words + key_words(view);
    if constexpr (Sync::concurrent) {
      std::uint64_t copy[8];
      for (unsigned w = 0; w < value_words(view); ++w) copy[w] = Sync::load(stored + w);
      const bool same = same_version(seen, Sync::load(&line.meta));
      if (differs != 0 || !same || !Expiry::visible(pair, now)) return false;
      put_value(view, copy, value);
    } else {
      if (differs != 0 || !Expiry::visible(pair, now)) return false;
      put_value(view, stored, value);
    }
    if constexpr (Expiry::timed) {
      if (renew_units != 0) renew(view, const_cast<std::uint32_t*>(slot), pair, renew_units);
    }
    return true;
  }
  [[gnu::always_inline]] static void put_value(const flow_view& view, const std::uint64_t* words,
                                               std::uint8_t* value) noexcept {
    if (value == nullptr) return;
    if constexpr (Shape::value_words != 0) {
      std::memcpy(value, words, Shape::value_words * 8);
    } else {
      // Widths that are one or two moves; a call for the others.
      if (view.value_bytes == 4) {
        std::memcpy(value, words, 4);
      } else if (view.value_bytes == 8) {
        std::memcpy(value, words, 8);
      } else {
        std::memcpy(value, words, view.value_bytes);
      }
    }
  }
  /// Sets a timer, if that changes it by a sixteenth or more. Fails when the slot changed since.
  /// The time is loaded after the pair: a reader that slept between an older time and the pair
  /// would set back a timer that others have renewed meanwhile.
  [[gnu::always_inline]] static void renew(const flow_view& view, std::uint32_t* slot,
                                           std::uint32_t pair, std::uint32_t units) noexcept {
    const std::uint64_t now = Sync::load(view.now);
    const std::uint32_t left = units_left(pair, now);
    const std::uint32_t change = left > units ? left - units : units - left;
    if (change < std::max(1u, units / 16)) return;
    const std::uint32_t renewed = (pair & 0xffff) | static_cast<std::uint32_t>(now + units) << 16;
    if constexpr (Sync::concurrent) {
      exchange_if(slot, pair, renewed);
    } else {
      *slot = renewed;
    }
  }

  [[gnu::always_inline]] static void finish(const flow_view& view, flow_reader_state& state,
                                            flow_group& group, std::uint32_t renew_units,
                                            std::uint8_t* values, std::size_t stride) noexcept {
    std::uint32_t hits = 0, unsure = group.unsure;
    const std::uint64_t now = Expiry::timed ? Sync::load(view.now) : 0;
    for (unsigned j = 0; j < group.n_found; ++j) {
      const unsigned i = group.found[j];
      const bool hit = take(view, group.keys + i * key_words(view), fingerprint_of(group.hashes[i]),
                            group.where[i], group.seen[i], now, renew_units,
                            values != nullptr ? values + i * stride : nullptr);
      hits |= std::uint32_t{hit} << i;
      unsure |= std::uint32_t{!hit} << i;
    }
    // An entry set since the time was read may seem to lie in the past or too far ahead. And of a
    // pipeline, the table's one thread may have changed it between two steps.
    bool changed = Expiry::timed && now != group.now;
    if constexpr (!Sync::concurrent) changed |= *view.moves != group.moves;
    if (changed) [[unlikely]] {
      unsure = static_cast<std::uint32_t>((std::uint64_t{1} << group.n) - 1) & ~hits;
    }
    group.hits = hits;
    if (group.n_seconds != 0) {
      store_relaxed(&state.second_looks, state.second_looks + group.n_seconds);
    }
    if (unsure != 0) [[unlikely]] {
      look_again(view, state, group, unsure, renew_units, values, stride);
    }
  }

  // Again, key by key.

  enum class answer { hit, miss, changed };

  /// Every slot of one bucket that has the key's tag.
  [[gnu::always_inline]] static answer search(const flow_view& view, const std::uint64_t* key,
                                              fingerprint print, std::uint64_t bucket,
                                              std::uint64_t now, std::uint32_t renew_units,
                                              std::uint8_t* value) noexcept {
    const flow_line& line = line_of(view, bucket);
    const std::uint64_t meta = Sync::load(&line.meta);
    std::uint32_t nominated = Match::template find<Expiry::timed>(line, tag_of(print), now);
    keep_order();
    for (; nominated != 0; nominated &= nominated - 1) {
      const std::uint64_t where =
          bucket * flow_line::n_slots + static_cast<unsigned>(__builtin_ctz(nominated)) / 2;
      if (take(view, key, print, where, meta, now, renew_units, value)) return answer::hit;
    }
    if constexpr (Sync::concurrent) {
      if (!same_version(meta, Sync::load(&line.meta))) return answer::changed;
    }
    return answer::miss;
  }

  static answer attempt(const flow_view& view, const std::uint64_t* key, std::uint64_t hash,
                        std::uint32_t renew_units, std::uint8_t* value) noexcept {
    const fingerprint print = fingerprint_of(hash);
    const std::uint64_t home = home_bucket(hash, view.n_buckets);
    const flow_line& line = line_of(view, home);
    const std::uint64_t now = Expiry::timed ? Sync::load(view.now) : 0;
    const std::uint64_t meta = Sync::load(&line.meta);
    answer found = search(view, key, print, home, now, renew_units, value);
    if (found == answer::miss) {
      const unsigned via = Prune::via(Sync::load(&line.filter), print);
      if (via != 0) {
        const std::uint64_t other = Prune::other(home, print, via, view.n_buckets);
        found = search(view, key, print, other, now, renew_units, value);
      }
    }
    if constexpr (Sync::concurrent) {
      if (found == answer::miss && !same_version(meta, Sync::load(&line.meta))) {
        return answer::changed;
      }
      if constexpr (Expiry::timed) {
        if (found == answer::miss && Sync::load(view.now) != now) return answer::changed;
      }
    }
    return found;
  }

  /// One attempt for each listed key, then it waits until the others had theirs; the list ends when
  /// nothing changed under any of them. Each round that a key stays was one in which the writer
  /// completed a step in its buckets: there is nothing to wait for.
  [[gnu::noinline]] static void look_again(const flow_view& view, flow_reader_state& state,
                                           flow_group& group, std::uint32_t unsure,
                                           std::uint32_t renew_units, std::uint8_t* values,
                                           std::size_t stride) noexcept {
    while (unsure != 0) {
      const auto n = static_cast<unsigned>(__builtin_popcount(unsure));
      store_relaxed(&state.retries, state.retries + n);
      std::uint32_t left = 0;
      for (; unsure != 0; unsure &= unsure - 1) {
        const auto i = static_cast<unsigned>(__builtin_ctz(unsure));
        const answer found =
            attempt(view, group.keys + i * key_words(view), group.hashes[i], renew_units,
                    values != nullptr ? values + i * stride : nullptr);
        group.hits |= std::uint32_t{found == answer::hit} << i;
        left |= std::uint32_t{found == answer::changed} << i;
      }
      unsure = left;
    }
  }

  // Batches.

  /// Writes the answers of `n` (up to 32) keys from key `at` of a call. The words are written in
  /// order: a word's first answers clear the rest of it.
  [[gnu::always_inline]] static void put_hits(std::uint64_t* hits, std::size_t at, unsigned n,
                                              std::uint32_t found) noexcept {
    if (hits == nullptr || n == 0) return;
    const unsigned shift = at % 64;
    std::uint64_t* word = hits + at / 64;
    *word = (shift == 0 ? 0 : *word) | std::uint64_t{found} << shift;
    if (shift + n > 64) word[1] = std::uint64_t{found} >> (64 - shift);
  }

  template <bool Fetch = true>
  [[gnu::always_inline]] static void begin(const flow_view& view, flow_group& group, bytes_in keys,
                                           const std::uint64_t* hashes, std::size_t n) noexcept {
    group.n = static_cast<unsigned>(std::min<std::size_t>(n, group_size));
    start<Fetch>(view, group, 0, keys, hashes);
  }

  /// The groups of a call, the first of which has been started.
  [[gnu::always_inline]] static std::size_t run_groups(const flow_view& view,
                                                       flow_reader_state& state, bytes_in keys,
                                                       const std::uint64_t* hashes, std::size_t n,
                                                       std::uint8_t* values, std::uint64_t* hits,
                                                       bytes_in next_keys, std::size_t n_next,
                                                       std::uint32_t renew_units) noexcept {
    std::size_t n_hits = 0;
    unsigned turn = 0;
    for (std::size_t at = 0; at < n; turn ^= 1) {
      flow_group& group = state.batch[turn];
      const std::size_t next = at + group.n;
      probe_homes(view, group);
      if (next < n) {
        begin(view, state.batch[turn ^ 1], keys + next * view.key_stride,
              hashes != nullptr ? hashes + next : nullptr, n - next);
      } else if (n_next != 0) {
        begin(view, state.batch[turn ^ 1], next_keys, nullptr, n_next);
      }
      probe_seconds(view, group);
      finish(view, state, group, renew_units,
             values != nullptr ? values + at * view.value_stride : nullptr, view.value_stride);
      put_hits(hits, at, group.n, group.hits);
      n_hits += static_cast<unsigned>(__builtin_popcount(group.hits));
      at = next;
    }
    return n_hits;
  }

  static std::size_t batch(const flow_view& shared_view, flow_reader_state& state, bytes_in keys,
                           const std::uint64_t* hashes, std::size_t n, std::uint8_t* values,
                           std::uint64_t* hits) noexcept {
    const flow_view view = shared_view;
    begin(view, state.batch[0], keys, hashes, n);
    return run_groups(view, state, keys, hashes, n, values, hits, keys, 0, 0);
  }

  static std::size_t ahead(const flow_view& shared_view, flow_reader_state& state, bytes_in keys,
                           std::size_t n, std::uint8_t* values, std::uint64_t* hits,
                           bytes_in next_keys, std::size_t n_next) noexcept {
    const flow_view view = shared_view;
    // What was fetched by the last call is not remembered but hashed again: it costs less than to
    // find out whether these are the keys that were announced.
    begin<false>(view, state.batch[0], keys, nullptr, n);
    return run_groups(view, state, keys, nullptr, n, values, hits, next_keys, n_next, 0);
  }

  static std::size_t refresh(const flow_view& shared_view, flow_reader_state& state, bytes_in keys,
                             std::size_t n, std::uint8_t* values, std::uint64_t* hits,
                             std::uint32_t units) noexcept {
    const flow_view view = shared_view;
    begin(view, state.batch[0], keys, nullptr, n);
    return run_groups(view, state, keys, nullptr, n, values, hits, keys, 0, units);
  }

  // The pipeline. A key is hashed and its primary bucket fetched when it is submitted; the other
  // steps take whole groups, and a last, partial one only when drained.

  [[gnu::always_inline]] static flow_group& group_of(flow_reader_state& state,
                                                     std::uint64_t key) noexcept {
    return state.ring[key / group_size % flow_reader_state::n_ring];
  }
  [[gnu::always_inline]] static void step_homes(const flow_view& view,
                                                flow_reader_state& state) noexcept {
    flow_group& group = group_of(state, state.homed);
    probe_homes(view, group);
    state.homed += group.n;
  }
  [[gnu::always_inline]] static void step_seconds(const flow_view& view,
                                                  flow_reader_state& state) noexcept {
    flow_group& group = group_of(state, state.seconded);
    probe_seconds(view, group);
    state.seconded += group.n;
  }
  [[gnu::always_inline]] static void step_finish(const flow_view& view,
                                                 flow_reader_state& state) noexcept {
    flow_group& group = group_of(state, state.finished);
    finish(view, state, group, 0, group.values, 8 * value_words(view));
    state.finished += group.n;
  }
  /// Up to `max` answers, as numbers `n_out` and following of a call.
  [[gnu::always_inline]] static std::size_t collect(const flow_view& view, flow_reader_state& state,
                                                    std::size_t max, std::size_t n_out,
                                                    std::uint8_t* values,
                                                    std::uint64_t* hits) noexcept {
    const std::size_t end = n_out + std::min<std::size_t>(max, state.finished - state.collected);
    while (n_out < end) {
      const flow_group& group = group_of(state, state.collected);
      const unsigned from = state.collected % group_size;
      const auto n = static_cast<unsigned>(std::min<std::size_t>(end - n_out, group_size - from));
      const std::uint32_t mask = n == 32 ? ~0u : (1u << n) - 1;
      const std::uint32_t found = group.hits >> from & mask;
      put_hits(hits, n_out, n, found);
      if (values != nullptr) {
        for (std::uint32_t left = found; left != 0; left &= left - 1) {
          const auto i = static_cast<unsigned>(__builtin_ctz(left));
          std::memcpy(values + (n_out + i) * view.value_stride,
                      group.values + (from + i) * 8 * value_words(view), view.value_bytes);
        }
      }
      state.collected += n;
      n_out += n;
    }
    return n_out;
  }

  static std::size_t pipeline(const flow_view& shared_view, flow_reader_state& state, bytes_in keys,
                              std::size_t n, std::uint8_t* values, std::uint64_t* hits) noexcept {
    const flow_view view = shared_view;
    constexpr std::uint64_t block = group_size;
    std::size_t n_out = 0;
    if (hits != nullptr) std::fill_n(hits, (n + 63) / 64, 0);
    for (std::size_t at = 0; at < n;) {
      flow_group& group = group_of(state, state.started);
      const auto from = static_cast<unsigned>(state.started % block);
      const std::size_t size = std::min<std::size_t>(n - at, block - from);
      group.n = from + static_cast<unsigned>(size);
      start(view, group, from, keys + at * view.key_stride, nullptr);
      state.started += size;
      at += size;
      if (state.started % block == 0) {
        if (state.started - state.homed > flow_reader_state::start_to_homes * block) {
          step_homes(view, state);
        }
        if (state.homed - state.seconded > flow_reader_state::homes_to_seconds * block) {
          step_seconds(view, state);
        }
        if (state.seconded - state.finished > flow_reader_state::seconds_to_finish * block) {
          step_finish(view, state);
        }
      }
      n_out = collect(view, state, size, n_out, values, hits);
    }
    return n_out;
  }

  static std::size_t drain(const flow_view& shared_view, flow_reader_state& state,
                           std::uint8_t* values, std::uint64_t* hits) noexcept {
    const flow_view view = shared_view;
    while (state.homed < state.started) step_homes(view, state);
    while (state.seconded < state.homed) step_seconds(view, state);
    while (state.finished < state.seconded) step_finish(view, state);
    const std::size_t n_left = state.finished - state.collected;
    if (hits != nullptr) std::fill_n(hits, (n_left + 63) / 64, 0);
    const std::size_t n = collect(view, state, n_left, 0, values, hits);
    // Groups start at multiples of their size again.
    state.started = state.homed = state.seconded = state.finished = state.collected = 0;
    return n;
  }

  static constexpr flow_kernels set() {
    return {Match::name, &batch, &ahead, &refresh, &pipeline, &drain};
  }
};

// All combinations, as an array indexed by variant, timers, sync and shape.

enum flow_shapes { shape_2_2, shape_2, shape_5, shape_any, n_flow_shapes };

template <class Match>
struct flow_kernel_sets {
  static constexpr unsigned n = 4 * 2 * 2 * n_flow_shapes;
  static constexpr unsigned index(flow_kind kind, flow_shapes shape) {
    return ((static_cast<unsigned>(kind.variant) * 2 + kind.timed) * 2 +
            static_cast<unsigned>(kind.sync)) *
               n_flow_shapes +
           shape;
  }

  template <class Prune, class Expiry, class Sync>
  static constexpr void fill_shapes(std::array<flow_kernels, n>& sets, unsigned at) {
    sets[at + shape_2_2] = flow_kernel<Prune, Expiry, Sync, flow_shape<2, 2>, Match>::set();
    sets[at + shape_2] = flow_kernel<Prune, Expiry, Sync, flow_shape<2, 0>, Match>::set();
    sets[at + shape_5] = flow_kernel<Prune, Expiry, Sync, flow_shape<5, 0>, Match>::set();
    sets[at + shape_any] = flow_kernel<Prune, Expiry, Sync, flow_shape<0, 0>, Match>::set();
  }
  template <class Prune>
  static constexpr void fill_kinds(std::array<flow_kernels, n>& sets, flow_variant variant) {
    using enum flow_sync;
    fill_shapes<Prune, no_expiry, coua::simd::single>(sets,
                                                      index({variant, false, single}, shape_2_2));
    fill_shapes<Prune, no_expiry, coua::simd::one_writer>(
        sets, index({variant, false, one_writer}, shape_2_2));
    fill_shapes<Prune, timer, coua::simd::single>(sets, index({variant, true, single}, shape_2_2));
    fill_shapes<Prune, timer, coua::simd::one_writer>(
        sets, index({variant, true, one_writer}, shape_2_2));
  }
  static constexpr std::array<flow_kernels, n> make() {
    std::array<flow_kernels, n> sets{};
    fill_kinds<bloom>(sets, flow_variant::bloom);
    fill_kinds<optimistic>(sets, flow_variant::optimistic);
    fill_kinds<pessimistic>(sets, flow_variant::pessimistic);
    fill_kinds<horton>(sets, flow_variant::horton);
    return sets;
  }
};

}  // namespace
}  // namespace coua::simd
