// SPDX-License-Identifier: Apache-2.0
//
// The flow table: Cuckoo++ and the variants that it is compared with, one writer, lock-free
// readers or none.
//
//   bucket b     one line: tags, timers, filter, version        simd/flow_lookup/line.h
//   slot s       entry 8 b + s: key and value, in words          an array beside the lines
//   placement    table/placement.h
//   look-up      simd/flow_lookup/steps.h
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
//     and a moved one takes its new timer along.
//
// Timers are expiry times in units, modulo 2^16, of at most 1,024 units ahead. A time that is past
// reads as such for 64,512 units, so every bucket must be looked at more often: the sweep goes
// round within 32,000 units (an entry that a move carries behind it is looked at by that move).
// Each insert and erase looks at one bucket, the time itself at 1 / 8,192 of the table a unit; if
// that was not enough, the whole table is looked at before the time goes on.
//
// A ring that tells the owner of expiries (expired_ring.h) may be full. Then what expired keeps its
// slot, and the key cannot come again; `held_since_` is the time when that first happened. It ends
// with a sweep, or a scan, that held nothing. An entry may have expired a whole distance between
// two looks at its bucket before it is held, which is two rounds of the sweep: with a ring these
// are half as long. So 32,000 units for two rounds and 32,000 for being held stay below 64,512; a
// scan that then finds the ring full stops the time.
//
// Limits: 2^32 buckets; version of 32 bits (a reader that sleeps within one look-up while its
// bucket is filled exactly 2^32 times may err).
#pragma once

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/prefetch.h"
#include "flow/bucket_slots.h"
#include "flow/expired_ring.h"
#include "flow/filter_repair.h"
#include "flow/flow_counts.h"
#include "flow/flow_cursor.h"
#include "flow/flow_table.h"
#include "simd/flow_lookup/key_words.h"
#include "simd/flow_lookup/policies.h"
#include "table/placement.h"

namespace coua {

template <simd::prune_policy Prune, simd::expiry_policy Expiry, simd::sync_policy Sync>
class flow_cuckoo final : public flow_table {
 public:
  flow_cuckoo(const flow_geometry& geometry, const keyed_hash& hash, arena lines, arena entries,
              std::uint64_t now_ms)
      : flow_table(geometry),
        search_(geometry.search_budget),
        repair_(Prune::filters ? geometry.n_buckets : 0) {
    hash_ = hash;
    lines_ = std::move(lines);
    entries_ = std::move(entries);
    n_key_words_ = geometry.key_words();
    n_value_words_ = geometry.value_words();
    shared_->now_ms = now_ms;
    shared_->now = sweep_started_ = now_ms / geometry.unit_ms;
    view_.lines = static_cast<const simd::flow_line*>(lines_.data());
    view_.entries = static_cast<const std::uint64_t*>(entries_.data());
    view_.hash = &hash_;
    view_.now = &shared_->now;
    view_.moves = &shared_->moves;
    view_.n_buckets = geometry.n_buckets;
    view_.entry_words = n_key_words_ + n_value_words_;
    view_.key_words = n_key_words_;
    view_.value_words = n_value_words_;
    view_.key_bytes = geometry.key_bytes;
    view_.value_bytes = geometry.value_bytes;
    view_.key_stride = geometry.key_stride;
    view_.value_stride = geometry.value_stride;
    if (geometry.expired_ring != 0) {
      ring_ = std::make_unique<expired_ring>(geometry.expired_ring, view_.entry_words);
    }
    kernels_ =
        &simd::select_flow_kernels(geometry.kind, n_key_words_, geometry.value_bytes, active_isa());
  }

  int put(put_mode mode, bytes_in key, std::uint8_t* value, std::uint32_t units) override {
    if (!valid_units(units)) return -EINVAL;
    wanted_key wanted;
    take_key(key, wanted);
    return put_key(mode, wanted, value, units);
  }

  std::size_t put_batch(put_mode mode, bytes_in keys, const std::uint64_t* hashes,
                        std::uint8_t* values, std::size_t n, std::uint32_t units,
                        std::int8_t* results) override {
    std::size_t n_there = 0;
    const bool valid = valid_units(units);
    if (!valid && results != nullptr) std::fill_n(results, n, static_cast<std::int8_t>(-EINVAL));
    if (!valid) return 0;
    each_fetched(keys, hashes, n, [&](std::size_t i, const wanted_key& wanted) {
      std::uint8_t* one = values != nullptr ? values + i * geometry_.value_stride : nullptr;
      const int done = put_key(mode, wanted, one, units);
      n_there += done != COUA_FLOW_FULL;
      if (results != nullptr) results[i] = static_cast<std::int8_t>(done);
    });
    return n_there;
  }

  bool erase(bytes_in key, std::uint8_t* value) override {
    wanted_key wanted;
    take_key(key, wanted);
    return erase_key(wanted, value);
  }

  std::size_t erase_batch(bytes_in keys, const std::uint64_t* hashes, std::size_t n) override {
    std::size_t n_erased = 0;
    each_fetched(keys, hashes, n, [&](std::size_t, const wanted_key& wanted) {
      n_erased += erase_key(wanted, nullptr);
    });
    return n_erased;
  }

  int refresh(bytes_in key, std::uint32_t units) override {
    if (!valid_units(units)) return -EINVAL;
    wanted_key wanted;
    take_key(key, wanted);
    slot_position at;
    if (locate(wanted, at) != presence::there) return -ENOENT;
    set_timer(at, units);
    return 0;
  }

  int set_time(std::uint64_t now_ms) override {
    if (now_ms < shared_->now_ms) return -EINVAL;
    const std::uint64_t now = now_ms / geometry_.unit_ms;
    const std::uint64_t passed = now - shared_->now;
    if (!Expiry::timed || passed == 0) {
      store_relaxed(&shared_->now_ms, now_ms);
      store_release(&shared_->now, now);
      return 0;
    }
    const bool is_late = now - sweep_started_ > max_round_units() ||
                         (held_since_ != never && now - held_since_ > max_held_units);
    if (is_late && !scan(passed, now)) return -EAGAIN;
    store_relaxed(&shared_->now_ms, now_ms);
    // Release, with the acquire of the look-up kernels: who sees an entry set at this time, and
    // then loads the time again, sees this time.
    store_release(&shared_->now, now);
    const std::uint64_t per_unit = geometry_.n_buckets / 8192 + 1;
    sweep(std::min(passed, max_time_share / per_unit + 1) * per_unit);
    return 0;
  }

  bool sweep(std::uint64_t n_buckets) override {
    const std::uint64_t n = std::min(n_buckets, geometry_.n_buckets - sweep_position_);
    for (std::uint64_t i = 0; i < n; ++i) sweep_one();
    if (sweep_position_ < geometry_.n_buckets) return false;
    end_sweep();
    return true;
  }

  // What placing needs.

  static constexpr unsigned n_slots = simd::flow_line::n_slots;
  static constexpr unsigned n_others = n_slots * Prune::n_functions;

  /// Expired entries are removed: their slots are as good as free.
  int free_slot(std::uint64_t bucket) {
    const simd::flow_line& line = line_at(bucket);
    std::uint32_t free = bucket_slots::empty(line) & usable_slots();
    if constexpr (Expiry::timed) {
      std::uint32_t over = bucket_slots::invisible(line, now()) & ~free & usable_slots();
      for (; over != 0; over &= over - 1) {
        const auto slot = static_cast<unsigned>(__builtin_ctz(over));
        const std::uint32_t pair = load_relaxed(pair_at({bucket, slot}));
        if (visible(pair)) continue;
        const bool is_gone = reap({bucket, slot}, pair) == reaped::gone;
        free |= std::uint32_t{is_gone} << slot;
      }
    }
    return free == 0 ? -1 : __builtin_ctz(free);
  }

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

  bool move(slot_position from, slot_position to) { return move(from, to, false); }

 private:
  static constexpr std::size_t write_group = 16;
  static constexpr std::uint64_t max_sweep_units = 32'000;
  static constexpr std::uint64_t max_held_units = 32'000;
  static constexpr std::uint64_t never = UINT64_MAX;
  static constexpr std::uint64_t max_time_share = 16'384;  // buckets that one set_time looks at
  static constexpr std::uint64_t sweep_ahead = 8;  // buckets whose guests' homes are fetched
  static constexpr unsigned moved_max = 255;
  static constexpr unsigned max_tries = 8;  // searches of one insert; Horton alone needs a second

  struct wanted_key {
    std::uint64_t hash, home;
    simd::fingerprint print;
    std::uint64_t words[keyed_hash::max_words];
  };

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
    simd::flow_line& line = line_at(at.bucket);
    const unsigned shift = simd::flow_via_shift + 3 * at.slot;
    const std::uint64_t meta = (line.meta & ~(std::uint64_t{7} << shift)) | std::uint64_t{via}
                                                                                << shift;
    Sync::store(&line.meta, meta + (std::uint64_t{1} << simd::flow_version_shift));
    std::uint64_t* words = entry_at(at);
    for (unsigned w = 0; w < n_key_words_; ++w) Sync::store(words + w, Sync::load(key + w));
    words += n_key_words_;
    for (unsigned w = 0; w < n_value_words_; ++w) Sync::store(words + w, Sync::load(value + w));
    line.more[at.slot] = static_cast<std::uint16_t>(print >> 16);
    if (via != 0) {
      const std::uint64_t home = Prune::other(at.bucket, print, via, geometry_.n_buckets);
      note_guest(home, print, via, at.bucket);
    }
    Sync::store(pair_at(at), pair);
  }

  // Filters.

  void note_guest(std::uint64_t home, simd::fingerprint print, unsigned via, std::uint64_t bucket) {
    if constexpr (Prune::filters) {
      simd::flow_line& line = line_at(home);
      Sync::store(&line.filter, Prune::with(line.filter, print, via));
      if ((line.meta & moved_max) != moved_max) Sync::store(&line.meta, line.meta + 1);
      if (bucket < sweep_position_) repair_.note(home, print, via);
    }
  }
  /// The guest was cleared from `bucket`.
  void leave(std::uint64_t home, std::uint64_t bucket) {
    if constexpr (Prune::filters) {
      simd::flow_line& line = line_at(home);
      if (bucket < sweep_position_) repair_.forget(home);
      if ((line.meta & moved_max) == moved_max) return;
      COUA_ASSERT((line.meta & moved_max) != 0);
      Sync::store(&line.meta, line.meta - 1);
      if ((line.meta & moved_max) != 0) return;
      Sync::store(&line.filter, std::uint64_t{0});
      repair_.empty(home);
    }
  }

  // Keys.

  void take_key(bytes_in key, wanted_key& wanted) const {
    simd::to_words(key, geometry_.key_bytes, n_key_words_, wanted.words);
    take_hash(hash_(wanted.words, n_key_words_), wanted);
  }
  void take_hash(std::uint64_t hash, wanted_key& wanted) const {
    wanted.hash = hash;
    wanted.home = simd::home_bucket(hash, geometry_.n_buckets);
    wanted.print = simd::fingerprint_of(hash);
  }

  bool has_key(slot_position at, const wanted_key& wanted) const {
    if (print_at(at) != wanted.print) return false;
    const std::uint64_t* words = entry_at(at);
    std::uint64_t differs = 0;
    for (unsigned w = 0; w < n_key_words_; ++w)
      differs |= load_relaxed(words + w) ^ wanted.words[w];
    return differs == 0;
  }
  /// Also an entry that expired.
  bool find_in(std::uint64_t bucket, const wanted_key& wanted, slot_position& at) const {
    std::uint32_t nominated = bucket_slots::with_tag(line_at(bucket), simd::tag_of(wanted.print));
    for (; nominated != 0; nominated &= nominated - 1) {
      at = {bucket, static_cast<unsigned>(__builtin_ctz(nominated))};
      if (has_key(at, wanted)) return true;
    }
    return false;
  }
  bool find_anywhere(const wanted_key& wanted, slot_position& at) const {
    if (find_in(wanted.home, wanted, at)) return true;
    const unsigned via =
        Prune::via(load_relaxed(&line_at(wanted.home).filter), Prune::trace(wanted.print));
    return via != 0 &&
           find_in(Prune::other(wanted.home, wanted.print, via, geometry_.n_buckets), wanted, at);
  }
  /// For the writer: an expired entry with this key is removed, so that its expiry is told before
  /// its key comes again.
  enum class presence { absent, there, held };
  presence locate(const wanted_key& wanted, slot_position& at) {
    for (;;) {
      if (!find_anywhere(wanted, at)) return presence::absent;
      if constexpr (!Expiry::timed) return presence::there;
      const std::uint32_t pair = load_relaxed(pair_at(at));
      if (visible(pair)) return presence::there;
      const reaped done = reap(at, pair);
      if (done != reaped::renewed) {
        return done == reaped::gone ? presence::absent : presence::held;
      }
    }
  }

  /// Calls `act(i, key i)` for each, in order. The primary buckets of a group are fetched while the
  /// group before it is acted on, and what they lead to before it is its own turn.
  template <typename Act>
  void each_fetched(bytes_in keys, const std::uint64_t* hashes, std::size_t n, Act act) {
    wanted_key groups[2][write_group];
    const auto fetch = [&](std::size_t at) {
      wanted_key* group = groups[at / write_group % 2];
      const std::size_t end = std::min(n, at + write_group);
      for (std::size_t i = at; i < end; ++i, ++group) {
        simd::to_words(keys + i * geometry_.key_stride, geometry_.key_bytes, n_key_words_,
                       group->words);
        take_hash(hashes != nullptr ? hashes[i] : hash_(group->words, n_key_words_), *group);
        fetch_bucket(group->home);
      }
    };
    fetch(0);
    for (std::size_t at = 0; at < n; at += write_group) {
      if (at + write_group < n) fetch(at + write_group);
      const wanted_key* group = groups[at / write_group % 2];
      const std::size_t size = std::min(n - at, write_group);
      for (std::size_t i = 0; i < size; ++i) fetch_entry(group[i]);
      for (std::size_t i = 0; i < size; ++i) act(at + i, group[i]);
    }
  }
  /// The entry that a tag nominates, else the slot that an insert would take.
  void fetch_entry(const wanted_key& wanted) const {
    const simd::flow_line& line = line_at(wanted.home);
    const std::uint32_t nominated = bucket_slots::with_tag(line, simd::tag_of(wanted.print));
    const std::uint32_t candidates =
        nominated != 0 ? nominated : bucket_slots::empty(line) & usable_slots();
    if (candidates != 0) {
      const auto slot = static_cast<unsigned>(__builtin_ctz(candidates));
      prefetch_to_write(entry_at({wanted.home, slot}));
    } else if constexpr (Prune::n_functions == 1) {
      fetch_bucket(Prune::other(wanted.home, wanted.print, 1, geometry_.n_buckets));
    }
  }

  // Insert and erase.

  int put_key(put_mode mode, const wanted_key& wanted, std::uint8_t* value, std::uint32_t units) {
    if constexpr (Expiry::timed) sweep_share();
    std::uint64_t words[8] = {};
    slot_position at;
    const presence found = locate(wanted, at);
    if (found == presence::held) {
      counts_.refuse();
      return COUA_FLOW_FULL;
    }
    if (found == presence::there) {
      if (mode == put_mode::keep) return COUA_FLOW_PRESENT;
      if (mode == put_mode::find) {
        if (value != nullptr) {
          std::memcpy(value, entry_at(at) + n_key_words_, geometry_.value_bytes);
        }
        set_timer(at, units);
        return COUA_FLOW_PRESENT;
      }
      if (value != nullptr) std::memcpy(words, value, geometry_.value_bytes);
      return update(wanted, at, words, units);
    }
    if (value != nullptr) std::memcpy(words, value, geometry_.value_bytes);
    const placement place = find_room(wanted);
    if (place.answer == room::full) {
      counts_.refuse();
      return COUA_FLOW_FULL;
    }
    const unsigned via = via_to(wanted.home, wanted.print, place.bucket);
    fill(place.at(), via, wanted.print, pair_of(wanted.print, units), wanted.words, words);
    counts_.add(via != 0, place.n_moves);
    return COUA_FLOW_ADDED;
  }

  placement find_room(const wanted_key& wanted) {
    for (unsigned i = 0; i < max_tries; ++i) {
      std::uint64_t seconds[Prune::n_functions];
      const placement place = make_room(*this, search_, wanted.home, [&] {
        return std::span(seconds, second_buckets(wanted, seconds));
      });
      if (place.answer == room::full) return place;
      // A move of a path may have bound the key to another function than the one that led there.
      if (place.answer == room::found &&
          via_to(wanted.home, wanted.print, place.bucket) != n_none) {
        return place;
      }
    }
    return {};
  }

  /// The secondary buckets that a key may go to, the emptiest first.
  std::size_t second_buckets(const wanted_key& wanted, std::uint64_t* buckets) {
    const unsigned bound = bound_via(wanted.home, wanted.print);
    if (bound != 0) {
      buckets[0] = Prune::other(wanted.home, wanted.print, bound, geometry_.n_buckets);
      return 1;
    }
    std::size_t n = 0;
    for (unsigned via = 1; via <= Prune::n_functions; ++via) {
      const std::uint64_t bucket =
          Prune::other(wanted.home, wanted.print, via, geometry_.n_buckets);
      if (std::find(buckets, buckets + n, bucket) != buckets + n) continue;
      fetch_bucket(bucket);
      buckets[n++] = bucket;
    }
    std::uint64_t loads[Prune::n_functions];
    for (std::size_t i = 0; i < n; ++i) loads[i] = load_of(buckets[i]) << 8 | i;
    std::sort(loads, loads + n);
    std::uint64_t sorted[Prune::n_functions];
    for (std::size_t i = 0; i < n; ++i) sorted[i] = buckets[loads[i] & 0xff];
    std::copy_n(sorted, n, buckets);
    return n;
  }
  std::uint64_t load_of(std::uint64_t bucket) const {
    std::uint32_t free = bucket_slots::empty(line_at(bucket));
    if constexpr (Expiry::timed) free |= bucket_slots::invisible(line_at(bucket), now());
    return n_slots - static_cast<unsigned>(std::popcount(free));
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

  int update(const wanted_key& wanted, slot_position at, const std::uint64_t* value,
             std::uint32_t units) {
    if (!Sync::concurrent || n_value_words_ <= 1) {
      std::uint64_t* words = entry_at(at) + n_key_words_;
      for (unsigned w = 0; w < n_value_words_; ++w) Sync::store(words + w, value[w]);
      set_timer(at, units);
    } else {
      const placement place = find_room(wanted);
      // Making room may have moved the old entry.
      const bool there = locate(wanted, at) == presence::there;
      if (place.answer == room::full) {
        counts_.refuse();
        return COUA_FLOW_FULL;
      }
      const unsigned via = via_to(wanted.home, wanted.print, place.bucket);
      fill(place.at(), via, wanted.print, pair_of(wanted.print, units), wanted.words, value);
      COUA_ASSERT(there);
      if (there) {
        counts_.change_place(via_at(at) != 0, via != 0);
        next_version(wanted.home);
        retire(at, wanted.home, wanted.words, place.bucket);
      }
    }
    counts_.update();
    return COUA_FLOW_UPDATED;
  }

  /// Clears the old slot of an entry that is at `new_bucket` by now.
  void retire(slot_position old, std::uint64_t home, const std::uint64_t* key,
              std::uint64_t new_bucket) {
    const bool was_guest = via_at(old) != 0;
    Sync::store(pair_at(old), std::uint32_t{0});
    if (was_guest) leave(home, old.bucket);
    if (!cursors_.empty()) tell_move(key, old.bucket, new_bucket);
  }

  void set_timer(slot_position at, std::uint32_t units) {
    if constexpr (Expiry::timed) {
      const std::uint32_t pair = load_relaxed(pair_at(at));
      Sync::store(pair_at(at), (pair & 0xffff) | static_cast<std::uint32_t>(now() + units) << 16);
    }
  }

  /// Copies an entry to another of its buckets, then clears it here.
  bool move(slot_position from, slot_position to, bool by_sweep) {
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
        Sync::store(pair_at(to), pair);
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

  [[gnu::noinline]] void tell_move(const std::uint64_t* key, std::uint64_t from, std::uint64_t to) {
    for (flow_cursor* cursor : cursors_) cursor->on_move(key, from, to);
  }
  [[gnu::noinline]] void tell_leave(const std::uint64_t* key) {
    for (flow_cursor* cursor : cursors_) cursor->on_leave(key);
  }

  bool erase_key(const wanted_key& wanted, std::uint8_t* value) {
    sweep_share();
    slot_position at;
    if (locate(wanted, at) != presence::there) return false;
    if (value != nullptr) std::memcpy(value, entry_at(at) + n_key_words_, geometry_.value_bytes);
    const bool was_guest = via_at(at) != 0;
    Sync::store(pair_at(at), std::uint32_t{0});
    if (was_guest) leave(wanted.home, at.bucket);
    counts_.erase(was_guest);
    if (!cursors_.empty()) tell_leave(wanted.words);
    return true;
  }

  // Expiry and the sweep.

  std::uint64_t max_round_units() const {
    return ring_ == nullptr ? max_sweep_units : max_sweep_units / 2;
  }

  /// Removes an entry that expired and tells the owner, unless a reader renewed it in this moment,
  /// or the ring is full.
  enum class reaped { gone, renewed, held };
  reaped reap(slot_position at, std::uint32_t pair) {
    if (ring_ != nullptr && ring_room_ == 0) {
      held_since_ = std::min(held_since_, now());
      held_in_round_ = true;
      return reaped::held;
    }
    const bool was_guest = via_at(at) != 0;
    const std::uint64_t home = home_of(at);
    if constexpr (Sync::concurrent) {
      if (!exchange_if(pair_at(at), pair, std::uint32_t{0})) return reaped::renewed;
    } else {
      *pair_at(at) = 0;
    }
    if (was_guest) leave(home, at.bucket);
    counts_.expire(was_guest);
    const std::uint64_t* words = entry_at(at);
    if (!cursors_.empty()) tell_leave(words);
    if (geometry_.expired != nullptr) {
      geometry_.expired(geometry_.expired_context, words, words + n_key_words_);
    }
    if (ring_ != nullptr) {
      ring_->push(words);
      --ring_room_;
    }
    return reaped::gone;
  }

  void sweep_share() {
    sweep_one();
    if (sweep_position_ == geometry_.n_buckets) end_sweep();
  }

  /// Removes what expired from one bucket, sends its guests home, and notes those that stay. The
  /// line of a bucket further on, and the homes of guests in between, are fetched meanwhile.
  void sweep_one() {
    const std::uint64_t bucket = sweep_position_;
    ask_for_room();
    if (bucket + 2 * sweep_ahead < geometry_.n_buckets) fetch_bucket(bucket + 2 * sweep_ahead);
    std::uint64_t homes[n_slots];
    if (bucket + sweep_ahead < geometry_.n_buckets) guests(bucket + sweep_ahead, homes);
    if constexpr (Expiry::timed) free_slot(bucket);
    for (std::uint32_t left = guests(bucket, homes); left != 0; left &= left - 1) {
      const auto slot = static_cast<unsigned>(__builtin_ctz(left));
      const slot_position at{bucket, slot};
      const int free = free_slot(homes[slot]);
      if (free >= 0) {
        move(at, {homes[slot], static_cast<unsigned>(free)}, true);
      } else if constexpr (Prune::filters) {
        repair_.note(homes[slot], print_at(at), via_at(at));
      }
    }
    ++sweep_position_;
  }

  void end_sweep() {
    sweep_position_ = 0;
    sweep_started_ = now();
    end_round();
    if constexpr (Prune::filters) {
      std::uint64_t n_rebuilt = 0;
      repair_.finish([&](std::uint64_t home, std::uint64_t word, std::uint64_t moved) {
        simd::flow_line& line = line_at(home);
        if (line.filter == word && (line.meta & moved_max) == moved) return;
        COUA_ASSERT((line.meta & moved_max) == moved || (line.meta & moved_max) == moved_max);
        Sync::store(&line.filter, word);
        Sync::store(&line.meta, (line.meta & ~std::uint64_t{moved_max}) | moved);
        ++n_rebuilt;
      });
      counts_.rebuild_filters(n_rebuilt);
    }
  }

  /// Asked for before a bucket is swept, and not again before all that a call does is done: what is
  /// held at first stays held, so that no slot on a path of moves falls empty.
  void ask_for_room() {
    if (ring_ != nullptr) ring_room_ = ring_->room();
  }

  /// The whole table was looked at.
  void end_round() {
    if (!held_in_round_) held_since_ = never;
    held_in_round_ = false;
  }

  /// Removes from the whole table what will have expired `passed` units from now, or has. False
  /// when the ring had no room for all of it.
  bool scan(std::uint64_t passed, std::uint64_t new_now) {
    counts_.scan();
    held_in_round_ = false;
    for (std::uint64_t bucket = 0; bucket < geometry_.n_buckets; ++bucket) {
      ask_for_room();
      for (unsigned slot = 0; slot < geometry_.n_slots; ++slot) {
        const slot_position at{bucket, slot};
        // A reader may renew an entry meanwhile, for its own time; at most a few times.
        for (;;) {
          const std::uint32_t pair = load_relaxed(pair_at(at));
          if (pair == 0 || simd::units_left(pair, now()) > passed) break;
          const reaped done = reap(at, pair);
          if (done == reaped::held) return false;
          if (done == reaped::gone) break;
        }
      }
    }
    sweep_position_ = 0;
    sweep_started_ = new_now;
    if constexpr (Prune::filters) repair_.restart();
    end_round();
    return true;
  }

  unsigned read_bucket(std::uint64_t bucket, seen_entry* entries) const override {
    unsigned n = 0;
    for (unsigned slot = 0; slot < geometry_.n_slots; ++slot) {
      const slot_position at{bucket, slot};
      if (const std::uint32_t pair = load_relaxed(pair_at(at)); pair != 0 && visible(pair)) {
        entries[n++] = seen(at, pair);
      }
    }
    return n;
  }
  bool find(bytes_in key, seen_entry& entry) const override {
    wanted_key wanted;
    take_key(key, wanted);
    slot_position at;
    if (!find_anywhere(wanted, at)) return false;
    const std::uint32_t pair = load_relaxed(pair_at(at));
    entry = seen(at, pair);
    return visible(pair);
  }
  seen_entry seen(slot_position at, std::uint32_t pair) const {
    return {entry_at(at), Expiry::timed ? simd::units_left(pair, now()) : 0};
  }
  void fill_counts(coua_flow_stats& stats) const override {
    counts_.fill(stats);
    stats.bytes = (Prune::filters ? repair_.bytes() : 0) + sizeof *this;
    if (ring_ != nullptr) stats.bytes += ring_->bytes();
  }

  path_search search_;
  filter_repair<Prune> repair_;
  flow_counts counts_;
  std::uint64_t sweep_position_ = 0;
  std::uint64_t sweep_started_ = 0;
  std::uint64_t held_since_ = never;  // expired entries for which the ring had no room
  bool held_in_round_ = false;
  std::uint64_t ring_room_ = 0;
  std::uint32_t n_key_words_ = 0;
  std::uint32_t n_value_words_ = 0;
};

}  // namespace coua
