// SPDX-License-Identifier: Apache-2.0
//
// How entries of the flow table expire, and the sweep that finds them.
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
// The sweep also sends guests home, and builds filters anew (filter_repair.h).
#pragma once

#include <algorithm>
#include <cerrno>

#include "flow/expired_ring.h"
#include "flow/flow_buckets.h"

namespace coua {

template <simd::prune_policy Prune, simd::expiry_policy Expiry, simd::sync_policy Sync>
class flow_expiry : public flow_buckets<Prune, Expiry, Sync> {
 public:
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
    return n != 0 && sweep_position_ == 0;
  }

  // What placing needs, too.

  using buckets = flow_buckets<Prune, Expiry, Sync>;
  using buckets::guests, buckets::fetch_bucket, buckets::move, buckets::n_slots;

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

 protected:
  using buckets::counts_, buckets::moved_max, buckets::n_key_words_, buckets::repair_;
  using buckets::cursors_, buckets::geometry_, buckets::ring_, buckets::shared_, buckets::view_;
  using buckets::entry_at, buckets::home_of, buckets::line_at, buckets::pair_at, buckets::print_at;
  using buckets::leave, buckets::now, buckets::sweep_position_, buckets::tell_leave;
  using buckets::usable_slots, buckets::via_at, buckets::visible;

  flow_expiry(const flow_geometry& geometry, const keyed_hash& hash, flow_memory memory,
              std::uint64_t now_ms)
      : buckets(geometry, hash, std::move(memory), now_ms), sweep_started_(shared_->now) {
    if (geometry.expired_ring != 0) {
      ring_ = std::make_unique<expired_ring>(geometry.expired_ring, view_.entry_words);
    }
  }

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

  /// The share of one insert or erase.
  void sweep_share() {
    for (unsigned i = 0; i < n_shared; ++i) sweep_one();
  }

  /// Removes what expired from one bucket, sends its guests home, and notes those that stay; then
  /// goes on to the next bucket, and renews its filter. The line of a bucket further on, and the
  /// homes of guests in between, are fetched meanwhile.
  void sweep_one() {
    const std::uint64_t bucket = sweep_position_;
    ask_for_room();
    if (bucket + 2 * sweep_ahead < geometry_.n_buckets) fetch_bucket(bucket + 2 * sweep_ahead);
    std::uint64_t homes[n_slots];
    if (bucket + sweep_ahead < geometry_.n_buckets) {
      std::uint32_t ahead = guests(bucket + sweep_ahead, homes);
      if constexpr (Prune::filters) {
        for (; ahead != 0; ahead &= ahead - 1) repair_.fetch(homes[__builtin_ctz(ahead)]);
      }
    }
    if constexpr (Expiry::timed) free_slot(bucket);
    for (std::uint32_t left = guests(bucket, homes); left != 0; left &= left - 1) {
      const auto slot = static_cast<unsigned>(__builtin_ctz(left));
      const slot_position at{bucket, slot};
      const int free = free_slot(homes[slot]);
      if (free >= 0) {
        move(at, {homes[slot], static_cast<unsigned>(free)}, true);
      } else if constexpr (Prune::filters) {
        repair_.see(homes[slot], bucket, print_at(at), via_at(at));
      }
    }
    if (++sweep_position_ == geometry_.n_buckets) {
      sweep_position_ = 0;
      sweep_started_ = now();
      end_round();
    }
    if constexpr (Prune::filters) renew_filter(sweep_position_);
  }

  void renew_filter(std::uint64_t home) {
    const auto made = repair_.arrive(home);
    if (!made) return;
    const auto [word, moved] = *made;
    simd::flow_line& line = line_at(home);
    if (line.filter == word && (line.meta & moved_max) == moved) return;
    COUA_ASSERT((line.meta & moved_max) == moved || (line.meta & moved_max) == moved_max);
    Sync::store(&line.filter, word);
    Sync::store(&line.meta, (line.meta & ~std::uint64_t{moved_max}) | moved);
    counts_.rebuild_filter();
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
    sweep_started_ = new_now;
    end_round();
    return true;
  }

 private:
  // Buckets that an insert or erase sweeps. What comes and goes takes both in a table with timers;
  // in others only erases sweep. With fewer, more guests stay away from home, and more bits of
  // those that left stay in the filters (docs/flow-table.md).
  static constexpr unsigned n_shared = Expiry::timed ? 1 : 2;
  static constexpr std::uint64_t max_sweep_units = 32'000;
  static constexpr std::uint64_t max_held_units = 32'000;
  static constexpr std::uint64_t never = UINT64_MAX;
  static constexpr std::uint64_t max_time_share = 16'384;  // buckets that one set_time looks at
  static constexpr std::uint64_t sweep_ahead = 8;  // buckets whose guests' homes are fetched

  std::uint64_t sweep_started_ = 0;
  std::uint64_t held_since_ = never;  // expired entries for which the ring had no room
  bool held_in_round_ = false;
  std::uint64_t ring_room_ = 0;
};

}  // namespace coua
