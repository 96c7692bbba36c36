// SPDX-License-Identifier: Apache-2.0
//
// The four steps of a look-up (kernels.h), each for a group of keys.
//
// What readers rely on when a writer runs (flow/flow_buckets.h proves it): the meta word of a
// bucket is loaded before its tags; the pair of a nominated slot is loaded again with acquire,
// since the vector load only nominates (or a fence keeps what follows behind it); key and value are
// loaded with acquire; then the version must still be the same. A miss stands if the primary's
// version is still the same after the last bucket was read, whether the filter or the second bucket
// decided it; and if the time is still the same.
//
// Hits and misses mixed at random would cost a branch misprediction per key. So what a bucket says
// is not branched on: keys are appended to lists whose lengths are counted up by comparisons, and
// only the length of a list is branched on. What is branched on is rare: a key that differs though
// its tag agrees (1 in 8,000 look-ups), a version that changed.
//
// Loops keep in local variables what stores to a group could change as far as a compiler knows: the
// view, whose address must not leave them, the secrets of the hash, the number of keys.
#pragma once

#include "simd/flow_lookup/again.h"

namespace coua::simd {
namespace {

/// 0 or 1, in a way that no compiler makes a branch of.
[[gnu::always_inline]] inline std::uint32_t as_number(bool condition) noexcept {
  std::uint32_t number = condition;
  __asm__("" : "+r"(number));
  return number;
}

template <prune_policy Prune, expiry_policy Expiry, sync_policy Sync, class Shape, class Match>
struct flow_steps : flow_again<Prune, Expiry, Sync, Shape, Match> {
  using bytes_in = const std::uint8_t*;
  using again = flow_again<Prune, Expiry, Sync, Shape, Match>;
  using again::fetch, again::fetch_entry, again::first_of, again::key_words, again::line_of;
  static constexpr unsigned group_size = flow_group::size;
  static constexpr const char* instruction_set = Match::name;
  static constexpr bool has_filters = Prune::filters;

  /// A group that other groups have their turn before fetches the primary buckets. One that goes
  /// through all steps at once fetches both: to wait for the second ones later, for the few keys
  /// that need them, would take longer, unless there are hardly such keys, or they are near
  /// (flow_reader_state::fetches_both), or the keys are more than few_keys: then the lines that
  /// nobody needs take longer than to wait (docs/flow-table.md).
  enum class fetched { nothing, homes, both };
  static constexpr std::size_t few_keys = Match::few_keys;

  /// Hashes keys `from` to `group.n` of a group, and fetches their buckets. Out of line: a call for
  /// a group costs little, and a copy of it in every kernel costs minutes of compiling.
  template <fetched What>
  [[gnu::noinline]] static void start(const flow_view& shared, flow_group& group, unsigned from,
                                      bytes_in keys, const std::uint64_t* hashes) noexcept {
    const flow_view view = shared;
    if (hashes != nullptr) {
      start_each<What>(view, group, from, keys,
                       [&](unsigned i, const std::uint64_t*) { return hashes[i - from]; });
    } else if constexpr (Shape::key_words != 0) {
      const keyed_hash::of<Shape::key_words> hash(*view.hash);
      start_each<What>(view, group, from, keys,
                       [&hash](unsigned, const std::uint64_t* words) { return hash(words); });
    } else {
      start_each<What>(view, group, from, keys, [&view](unsigned, const std::uint64_t* words) {
        return (*view.hash)(words, view.key_words);
      });
    }
  }
  template <fetched What, class Hash>
  [[gnu::always_inline]] static void start_each(const flow_view& view, flow_group& group,
                                                unsigned from, bytes_in keys, Hash hash) noexcept {
    const unsigned n = group.n, n_words = key_words(view);
    std::uint64_t* words = group.keys + from * n_words;
    for (unsigned i = from; i < n; ++i, keys += view.key_stride, words += n_words) {
      to_words(keys, view.key_bytes, n_words, words);
      const std::uint64_t h = hash(i, words);
      const std::uint64_t home = home_bucket(h, view.n_buckets);
      group.hashes[i] = h;
      group.homes[i] = home;
      if constexpr (What != fetched::nothing) fetch(&line_of(view, home));
      if constexpr (What != fetched::nothing && (Prune::fetch_both || What == fetched::both) &&
                    Prune::n_functions == 1) {
        fetch(&line_of(view, Prune::other(home, fingerprint_of(h), 1, view.n_buckets)));
      }
    }
  }

  [[gnu::always_inline]] static void probe_homes(const flow_view& view,
                                                 flow_group& group) noexcept {
    const std::uint64_t now = Expiry::timed ? Sync::load(view.now) : 0;
    if constexpr (!Sync::concurrent) group.moves = *view.moves;
    const unsigned n = group.n;
    unsigned n_found = 0, n_seconds = 0;
    std::uint64_t changed = 0;
    for (unsigned i = 0; i < n; ++i) {
      const std::uint64_t home = group.homes[i];
      const fingerprint print = fingerprint_of(group.hashes[i]);
      const flow_line& line = line_of(view, home);
      const std::uint64_t meta = Sync::load(&line.meta);
      const std::uint32_t nominated = Match::template find<Expiry::timed>(line, tag_of(print), now);
      keep_order();
      const unsigned via = Prune::via(Sync::load(&line.filter), Prune::trace(print));
      const std::uint32_t found = as_number(nominated != 0);
      const std::uint32_t second = as_number(via != 0) & ~found;
      const std::uint64_t where = first_of(home, nominated);
      if (!view.is_small) fetch_entry(view, line, where, found != 0);
      group.where[i] = where;
      if constexpr (Sync::concurrent) group.seen[i] = meta;
      if constexpr (Prune::n_functions > 1) group.vias[i] = static_cast<std::uint8_t>(via);
      group.found[n_found] = static_cast<std::uint8_t>(i);
      n_found += found;
      group.seconds[n_seconds] = static_cast<std::uint8_t>(i);
      n_seconds += second;
      if constexpr (Sync::concurrent && Prune::filters) changed |= meta ^ Sync::load(&line.meta);
    }
    fetch_seconds(view, group, n_seconds);
    group.now = now;
    group.n_found = n_found;
    group.n_seconds = n_seconds;
    // A bucket seldom changes while it is read; then the whole group's misses are looked at again.
    group.unsure = changed >> flow_version_shift != 0 ? all_of(n) : 0;
  }
  [[gnu::always_inline]] static std::uint32_t all_of(unsigned n) noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{1} << n) - 1);
  }

  [[gnu::always_inline]] static std::uint64_t second_bucket(const flow_view& view,
                                                            const flow_group& group,
                                                            unsigned i) noexcept {
    const unsigned via = Prune::n_functions > 1 ? group.vias[i] : 1;
    return Prune::other(group.homes[i], fingerprint_of(group.hashes[i]), via, view.n_buckets);
  }

  /// Those that were listed, unless they were fetched at the start.
  [[gnu::always_inline]] static void fetch_seconds(const flow_view& view, const flow_group& group,
                                                   unsigned n_seconds) noexcept {
    if (Prune::fetch_both || view.is_small) return;
    for (unsigned j = 0; j < n_seconds; ++j) {
      fetch(&line_of(view, second_bucket(view, group, group.seconds[j])));
    }
  }

  [[gnu::always_inline]] static void probe_seconds(const flow_view& view,
                                                   flow_group& group) noexcept {
    const std::uint64_t now = group.now;
    const unsigned n_seconds = group.n_seconds;
    unsigned n_found = group.n_found;
    std::uint32_t unsure = group.unsure;
    for (unsigned j = 0; j < n_seconds; ++j) {
      const unsigned i = group.seconds[j];
      const std::uint64_t bucket = second_bucket(view, group, i);
      const flow_line& line = line_of(view, bucket);
      const std::uint64_t meta = Sync::load(&line.meta);
      const std::uint32_t nominated =
          Match::template find<Expiry::timed>(line, tag_of(fingerprint_of(group.hashes[i])), now);
      keep_order();
      const std::uint32_t found = as_number(nominated != 0);
      const std::uint64_t where = first_of(bucket, nominated);
      if (!view.is_small) fetch_entry(view, line, where, found != 0);
      if constexpr (Sync::concurrent) {
        const std::uint64_t home_now = Sync::load(&line_of(view, group.homes[i]).meta);
        unsure |= (as_number(!same_version(group.seen[i], home_now)) & ~found & 1) << i;
        group.seen[i] = meta;
      }
      group.where[i] = where;
      group.found[n_found] = static_cast<std::uint8_t>(i);
      n_found += found;
    }
    group.n_found = n_found;
    group.unsure = unsure;
  }

  /// In a table of one thread, nothing changes between the steps of one call.
  template <bool InOneCall>
  static constexpr bool settled = InOneCall && !Sync::concurrent;

  /// Sets the group's hits. Returns the keys that were nominated for and have no entry.
  template <bool InOneCall, unsigned ValueBytes>
  [[gnu::always_inline]] static std::uint32_t take_each(const flow_view& view, flow_group& group,
                                                        std::uint64_t now,
                                                        std::uint32_t renew_units,
                                                        std::uint8_t* values,
                                                        std::size_t stride) noexcept {
    const unsigned n_found = group.n_found, n_words = key_words(view);
    const std::uint64_t* keys = group.keys;
    std::uint32_t hits = 0, none = 0;
    for (unsigned j = 0; j < n_found; ++j) {
      const unsigned i = group.found[j];
      const typename again::nominee at = {group.where[i], Sync::concurrent ? group.seen[i] : 0,
                                          now};
      const bool hit = again::template take<settled<InOneCall>, ValueBytes>(
          view, keys + i * n_words, at, renew_units,
          values != nullptr ? values + i * stride : nullptr);
      hits |= std::uint32_t{hit} << i;
      none |= std::uint32_t{!hit} << i;
    }
    group.hits = hits;
    return none;
  }
  /// Values of one word. Out of line: then they, and what the loop needs besides, are in registers;
  /// in the kernels there are none left.
  [[gnu::noinline]] static std::uint32_t take_words(const flow_view& shared, flow_group& group,
                                                    std::uint64_t now, std::uint32_t renew_units,
                                                    std::uint8_t* values,
                                                    std::size_t stride) noexcept {
    const flow_view view = shared;
    return take_each<true, 8>(view, group, now, renew_units, values, stride);
  }
  /// The same where every key was nominated for, without the list and without a branch for a key. A
  /// fence stands for the loads of their pairs. False: one of them is another key's, or has
  /// changed, and nothing was copied out.
  [[gnu::noinline]] static bool take_all_words(const flow_view& shared, flow_group& group,
                                               std::uint8_t* values, std::size_t stride) noexcept {
    const flow_view view = shared;
    const unsigned n = group.n;
    const std::uint64_t* key = group.keys;
    std::uint64_t differs = 0;
    alignas(64) std::uint64_t taken[group_size];
    acquire_loads();
    for (unsigned i = 0; i < n; ++i, key += Shape::key_words) {
      const std::uint64_t where = group.where[i];
      const std::uint64_t* words = again::entry(view, where);
      for (unsigned w = 0; w < Shape::key_words; ++w) differs |= Sync::load(words + w) ^ key[w];
      taken[i] = Sync::load(words + Shape::key_words);
      const std::uint64_t meta = Sync::load(&line_of(view, where / flow_line::n_slots).meta);
      differs |= (group.seen[i] ^ meta) >> flow_version_shift;
    }
    if (differs != 0) [[unlikely]]
      return false;
    if (stride == 8) {
      std::memcpy(values, taken, n * std::size_t{8});
    } else {
      for (unsigned i = 0; i < n; ++i) std::memcpy(values + i * stride, &taken[i], 8);
    }
    group.hits = all_of(n);
    return true;
  }
  static constexpr bool may_take_all = has_fences && Sync::concurrent && !Expiry::timed &&
                                       Shape::key_words != 0 && Shape::value_words == 1;

  template <bool InOneCall>
  [[gnu::always_inline]] static std::uint32_t take_listed(
      const flow_view& shared, const flow_view& view, const flow_reader_state& state,
      flow_group& group, std::uint64_t now, std::uint32_t renew_units, std::uint8_t* values,
      std::size_t stride) noexcept {
    if constexpr (InOneCall && Shape::value_words == 1) {
      if (values != nullptr && view.value_bytes == 8) {
        if constexpr (may_take_all) {
          // Of what comes from further away, each answer should go on as soon as it is there.
          if (state.is_near && group.n_found == group.n &&
              take_all_words(shared, group, values, stride)) {
            return 0;
          }
        }
        return take_words(shared, group, now, renew_units, values, stride);
      }
    }
    return take_each<InOneCall, 0>(view, group, now, renew_units, values, stride);
  }

  /// Takes the entries that tags nominated. Returns the keys whose answers do not stand. `view` is
  /// the loop's own copy of `shared`.
  template <bool InOneCall>
  [[gnu::always_inline]] static std::uint32_t take_found(
      const flow_view& shared, const flow_view& view, flow_reader_state& state, flow_group& group,
      std::uint32_t renew_units, std::uint8_t* values, std::size_t stride) noexcept {
    const std::uint64_t now =
        Expiry::timed && !settled<InOneCall> ? Sync::load(view.now) : group.now;
    std::uint32_t unsure = group.unsure | take_listed<InOneCall>(shared, view, state, group, now,
                                                                 renew_units, values, stride);
    if constexpr (!settled<InOneCall>) {
      // An entry set since the time was read may seem to lie in the past or too far ahead: so the
      // time is loaded once more, after all buckets were compared. And of a pipeline, the table's
      // one thread may have changed it between two steps.
      bool changed = Expiry::timed && Sync::load(view.now) != group.now;
      if constexpr (!Sync::concurrent) changed |= *view.moves != group.moves;
      if (changed) [[unlikely]]
        unsure = all_of(group.n);
    }
    if (group.n_seconds != 0) {
      store_relaxed(&state.second_looks, state.second_looks + group.n_seconds);
    }
    return unsure & ~group.hits;
  }
};

}  // namespace
}  // namespace coua::simd
