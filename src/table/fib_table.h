// SPDX-License-Identifier: Apache-2.0
//
// The FIB's cuckoo table: two buckets per key, one slot per entry, one writer, lock-free readers.
//
//   bucket (packed8)   [slot 0][slot 1] ... [slot 7]      one line of 64 bytes
//   slot               tag, occupied, guest, value, static, age: fib_geometry.h
//   key -> buckets     primary by P(key), secondary by Q(key): base/key_permutation.h
//
// Placement: placement.h.
//
// Concurrency (CuckooSwitch, section 3.2, goes as far as the x86 memory order; this holds under the
// C++ memory model). Every word is read with acquire and written with release.
//
//   A hit in a packed slot is one word, key and value together: nothing can tear.
//   A move copies to the free slot, then stamps, then clears the old slot, from the free end of the
//     path backwards: a key that is present is in one of its buckets at any moment, but a reader
//     who looks at the target too early and at the source too late may see it in neither.
//   Stamps. `clock` counts moves. A move stores its number first to the clock, then to the stripe
//     of the entry's primary bucket, between copy and clear. A reader loads the clock before it
//     reads the first bucket (once per batch); a miss stands if afterwards the clock shows the same
//     number, or the stripe of the key's primary bucket no later one.
//     Proof: let a reader miss an entry because of move n. It read the target before the copy and
//     the source after the clear. If its clock showed n or more, the load synchronised with the
//     store of n, which follows the copy: it could not have missed the copy. So it showed less
//     than n. It saw the clear, which follows both stores: it sees a clock and a stamp of at least
//     n. It looks again. There is no odd state: a writer that loses its processor in the middle of
//     a move stalls nobody.
//   The paper's readers load two version counters per key before and two after; here hits load
//     none, and misses one afterwards, if anything moved.
//   In a bulk load several threads fill, and one at a time moves (fib_bulk.h). What moves last on a
//     path leaves its slot to the new entry, by one store: the same as a clear for all of the
//     above.
//   An update in place stores the word again. An erase stores zero.
//   Readers may refresh the age stamp by compare-exchange of the word they read; it fails if the
//     writer changed the word since. When an entry has expired, the writer kills it by
//     compare-exchange too, so that a refresh in the same moment wins or loses, but is never half
//     done. A move clears the old slot in the same way, and brings the copy what was refreshed
//     there since.
//   Wide slots have two words. A slot that is filled gets its entry word first, its tag last, and
//     the bucket is stamped before; a reader checks the stamps of both buckets, after a hit too, so
//     tag and entry belong together. An entry word of fib_miss is an entry being killed.
//
// Ageing. The stamp of an entry is the epoch (3 bits) of its last refresh. An entry expires six
// epochs later; each epoch ends only when a sweep has looked at every bucket, so no stamp comes
// round. An entry about to expire that a move carries behind the sweep's back is looked at again.
// The sweep also sends guests home where erased entries left room.
//
// Limits: 2^40 entries, values of 24 bits, stamps of 64 bits (at 10 M moves a second: 58,000
// years).
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/check.h"
#include "base/prefetch.h"
#include "table/fib_bulk.h"
#include "table/fib_counts.h"
#include "table/fib_cursor.h"
#include "table/fib_slots.h"
#include "table/fib_sync.h"
#include "table/placement.h"

namespace coua {

template <class Layout, class Sync = move_stamps>
class fib_table final : public fib_slots<Layout, Sync> {
  using slots = fib_slots<Layout, Sync>;

 public:
  using slots::is_wide;
  using slots::n_slots;
  static constexpr std::uint32_t epochs_to_live = 6;

  fib_table(const fib_geometry& geometry, arena memory, arena stamps, const key_permutation& keys,
            unsigned search_budget)
      : slots(geometry, std::move(memory), std::move(stamps), keys), search_(search_budget) {}

  int insert(const coua_fib_record& record) override {
    if (!valid(record)) return -EINVAL;
    return insert_permuted(view_.permutation.p(record.key), make_entry(record));
  }

  std::size_t insert_batch(std::span<const coua_fib_record> records,
                           std::int8_t* results) override {
    std::size_t n_stored = 0;
    std::uint64_t p[write_group];
    for (std::size_t at = 0; at < records.size(); at += write_group) {
      const std::size_t n = std::min(records.size() - at, write_group);
      for (std::size_t i = 0; i < n; ++i) {
        p[i] = view_.permutation.p(records[at + i].key & key_permutation::key_mask);
        fetch_both(p[i]);
      }
      for (std::size_t i = 0; i < n; ++i) {
        const coua_fib_record& record = records[at + i];
        const int done = valid(record) ? insert_permuted(p[i], make_entry(record)) : -EINVAL;
        n_stored += done == COUA_FIB_ADDED || done == COUA_FIB_UPDATED;
        if (results != nullptr) results[at + i] = static_cast<std::int8_t>(done);
      }
    }
    return n_stored;
  }

  bool erase(std::uint64_t key) override { return erase_permuted(view_.permutation.p(key)); }

  std::size_t erase_batch(std::span<const std::uint64_t> keys) override {
    std::size_t n_erased = 0;
    std::uint64_t p[write_group];
    for (std::size_t at = 0; at < keys.size(); at += write_group) {
      const std::size_t n = std::min(keys.size() - at, write_group);
      for (std::size_t i = 0; i < n; ++i) {
        p[i] = view_.permutation.p(keys[at + i] & key_permutation::key_mask);
        fetch_both(p[i]);
      }
      for (std::size_t i = 0; i < n; ++i) {
        n_erased += valid_key(keys[at + i]) && erase_permuted(p[i]);
      }
    }
    return n_erased;
  }

  bool refresh(std::uint64_t key) override {
    slot_position at;
    if (!locate(view_.permutation.p(key), at)) return false;
    const std::uint32_t entry = load_entry(at);
    if ((entry & simd::fib_static) == 0) {
      store_entry(at, (entry & ~simd::fib_age_mask) | shared_->epoch);
    }
    return true;
  }

  int bulk_load(coua_fib_bulk_source next, void* context, unsigned threads,
                bool distinct) override {
    return fib_bulk_load<fib_table>(*this, next, context, threads, distinct).run();
  }

  bool sweep(std::uint64_t n_buckets, coua_fib_expired expired, void* context) override {
    while (n_escaped_ > 0) sweep_bucket(escaped_[--n_escaped_], expired, context);
    const std::uint64_t end =
        sweep_position_ + std::min(n_buckets, geometry_.n_buckets - sweep_position_);
    while (sweep_position_ < end) {
      const std::uint64_t first = sweep_position_;
      const std::uint64_t last = std::min(end, first + sweep_window);
      for (; sweep_position_ < last; ++sweep_position_) {
        sweep_bucket(sweep_position_, expired, context);
        fetch_homes(sweep_position_);
      }
      for (std::uint64_t bucket = first; bucket < last; ++bucket) send_guests_home(bucket);
    }
    return sweep_position_ == geometry_.n_buckets && n_escaped_ == 0;
  }

  bool tidy(std::uint64_t n_buckets) override {
    const std::uint64_t end =
        tidy_position_ + std::min(n_buckets, geometry_.n_buckets - tidy_position_);
    while (tidy_position_ < end) {
      const std::uint64_t first = tidy_position_;
      tidy_position_ = std::min(end, first + sweep_window);
      for (std::uint64_t b = first; b < tidy_position_; ++b) fetch_homes(b);
      for (std::uint64_t b = first; b < tidy_position_; ++b) send_guests_home(b);
    }
    if (tidy_position_ < geometry_.n_buckets) return false;
    tidy_position_ = 0;
    return true;
  }

  bool next_epoch() override {
    if (sweep_position_ != geometry_.n_buckets || n_escaped_ != 0) return false;
    sweep_position_ = 0;
    store_relaxed(&shared_->epoch, (shared_->epoch + 1) & simd::fib_age_mask);
    return true;
  }

  bool find(std::uint64_t key, coua_fib_record& record) const override {
    slot_position at;
    if (!valid_key(key) || !locate(view_.permutation.p(key), at)) return false;
    record = make_record(key, load_entry(at));
    return true;
  }

  void get_stats(coua_fib_stats& stats) const override {
    counts_.fill(stats);
    stats.slots = geometry_.n_buckets * n_slots;
    stats.buckets = geometry_.n_buckets;
    stats.buckets_asked = geometry_.n_buckets_asked;
    stats.bytes = memory_.bytes_mapped() + stamps_.bytes_mapped() + sizeof(shared_words);
    stats.retries = sum_retries();
    stats.value_bits = geometry_.value_bits;
    stats.epoch = epoch();
  }

  // The two halves of adding on a thread of a bulk load (fib_bulk.h).
  // ------------------------------------------------------

  /// Finds room for a key while others fill and move: it may be gone when it is used. False: none
  /// was seen within the budget.
  bool find_room_for(std::uint64_t p, path_search& search, room_path& found) {
    placer placer{*this};
    const std::uint64_t seconds[] = {view_.bucket(view_.permutation.q_of_p(p))};
    return find_room(
        placer, search, view_.bucket(p), [&] { return std::span(seconds); }, found);
  }

  /// Adds a key where room was found, by whoever holds the lock of moves. False: the room is gone.
  bool add_at(const room_path& found, std::uint64_t p, std::uint32_t entry, fib_counts& counts) {
    const bool as_guest = found.path[0].bucket != view_.bucket(p);
    const std::uint64_t want =
        as_guest ? view_.want_guest(view_.permutation.q_of_p(p)) : view_.want_home(p);
    if (found.n_moves == 0 && !this->template put<true>(found.path[0], want, entry)) return false;
    for (unsigned i = found.n_moves; i > 0; --i) {
      const std::uint64_t next = i == 1 ? want | entry : 0;
      if (!move_if_there(found.path[i - 1], found.path[i], next, counts)) return false;
    }
    counts.add(entry, as_guest, found.n_moves);
    return true;
  }

 private:
  friend class fib_bulk_load<fib_table>;
  using slots::age_of, slots::clear, slots::cursors_, slots::epoch, slots::fetch_bucket;
  using slots::find_slot, slots::for_each_guest, slots::free_slot, slots::geometry_;
  using slots::interval_base, slots::is_guest, slots::key_at, slots::kill, slots::load_entry;
  using slots::make_entry, slots::make_record, slots::memory_, slots::other, slots::permuted_at;
  using slots::replace_if, slots::shared_, slots::stamps_, slots::store_entry, slots::sum_retries,
      slots::sync_;
  using slots::tags, slots::valid, slots::valid_key, slots::view_;
  using typename slots::shared_words;
  static constexpr std::size_t write_group = 16;
  static constexpr std::uint64_t sweep_window =
      8;  // buckets whose guests' homes are fetched together

  // Insert and erase.
  // ----------------------------------------------------------------------------------

  bool locate(std::uint64_t p, slot_position& at) const {
    at.bucket = view_.bucket(p);
    int slot = find_slot(at.bucket, view_.want_home(p));
    if (slot < 0) {
      const std::uint64_t q = view_.permutation.q_of_p(p);
      at.bucket = view_.bucket(q);
      slot = find_slot(at.bucket, view_.want_guest(q));
    }
    at.slot = static_cast<unsigned>(slot);
    return slot >= 0;
  }

  void fetch_both(std::uint64_t p) const {
    const std::uint64_t buckets[2] = {view_.bucket(p), view_.bucket(view_.permutation.q_of_p(p))};
    for (const std::uint64_t bucket : buckets) {
      fetch_bucket(bucket);
      if constexpr (Layout::wide) prefetch_to_write(tags(bucket) + n_slots);
    }
  }

  int insert_permuted(std::uint64_t p, std::uint32_t entry) {
    slot_position at;
    if (locate(p, at)) {
      counts_.replace(load_entry(at), entry);
      store_entry(at, entry);
      return COUA_FIB_UPDATED;
    }
    return add(p, entry);
  }

  /// Adds a key that is not in the table.
  int add(std::uint64_t p, std::uint32_t entry) {
    const std::uint64_t q = view_.permutation.q_of_p(p);
    const std::uint64_t home = view_.bucket(p);
    const std::uint64_t seconds[] = {view_.bucket(q)};
    placer placer{*this};
    const placement place = make_room(placer, search_, home, [&] { return std::span(seconds); });
    if (place.answer == room::full) {
      counts_.refuse();
      return COUA_FIB_FULL;
    }
    const bool as_guest = place.bucket != home;
    this->template put<false>(place.at(), as_guest ? view_.want_guest(q) : view_.want_home(p),
                              entry);
    counts_.add(entry, as_guest, place.n_moves);
    return COUA_FIB_ADDED;
  }

  /// Moves an entry and leaves `next` in its slot. False: what was seen in `from` has gone, or `to`
  /// was taken.
  bool move_if_there(slot_position from, slot_position to, std::uint64_t next, fib_counts& counts) {
    const passage way = plan_move(from, to);
    if (way.word == 0 || view_.bucket(way.target) != to.bucket) return false;
    Sync::begin_move(sync_, from.bucket, to.bucket);
    const bool copied = copy<true>(way);
    if (copied) {
      Sync::copied(sync_, way.home());
      leave(way, next);
    }
    Sync::end_move(sync_, from.bucket, to.bucket);
    if (!copied) return false;
    counts.move(way.goes_home, false);
    note_move(way);
    return true;
  }

  // Placing.
  // ---------------------------------------------------------------------------------------------

  /// The table as placing sees it.
  struct placer {
    static constexpr unsigned n_slots = Layout::n_slots;
    static constexpr unsigned n_others = n_slots;
    fib_table& table;

    int free_slot(std::uint64_t bucket) const { return table.free_slot(bucket); }
    void other_buckets(std::uint64_t bucket, std::uint64_t* others) const {
      table.other_buckets(bucket, others);
    }
    void fetch_bucket(std::uint64_t bucket) const { table.fetch_bucket(bucket); }
    std::uint32_t guests(std::uint64_t bucket, std::uint64_t* homes) const {
      return table.guests(bucket, homes);
    }
    bool move(slot_position from, slot_position to) const {
      table.move(from, to);
      return true;
    }
  };

  void other_buckets(std::uint64_t bucket, std::uint64_t* others) const {
    const std::uint64_t base = interval_base(bucket);
    for (unsigned i = 0; i < n_slots; ++i) {
      const std::uint64_t word = load_relaxed(tags(bucket) + i);
      others[i] = view_.bucket(other(word, permuted_at(base, word)));
    }
  }

  std::uint32_t guests(std::uint64_t bucket, std::uint64_t* homes) const {
    std::uint64_t base = 0;
    std::uint32_t guests = 0;
    for (unsigned slot = 0; slot < n_slots; ++slot) {
      const std::uint64_t word = load_relaxed(tags(bucket) + slot);
      if (!is_guest(word)) continue;
      if (guests == 0) base = interval_base(bucket);
      homes[slot] = view_.bucket(view_.permutation.p_of_q(permuted_at(base, word)));
      fetch_bucket(homes[slot]);
      guests |= 1u << slot;
    }
    return guests;
  }

  /// An entry on its way to its other bucket.
  struct passage {
    slot_position from, to;
    std::uint64_t word;    // the one in `from`
    std::uint64_t target;  // its permuted key in the bucket of `to`
    std::uint64_t p;       // the one in its primary
    std::uint32_t entry;
    bool goes_home;
    std::uint64_t home() const { return goes_home ? to.bucket : from.bucket; }
  };
  passage plan_move(slot_position from, slot_position to) const {
    const std::uint64_t word = load_relaxed(tags(from.bucket) + from.slot);
    const std::uint64_t permuted = permuted_at(interval_base(from.bucket), word);
    const std::uint64_t target = other(word, permuted);
    const bool goes_home = is_guest(word);
    return {from, to, word, target, goes_home ? target : permuted, load_entry(from), goes_home};
  }
  template <bool Shared>
  bool copy(const passage& way) {
    return this->template put<Shared>(
        way.to, way.goes_home ? view_.want_home(way.target) : view_.want_guest(way.target),
        way.entry);
  }

  /// Leaves `next` where a copied entry was, and brings the copy what readers have refreshed there.
  /// Where the copy is fresher already, a reader has done it. Of a wide slot, whose tag is cleared
  /// alone, a refresh by a reader that saw the tag a moment before is lost.
  void leave(const passage& way, std::uint64_t next) {
    std::uint32_t entry = way.entry;
    const auto carry = [&] {
      const std::uint32_t refreshed = load_entry(way.from);
      if (refreshed != entry) replace_if(way.to, entry, refreshed);
      entry = refreshed;
    };
    if constexpr (is_wide) {
      clear(way.from);
      carry();
    } else {
      while (!kill(way.from, entry, next)) carry();
    }
  }

  /// Copies an entry to its other bucket, then clears it here.
  void move(slot_position from, slot_position to, bool by_sweep = false) {
    const passage way = plan_move(from, to);
    COUA_ASSERT(view_.bucket(way.target) == to.bucket);
    Sync::begin_move(sync_, from.bucket, to.bucket);
    copy<false>(way);
    Sync::copied(sync_, way.home());
    leave(way, 0);
    Sync::end_move(sync_, from.bucket, to.bucket);
    counts_.move(way.goes_home, by_sweep);
    note_move(way);
  }

  /// What the sweep and cursors must know of a move.
  void note_move(const passage& way) {
    const std::uint64_t from = way.from.bucket, to = way.to.bucket;
    if (from >= sweep_position_ && to < sweep_position_ && age_of(way.entry) >= epochs_to_live) {
      note_escape(to);
    }
    if (!cursors_.empty()) tell_cursors(way.p, from, to);
  }

  [[gnu::noinline]] void tell_cursors(std::uint64_t p, std::uint64_t from, std::uint64_t to) {
    const std::uint64_t key = view_.permutation.key_of_p(p);
    for (fib_cursor* cursor : cursors_) cursor->on_move(key, from, to);
  }

  bool erase_permuted(std::uint64_t p) {
    slot_position at;
    if (!locate(p, at)) return false;
    counts_.erase(load_entry(at), is_guest(load_relaxed(tags(at.bucket) + at.slot)));
    clear(at);
    return true;
  }

  // Ageing.
  // ----------------------------------------------------------------------------------------------

  void sweep_bucket(std::uint64_t bucket, coua_fib_expired expired, void* context) {
    for (unsigned slot = 0; slot < n_slots; ++slot) {
      const slot_position at{bucket, slot};
      const std::uint64_t word = load_relaxed(tags(bucket) + slot);
      if (word == 0) continue;
      const std::uint32_t entry = load_entry(at);
      if (age_of(entry) < epochs_to_live || !kill(at, entry)) continue;
      counts_.age_out(is_guest(word));
      if (expired != nullptr) {
        const coua_fib_record record = make_record(key_at(interval_base(bucket), word), entry);
        expired(context, &record);
      }
    }
  }

  void fetch_homes(std::uint64_t bucket) {
    for_each_guest(bucket, [&](unsigned, std::uint64_t home) { fetch_bucket(home); });
  }
  /// Erased entries leave room that only newcomers would use: churn at load 0.95 brings 28 % of the
  /// entries into their secondary buckets; with a sweep per tenth of the table replaced, 22 %.
  void send_guests_home(std::uint64_t bucket) {
    for_each_guest(bucket, [&](unsigned slot, std::uint64_t home) {
      if (home == bucket) return;
      const int free = free_slot(home);
      if (free >= 0) move({bucket, slot}, {home, static_cast<unsigned>(free)}, true);
    });
  }

  /// A bucket behind the sweep received an entry that should expire in it.
  void note_escape(std::uint64_t bucket) {
    if (n_escaped_ == escaped_.size()) {
      n_escaped_ = 0;
      sweep_position_ = 0;
    } else {
      escaped_[n_escaped_++] = bucket;
    }
  }

  path_search search_;
  fib_counts counts_;
  std::uint64_t sweep_position_ = 0;
  std::uint64_t tidy_position_ = 0;
  std::array<std::uint64_t, 256> escaped_{};
  std::size_t n_escaped_ = 0;
};

}  // namespace coua
