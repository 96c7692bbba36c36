// SPDX-License-Identifier: Apache-2.0
//
// The slots of a FIB: what is in one, how it is read and written as one word or two, and the key
// that it stands for. Which slot a key gets, and why readers may look meanwhile: fib_table.h.
#pragma once

#include <utility>

#include "base/atomic_word.h"
#include "base/cpu.h"
#include "base/prefetch.h"
#include "table/fib.h"
#include "table/fib_sync.h"
#include "table/path_search.h"

namespace coua {

template <class Layout, class Sync>
class fib_slots : public fib {
 public:
  static constexpr unsigned n_slots = Layout::n_slots;
  static constexpr bool is_wide = Layout::wide;

 protected:
  fib_slots(const fib_geometry& geometry, arena memory, arena stamps, const key_permutation& keys) {
    geometry_ = geometry;
    memory_ = std::move(memory);
    stamps_ = std::move(stamps);
    shared_ = std::make_unique<shared_words>();
    const unsigned w = geometry.tag_bits;
    sync_ = {static_cast<std::uint64_t*>(stamps_.data()),
             stamps_.bytes() / sizeof(std::uint64_t) - 1, &shared_->clock};
    view_.words = static_cast<std::uint64_t*>(memory_.data());
    view_.stamps = sync_.stamps;
    view_.stripe_mask = sync_.stripe_mask;
    view_.clock = &shared_->clock;
    view_.epoch = &shared_->epoch;
    view_.n_buckets = geometry.n_buckets;
    view_.permutation = keys;
    view_.tag_shift = key_permutation::key_bits - w;
    view_.occupied = std::uint64_t{1} << (63 - w);
    view_.guest = std::uint64_t{1} << (62 - w);
    view_.match_mask = ~(view_.guest - 1);
    view_.entry_mask = (std::uint32_t{1} << (geometry.value_bits + simd::fib_value_shift)) - 1;
    kernels_ =
        &simd::select_fib_kernels(geometry.layout, active_isa(), distance_of(geometry.bytes()));
  }

  // Slots.
  // -----------------------------------------------------------------------------------------

  std::uint64_t* tags(std::uint64_t bucket) const { return view_.words + bucket * Layout::n_words; }

  std::uint32_t load_entry(slot_position at) const {
    if constexpr (Layout::wide) {
      return static_cast<std::uint32_t>(load_acquire(tags(at.bucket) + n_slots + at.slot));
    } else {
      return static_cast<std::uint32_t>(load_acquire(tags(at.bucket) + at.slot)) & view_.entry_mask;
    }
  }
  /// Replaces the entry of an occupied slot.
  void store_entry(slot_position at, std::uint32_t entry) {
    std::uint64_t* word = tags(at.bucket) + at.slot;
    if constexpr (Layout::wide) {
      store_release(word + n_slots, std::uint64_t{entry});
    } else {
      store_release(word, (load_relaxed(word) & view_.match_mask) | entry);
    }
  }
  /// Fills an empty slot. With Shared, threads of a bulk load fill slots at the same time: false
  /// when another was faster.
  template <bool Shared>
  bool put(slot_position at, std::uint64_t want, std::uint32_t entry) {
    std::uint64_t* word = tags(at.bucket) + at.slot;
    if constexpr (Layout::wide) {
      static_assert(!Shared || !Layout::wide);
      Sync::reuse(sync_, at.bucket);
      store_release(word + n_slots, std::uint64_t{entry});
      store_release(word, want);
    } else if constexpr (Shared) {
      return exchange_if(word, std::uint64_t{0}, want | entry);
    } else {
      store_release(word, want | entry);
    }
    return true;
  }
  void clear(slot_position at) { store_release(tags(at.bucket) + at.slot, std::uint64_t{0}); }

  /// Leaves `next` in the slot, or clears it, if its entry still is `entry`: a reader may be
  /// refreshing it.
  bool kill(slot_position at, std::uint32_t entry, [[maybe_unused]] std::uint64_t next = 0) {
    std::uint64_t* word = tags(at.bucket) + at.slot;
    if constexpr (Layout::wide) {
      if (!exchange_if(word + n_slots, std::uint64_t{entry}, std::uint64_t{simd::fib_miss})) {
        return false;
      }
      clear(at);
      return true;
    } else {
      const std::uint64_t tag = load_relaxed(word) & view_.match_mask;
      return exchange_if(word, tag | entry, next);
    }
  }
  /// Replaces the entry `old`, unless a reader has refreshed it.
  void replace_if(slot_position at, std::uint32_t old, std::uint32_t entry) {
    std::uint64_t* word = tags(at.bucket) + at.slot;
    if constexpr (Layout::wide) {
      exchange_if(word + n_slots, std::uint64_t{old}, std::uint64_t{entry});
    } else {
      const std::uint64_t tag = load_relaxed(word) & view_.match_mask;
      exchange_if(word, tag | old, tag | entry);
    }
  }

  std::uint32_t make_entry(const coua_fib_record& record) const {
    return record.value << simd::fib_value_shift |
           (record.is_static ? simd::fib_static : shared_->epoch);
  }
  std::uint32_t age_of(std::uint32_t entry) const {
    return (entry & simd::fib_static) != 0 ? 0 : (shared_->epoch - entry) & simd::fib_age_mask;
  }
  coua_fib_record make_record(std::uint64_t key, std::uint32_t entry) const {
    coua_fib_record record{};
    record.key = key;
    record.value = entry >> simd::fib_value_shift;
    record.is_static = (entry & simd::fib_static) != 0;
    record.age = static_cast<std::uint8_t>(age_of(entry));
    return record;
  }
  bool valid(const coua_fib_record& record) const {
    return valid_key(record.key) && record.value >> geometry_.value_bits == 0 &&
           record.is_static <= 1 && record.reserved == 0;
  }

  // From slots back to keys.
  // -------------------------------------------------------------------------

  /// First value of a bucket's interval of [0, 2^60).
  std::uint64_t interval_base(std::uint64_t bucket) const {
    const auto scaled = static_cast<unsigned __int128>(bucket) << key_permutation::key_bits;
    return static_cast<std::uint64_t>((scaled + geometry_.n_buckets - 1) / geometry_.n_buckets);
  }
  /// The permuted key (top 60 bits) whose low bits a slot word holds.
  std::uint64_t permuted_at(std::uint64_t base, std::uint64_t word) const {
    const unsigned w = geometry_.tag_bits;
    const std::uint64_t low = word >> (64 - w);
    return (base + ((low - base) & ((std::uint64_t{1} << w) - 1))) << 4;
  }
  bool is_guest(std::uint64_t word) const { return (word & view_.guest) != 0; }
  std::uint64_t other(std::uint64_t word, std::uint64_t permuted) const {
    return is_guest(word) ? view_.permutation.p_of_q(permuted) : view_.permutation.q_of_p(permuted);
  }
  std::uint64_t key_at(std::uint64_t base, std::uint64_t word) const {
    const std::uint64_t permuted = permuted_at(base, word);
    return view_.permutation.key_of_p(is_guest(word) ? view_.permutation.p_of_q(permuted)
                                                     : permuted);
  }

  std::size_t read_bucket(std::uint64_t bucket, coua_fib_record* records) const override {
    std::size_t n = 0;
    std::uint64_t base = 0;
    for (unsigned slot = 0; slot < n_slots; ++slot) {
      const std::uint64_t word = load_acquire(tags(bucket) + slot);
      if (word == 0) continue;
      if (n == 0) base = interval_base(bucket);
      records[n++] = make_record(key_at(base, word), load_entry({bucket, slot}));
    }
    return n;
  }

  // Of one bucket.
  // ---------------------------------------------------------------------------------------------

  /// The slot with this tag; -1: none. Acquire, for the threads of a bulk load, which read while
  /// others move.
  int find_slot(std::uint64_t bucket, std::uint64_t want) const {
    const std::uint64_t* words = tags(bucket);
    std::uint32_t found = 0;
    for (unsigned i = 0; i < n_slots; ++i) {
      found |= std::uint32_t{((load_acquire(words + i) ^ want) & view_.match_mask) == 0} << i;
    }
    return found == 0 ? -1 : __builtin_ctz(found);
  }

  int free_slot(std::uint64_t bucket) const {
    const std::uint64_t* words = tags(bucket);
    std::uint32_t free = 0;
#pragma GCC unroll 8
    for (unsigned i = 0; i < n_slots; ++i) free |= std::uint32_t{load_relaxed(words + i) == 0} << i;
    return free == 0 ? -1 : __builtin_ctz(free);
  }

  void fetch_bucket(std::uint64_t bucket) const { prefetch_to_write(tags(bucket)); }

  /// Calls `act` with slot and primary bucket of each guest.
  template <typename Act>
  void for_each_guest(std::uint64_t bucket, Act act) {
    for (unsigned slot = 0; slot < n_slots; ++slot) {
      const std::uint64_t word = load_relaxed(tags(bucket) + slot);
      if (!is_guest(word)) continue;
      const std::uint64_t q = permuted_at(interval_base(bucket), word);
      act(slot, view_.bucket(view_.permutation.p_of_q(q)));
    }
  }
  sync_words sync_{};

 private:
  /// Near: all but a fifth of it at most lies in the second-level cache.
  static simd::distance distance_of(std::uint64_t bytes) {
    const std::uint64_t most = second_level_cache_bytes() + second_level_cache_bytes() / 4;
    return bytes <= most ? simd::distance::near : simd::distance::far;
  }
};

}  // namespace coua
