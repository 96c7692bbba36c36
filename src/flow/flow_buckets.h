// SPDX-License-Identifier: Apache-2.0
//
// Buckets, entries and filters of the flow table, and the few ways to change them: an entry comes
// (fill), moves (move), or is cleared by who knows why (leave tells the filter).
//
// Filters (Cuckoo++, section 4.1; Horton tables). The filter of a bucket stands for the entries
// whose primary bucket it is and that sit elsewhere: guests. A guest's slot says by which function
// it came (`via`), so its primary bucket is known from its own line at any time; `moved` is the
// exact number of such guests, and when it falls to 0 the filter is emptied. An insert, a move, an
// erase and an expiry all go through fill() and leave(), the only places that count: so a present
// key is never missed. (The filter must not be emptied by whoever erases from the primary bucket,
// and must be told of guests that moves bring home or path searches push out.) `moved` saturates at
// 255 and then stays; the sweep builds filter and count anew (filter_repair.h).
//
// Concurrency. Every word that readers see is loaded with acquire and stored with release, so who
// sees one store sees all before it.
//
//   fill     version of the bucket + 1; key and value; filter of the primary; then the pair
//   move     fill at the new place; version of the primary + 1; then clear the old pair;
//            a guest that came home leaves the filter last
//   A hit is of one piece. The reader loads the version, then the pair, key and value, and the
//     version again. If any word was of a later fill, then the second load sees that fill's
//     version. If the pair was of a later fill than key and value: it was not, since the pair comes
//     last.
//   A miss stands if the version of the primary is the same before and after. Every move of an
//     entry adds to the version of its primary between copy and clear. Let the reader's first load
//     of it show the n-th move: then it sees the entry where move n put it, or it sees a later
//     clear. In the latter case it sees a later version too, and looks again. This holds for misses
//     that the filter decided: the bits are set before move n's version, and taken out only after
//     the entry came home by a later move, or left.
//   A move within a path, home, or of an update is the same move. There is no odd state to wait
//     for: a writer that loses its processor stalls nobody. A value of up to 8 bytes is updated in
//     place, by one store; a wider one is put into another free slot, and the old one cleared: a
//     move. Where no free slot can be made, the update is refused.
//   Readers renew timers by compare-exchange of the pair, to a time that they load after it: so an
//     exchange that succeeds never sets back what another reader renewed. A slot that expires or
//     moves is cleared by compare-exchange too; if a reader was faster, an expired entry lives on,
//     and a moved one has the later of the times at its old and its new place.
//
// Limits: 2^32 buckets; version of 32 bits (a reader that sleeps within one look-up while its
// bucket is filled exactly 2^32 times may err).
#pragma once

#include "base/check.h"
#include "base/cpu.h"
#include "base/prefetch.h"
#include "flow/bucket_slots.h"
#include "flow/filter_repair.h"
#include "flow/flow_counts.h"
#include "flow/flow_cursor.h"
#include "flow/flow_table.h"
#include "simd/flow_lookup/policies.h"
#include "table/path_search.h"

namespace coua {

template <simd::prune_policy Prune, simd::expiry_policy Expiry, simd::sync_policy Sync>
class flow_buckets : public flow_table {
 public:
  // What placing needs.

  static constexpr unsigned n_slots = simd::flow_line::n_slots;
  static constexpr unsigned n_others = n_slots * Prune::n_functions;

  void fetch_bucket(std::uint64_t bucket) const { prefetch_to_write(&line_at(bucket)); }

  void other_buckets(std::uint64_t bucket, std::uint64_t* others) const {
    std::fill_n(others, n_others, bucket);
    for (unsigned slot = 0; slot < geometry_.n_slots; ++slot) {
      const slot_position at{bucket, slot};
      const simd::fingerprint print = print_at(at);
      if (const unsigned via = via_at(at); via != 0) {
        others[slot] = Prune::other(bucket, print, via, geometry_.n_buckets);
        continue;
      }
      const unsigned bound = bound_via(bucket, print);
      for (unsigned i = 0; i < Prune::n_functions; ++i) {
        if (bound != 0 && bound != i + 1) continue;
        others[i * n_slots + slot] = Prune::other(bucket, print, i + 1, geometry_.n_buckets);
      }
    }
  }

  std::uint32_t guests(std::uint64_t bucket, std::uint64_t* homes) const {
    const simd::flow_line& line = line_at(bucket);
    constexpr std::uint64_t all_vias = (std::uint64_t{1} << 3 * n_slots) - 1;
    const std::uint64_t vias = load_relaxed(&line.meta) >> simd::flow_via_shift & all_vias;
    if (vias == 0) return 0;
    std::uint32_t guests = ~bucket_slots::empty(line) & usable_slots();
    for (std::uint32_t left = guests; left != 0; left &= left - 1) {
      const auto slot = static_cast<unsigned>(__builtin_ctz(left));
      const unsigned via = vias >> 3 * slot & 7;
      if (via == 0) {
        guests &= ~(1u << slot);
        continue;
      }
      homes[slot] = Prune::other(bucket, print_at({bucket, slot}), via, geometry_.n_buckets);
      fetch_bucket(homes[slot]);
    }
    return guests;
  }

  /// Copies an entry to another of its buckets, then clears it here.
  bool move(slot_position from, slot_position to, bool by_sweep = false) {
    const simd::fingerprint print = print_at(from);
    const std::uint64_t home = home_of(from);
    const unsigned via = via_to(home, print, to.bucket);
    if (via == n_none) return false;
    const unsigned old_via = via_at(from);
    std::uint32_t pair = load_relaxed(pair_at(from));
    const std::uint64_t* words = entry_at(from);
    fill(to, via, print, pair, words, words + n_key_words_);
    next_version(home);
    if constexpr (Sync::concurrent && Expiry::timed) {
      // A reader may have renewed the timer since it was copied.
      while (!exchange_if(pair_at(from), pair, std::uint32_t{0})) {
        pair = load_relaxed(pair_at(from));
        prolong(to, pair);
      }
    } else {
      Sync::store(pair_at(from), std::uint32_t{0});
    }
    if (old_via != 0) leave(home, from.bucket);
    ++shared_->moves;
    counts_.move(by_sweep);
    counts_.change_place(old_via != 0, via != 0);
    if (!cursors_.empty()) tell_move(words, from.bucket, to.bucket);
    return true;
  }

 protected:
  flow_buckets(const flow_geometry& geometry, const keyed_hash& hash, flow_memory memory,
               std::uint64_t now_ms)
      : flow_table(geometry),
        repair_(geometry.n_buckets, geometry.filter_window(), std::move(memory.filters)) {
    hash_ = hash;
    lines_ = std::move(memory.lines);
    entries_ = std::move(memory.entries);
    n_key_words_ = geometry.key_words();
    n_value_words_ = geometry.value_words();
    shared_->now_ms = now_ms;
    shared_->now = now_ms / geometry.unit_ms;
    view_.lines = static_cast<const simd::flow_line*>(lines_.data());
    view_.entries = static_cast<const std::uint64_t*>(entries_.data());
    view_.hash = &hash_;
    view_.now = &shared_->now;
    view_.moves = &shared_->moves;
    view_.n_buckets = geometry.n_buckets;
    view_.is_small =
        geometry.line_bytes() + geometry.entry_bytes() <= second_level_cache_bytes() / 2;
    view_.entry_words = n_key_words_ + n_value_words_;
    view_.key_words = n_key_words_;
    view_.value_words = n_value_words_;
    view_.key_bytes = geometry.key_bytes;
    view_.value_bytes = geometry.value_bytes;
    view_.key_stride = geometry.key_stride;
    view_.value_stride = geometry.value_stride;
    kernels_ =
        &simd::select_flow_kernels(geometry.kind, n_key_words_, geometry.value_bytes, active_isa());
  }

  // Slots.

  simd::flow_line& line_at(std::uint64_t bucket) const {
    return const_cast<simd::flow_line&>(view_.lines[bucket]);
  }
  std::uint32_t* pair_at(slot_position at) const { return line_at(at.bucket).pairs + at.slot; }
  std::uint64_t* entry_at(slot_position at) const {
    return const_cast<std::uint64_t*>(view_.entries) +
           (at.bucket * n_slots + at.slot) * view_.entry_words;
  }
  simd::fingerprint print_at(slot_position at) const {
    return simd::fingerprint_of(load_relaxed(pair_at(at)), line_at(at.bucket).more[at.slot]);
  }
  unsigned via_at(slot_position at) const {
    return load_relaxed(&line_at(at.bucket).meta) >> (simd::flow_via_shift + 3 * at.slot) & 7;
  }
  std::uint64_t home_of(slot_position at) const {
    const unsigned via = via_at(at);
    return via == 0 ? at.bucket : Prune::other(at.bucket, print_at(at), via, geometry_.n_buckets);
  }
  std::uint32_t usable_slots() const { return (1u << geometry_.n_slots) - 1; }
  std::uint64_t now() const { return shared_->now; }
  bool visible(std::uint32_t pair) const { return Expiry::visible(pair, now()); }
  bool valid_units(std::uint32_t units) const {
    return Expiry::timed ? units - 1 < COUA_FLOW_UNITS_MAX : units == 0;
  }
  std::uint32_t pair_of(simd::fingerprint print, std::uint32_t units) const {
    if constexpr (!Expiry::timed) return simd::tag_of(print);
    return simd::tag_of(print) | static_cast<std::uint32_t>(now() + units) << 16;
  }
  /// The function that the filter binds this fingerprint to; 0: any.
  unsigned bound_via(std::uint64_t home, simd::fingerprint print) const {
    if constexpr (Prune::n_functions == 1) return 1;
    return Prune::via(load_relaxed(&line_at(home).filter), Prune::trace(print));
  }

  void next_version(std::uint64_t bucket) {
    if constexpr (Sync::concurrent) {
      std::uint64_t* meta = &line_at(bucket).meta;
      Sync::store(meta, *meta + (std::uint64_t{1} << simd::flow_version_shift));
    }
  }

  /// Fills a free slot. `via` 0: the entry is at home there.
  void fill(slot_position at, unsigned via, simd::fingerprint print, std::uint32_t pair,
            const std::uint64_t* key, const std::uint64_t* value) {
    fill_by(at, via, print, pair, key, [value](unsigned w) { return Sync::load(value + w); });
  }
  /// `value(w)` is word w of the value.
  template <typename Value>
  [[gnu::always_inline]] void fill_by(slot_position at, unsigned via, simd::fingerprint print,
                                      std::uint32_t pair, const std::uint64_t* key, Value value) {
    simd::flow_line& line = line_at(at.bucket);
    const unsigned shift = simd::flow_via_shift + 3 * at.slot;
    const std::uint64_t meta = (line.meta & ~(std::uint64_t{7} << shift)) | std::uint64_t{via}
                                                                                << shift;
    Sync::store(&line.meta, meta + (std::uint64_t{1} << simd::flow_version_shift));
    std::uint64_t* words = entry_at(at);
    const auto key_word = [key](unsigned w) { return Sync::load(key + w); };
    store_words(words, n_key_words_, key_word);
    store_words(words + n_key_words_, n_value_words_, value);
    line.more[at.slot] = static_cast<std::uint16_t>(print >> 16);
    if (via != 0) {
      const std::uint64_t home = Prune::other(at.bucket, print, via, geometry_.n_buckets);
      note_guest(home, print, via, at.bucket);
    }
    Sync::store(pair_at(at), pair);
  }

  /// Two words, the most frequent width, without a loop.
  template <typename Word>
  [[gnu::always_inline]] static void store_words(std::uint64_t* words, unsigned n, Word word) {
    if (n == 2) {
      Sync::store(words, word(0));
      Sync::store(words + 1, word(1));
    } else {
      for (unsigned w = 0; w < n; ++w) Sync::store(words + w, word(w));
    }
  }

  /// The function that leads from the primary bucket to `bucket`: 0 where it is the same, n_none
  /// where none may.
  static constexpr unsigned n_none = 8;
  unsigned via_to(std::uint64_t home, simd::fingerprint print, std::uint64_t bucket) const {
    if (bucket == home) return 0;
    const unsigned bound = bound_via(home, print);
    for (unsigned via = 1; via <= Prune::n_functions; ++via) {
      if (bound != 0 && bound != via) continue;
      if (Prune::other(home, print, via, geometry_.n_buckets) == bucket) return via;
    }
    return n_none;
  }

  // Filters.

  void note_guest(std::uint64_t home, simd::fingerprint print, unsigned via, std::uint64_t bucket) {
    if constexpr (Prune::filters) {
      simd::flow_line& line = line_at(home);
      Sync::store(&line.filter, Prune::with(line.filter, print, via));
      if ((line.meta & moved_max) != moved_max) Sync::store(&line.meta, line.meta + 1);
      repair_.note(home, bucket, sweep_position_, print, via);
    }
  }
  /// The guest was cleared from `bucket`.
  void leave(std::uint64_t home, std::uint64_t bucket) {
    if constexpr (Prune::filters) {
      simd::flow_line& line = line_at(home);
      repair_.forget(home, bucket, sweep_position_);
      if ((line.meta & moved_max) == moved_max) return;
      COUA_ASSERT((line.meta & moved_max) != 0);
      Sync::store(&line.meta, line.meta - 1);
      if ((line.meta & moved_max) != 0) return;
      Sync::store(&line.filter, std::uint64_t{0});
      repair_.empty(home);
    }
  }

  /// Clears the old slot of an entry that is at `new_bucket` by now.
  void retire(slot_position old, std::uint64_t home, const std::uint64_t* key,
              std::uint64_t new_bucket) {
    const bool was_guest = via_at(old) != 0;
    Sync::store(pair_at(old), std::uint32_t{0});
    if (was_guest) leave(home, old.bucket);
    if (!cursors_.empty()) tell_move(key, old.bucket, new_bucket);
  }
  /// Gives an entry the time of `pair`, unless it has a later one: another reader may have renewed
  /// it at its new place already.
  void prolong(slot_position at, std::uint32_t pair) {
    std::uint32_t there = load_relaxed(pair_at(at));
    while (simd::units_left(pair, now()) > simd::units_left(there, now()) &&
           !exchange_if(pair_at(at), there, pair)) {
      there = load_relaxed(pair_at(at));
    }
  }

  [[gnu::noinline]] void tell_move(const std::uint64_t* key, std::uint64_t from, std::uint64_t to) {
    for (flow_cursor* cursor : cursors_) cursor->on_move(key, from, to);
  }
  [[gnu::noinline]] void tell_leave(const std::uint64_t* key) {
    for (flow_cursor* cursor : cursors_) cursor->on_leave(key);
  }

  static constexpr unsigned moved_max = 255;

  filter_repair<Prune> repair_;
  flow_counts counts_;
  std::uint64_t sweep_position_ = 0;  // the bucket that the sweep looks at next
  std::uint32_t n_key_words_ = 0;
  std::uint32_t n_value_words_ = 0;
};

}  // namespace coua
