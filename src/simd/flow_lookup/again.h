// SPDX-License-Identifier: Apache-2.0
//
// One key at a time: takes the entry that a tag nominated, and looks a key up anew when its answer
// does not stand. Called for each hit of a batch, and for the few keys under which something
// changed.
#pragma once

#include <algorithm>

#include "simd/flow_lookup/entries.h"
#include "simd/flow_lookup/kernels.h"
#include "simd/flow_lookup/policies.h"

namespace coua::simd {
namespace {

/// Loads that a compiler must not let slip behind the loads that follow.
[[gnu::always_inline]] inline void keep_order() noexcept { __asm__ volatile("" ::: "memory"); }

/// What was loaded before is not loaded after what follows.
#if defined(__SANITIZE_THREAD__)  // which knows no fences
inline constexpr bool has_fences = false;
[[gnu::always_inline]] inline void acquire_loads() noexcept {}
#else
inline constexpr bool has_fences = true;
[[gnu::always_inline]] inline void acquire_loads() noexcept {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
}
#endif

template <prune_policy Prune, expiry_policy Expiry, sync_policy Sync, class Shape, class Match>
struct flow_again : flow_entries<Shape> {
  using entries = flow_entries<Shape>;
  using entries::entry, entries::key_words, entries::put_value, entries::value_words;

  [[gnu::always_inline]] static const flow_line& line_of(const flow_view& view,
                                                         std::uint64_t bucket) noexcept {
    return view.lines[bucket];
  }
  /// The entry of the first nominated slot; some entry where there is none.
  [[gnu::always_inline]] static std::uint64_t first_of(std::uint64_t bucket,
                                                       std::uint32_t nominated) noexcept {
    constexpr std::uint32_t any = 1u << (flow_line::n_slots - 1);
    return bucket * flow_line::n_slots + static_cast<unsigned>(__builtin_ctz(nominated | any));
  }

  /// What was nominated for a key.
  struct nominee {
    std::uint64_t where;  // number of the entry
    std::uint64_t seen;   // its bucket's meta, before the tags were read
    std::uint64_t now;    // the time, after that
  };

  /// Compares the key of an entry and copies its value to `value`. True when it is the key's,
  /// visible, and of one piece. `Settled`: the table cannot have changed since its tag was found,
  /// so only the key decides. Else the pair must not be 0; its tag need not be looked at again:
  /// with the version unchanged, key and pair are of one fill. `ValueBytes`: of a value that is
  /// wanted, where they are known; 0: they are not.
  template <bool Settled, unsigned ValueBytes = 0>
  [[gnu::always_inline]] static bool take(const flow_view& view, const std::uint64_t* key,
                                          const nominee& at, std::uint32_t renew_units,
                                          std::uint8_t* value) noexcept {
    const auto put = [&](const std::uint64_t* words) __attribute__((always_inline)) {
      if constexpr (ValueBytes != 0) {
        std::memcpy(value, words, ValueBytes);
      } else {
        put_value(view, words, value);
      }
    };
    const flow_line& line = line_of(view, at.where / flow_line::n_slots);
    const std::uint32_t* slot = line.pairs + at.where % flow_line::n_slots;
    const std::uint64_t* words = entry(view, at.where);
    const std::uint64_t* stored = words + key_words(view);
    std::uint32_t pair = 0;
    std::uint64_t differs = 0;
    if constexpr (!Settled) {
      pair = Sync::load(slot);
      if (pair == 0) [[unlikely]]
        return false;
    }
    for (unsigned w = 0; w < key_words(view); ++w) differs |= Sync::load(words + w) ^ key[w];
    if constexpr (Settled) {
      if (differs != 0) return false;
      put(stored);
    } else if constexpr (Sync::concurrent) {
      std::uint64_t copy[max_value_words];
      for (unsigned w = 0; w < value_words(view); ++w) copy[w] = Sync::load(stored + w);
      const bool same = same_version(at.seen, Sync::load(&line.meta));
      if (differs != 0 || !same || !Expiry::visible(pair, at.now)) return false;
      put(copy);
    } else {
      if (differs != 0 || !Expiry::visible(pair, at.now)) return false;
      put(stored);
    }
    if constexpr (Expiry::timed) {
      if (renew_units == 0) return true;
      renew(view, const_cast<std::uint32_t*>(slot), Settled ? *slot : pair, renew_units);
    }
    return true;
  }

  /// Sets a timer, if that changes it by a sixteenth or more. Fails when the slot changed since.
  /// The time is loaded after the pair: a reader that slept between an older time and the pair
  /// would set back a timer that others have renewed meanwhile.
  [[gnu::always_inline]] static void renew(const flow_view& view, std::uint32_t* slot,
                                           std::uint32_t pair, std::uint32_t units) noexcept {
    const std::uint64_t now = Sync::load(view.now);
    const std::uint32_t left = units_left(pair, now);
    if (left == 0) return;  // it has expired since it was found
    const std::uint32_t change = left > units ? left - units : units - left;
    if (change < std::max(1u, units / 16)) return;
    const std::uint32_t renewed = (pair & 0xffff) | static_cast<std::uint32_t>(now + units) << 16;
    if constexpr (Sync::concurrent) {
      exchange_if(slot, pair, renewed);
    } else {
      *slot = renewed;
    }
  }

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
      const nominee at = {first_of(bucket, nominated), meta, now};
      if (take<false>(view, key, at, renew_units, value)) return answer::hit;
    }
    if constexpr (Sync::concurrent) {
      if (!same_version(meta, Sync::load(&line.meta))) return answer::changed;
    }
    return answer::miss;
  }

  /// `second_looks`, where it is there, counts the second buckets.
  static answer attempt(const flow_view& view, const std::uint64_t* key, std::uint64_t hash,
                        std::uint32_t renew_units, std::uint8_t* value,
                        std::uint64_t* second_looks = nullptr) noexcept {
    const fingerprint print = fingerprint_of(hash);
    const std::uint64_t home = home_bucket(hash, view.n_buckets);
    const flow_line& line = line_of(view, home);
    const std::uint64_t now = Expiry::timed ? Sync::load(view.now) : 0;
    const std::uint64_t meta = Sync::load(&line.meta);
    answer found = search(view, key, print, home, now, renew_units, value);
    if (found == answer::miss) {
      const unsigned via = Prune::via(Sync::load(&line.filter), Prune::trace(print));
      if (via != 0) {
        if (second_looks != nullptr) store_relaxed(second_looks, *second_looks + 1);
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
  /// completed a step in its buckets: there is nothing to wait for. Adds to the group's hits.
  [[gnu::noinline]] static void look_up_each(const flow_view& view, flow_reader_state& state,
                                             flow_group& group, std::uint32_t which,
                                             std::uint32_t renew_units, std::uint8_t* values,
                                             std::size_t stride) noexcept {
    while (which != 0) {
      std::uint32_t left = 0;
      for (; which != 0; which &= which - 1) {
        const auto i = static_cast<unsigned>(__builtin_ctz(which));
        const answer found =
            attempt(view, group.keys + i * key_words(view), group.hashes[i], renew_units,
                    values != nullptr ? values + i * stride : nullptr, &state.second_looks);
        group.hits |= std::uint32_t{found == answer::hit} << i;
        left |= std::uint32_t{found == answer::changed} << i;
      }
      if (left != 0) [[unlikely]]
        count_retries(state, left);
      which = left;
    }
  }
  static void count_retries(flow_reader_state& state, std::uint32_t of) noexcept {
    store_relaxed(&state.retries, state.retries + static_cast<unsigned>(__builtin_popcount(of)));
  }
};

}  // namespace
}  // namespace coua::simd
