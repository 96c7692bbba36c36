// SPDX-License-Identifier: Apache-2.0
//
// Filling a table on several threads. Most keys find room in one of their two buckets without a
// move: every thread puts those by compare-exchange of an empty slot, with the buckets of a group
// of keys fetched first. The few that need moves (7 in 100 at load 0.95) are put aside and added in
// groups:
//
//   1. A search for each (path_search.h), without a lock. It is the long part: it reads ten lines
//      and more, while others fill what it takes for free and move what it takes for there.
//   2. Under the lock of moves, each path is carried out from its free end. A free slot is taken by
//      compare-exchange. An entry is moved if the slot still holds one whose other bucket is the
//      one that the path leads to; which entry of these is no matter, and the slot itself says.
//      What was moved last leaves its slot directly to the new key.
//   3. A key whose path was cut, by a free slot that was taken or an entry that went away, is
//      looked for again. The moves made so far were whole moves, and another thread got on instead.
//
// So one thread at a time moves, whatever the number of threads: clock and stamps have one writer,
// and the rules for readers and their proof (fib_table.h) hold as they stand. The lock is held for
// some tens of nanoseconds per key, in which all lines are in the cache; a search takes some
// hundred. With eight threads and more at load 0.95, keys wait for it (docs/fib.md). A lock per
// stripe of buckets, with an atomic clock, would let moves overlap as well: its three locked
// instructions a key, on lines that go from core to core, cost more than they gained on two.
//
// A key is refused when no path was found within the search budget, and no entry moved while it was
// looked for: slots are cleared by moves alone, so a search by one thread alone would have found
// none either. Where others move all the time, the fourth search in vain is the last.
//
// Where a table is large, keys are sorted by part of it before they are put (table_regions.h).
//
// Unless the caller vouches that keys are distinct, a key is looked up first, under a lock chosen
// by its primary bucket: two threads with the same key meet there. Order of locks: key, then moves.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/flag_lock.h"
#include "base/parallel.h"
#include "base/prefetch.h"
#include "coua/fib.h"
#include "table/fib_counts.h"
#include "table/placement.h"
#include "table/table_regions.h"

namespace coua {

template <class Table>
class fib_bulk_load {
 public:
  fib_bulk_load(Table& table, coua_fib_bulk_source next, void* context, unsigned threads,
                bool distinct)
      : table_(table),
        next_(next),
        context_(context),
        n_threads_(threads != 0 ? threads
                                : std::clamp(std::thread::hardware_concurrency(), 1u,
                                             unsigned{COUA_FIB_LOAD_THREADS_MAX})),
        distinct_(distinct) {}

  /// 0, -EINVAL (some records were out of range), -ENOSPC (some were refused); all others are in.
  /// Throws bad_alloc; then some are in.
  int run() {
    const std::uint64_t refused_before = table_.counts_.refused();
    if constexpr (Table::is_wide) {
      for (unsigned thread = 0; thread < n_threads_; ++thread) load_alone(thread);
    } else {
      in_parallel(n_threads_, [this](unsigned thread) { load(thread); });
    }
    if (n_invalid_ != 0) return -EINVAL;
    return table_.counts_.refused() != refused_before ? -ENOSPC : 0;
  }

 private:
  static constexpr std::size_t chunk = 256;
  static constexpr std::size_t group = 64;
  static constexpr std::size_t moved_group = 16;
  /// Keys that need moves, before they are added: their secondary buckets, just looked at, are then
  /// still in the cache.
  static constexpr std::size_t max_aside = 1024;
  static constexpr std::size_t n_key_locks = 4096;
  /// Searches in vain before a key is refused though entries moved meanwhile. Each saw its whole
  /// budget of buckets full.
  static constexpr unsigned max_vain = 4;

  struct item {
    std::uint64_t p;
    std::uint32_t entry;
  };

  /// Items on their way into the table: the buckets of a group are asked for when it is whole, and
  /// it is put when the next one is.
  class stage {
   public:
    /// True when that made a group whole.
    bool push(const item& added) {
      items_[n_++ % (2 * group)] = added;
      return n_ % group == 0;
    }
    std::span<const item> newest() const { return {items_ + (n_ - group) % (2 * group), group}; }
    /// Whether a group waits that was pushed before another whole one.
    bool ripe() const { return n_ - n_taken_ == 2 * group; }
    bool empty() const { return n_ == n_taken_; }
    std::span<const item> take() {
      const std::size_t first = n_taken_ % (2 * group);
      const std::size_t n = std::min(group, n_ - n_taken_);
      n_taken_ += n;
      return {items_ + first, n};
    }

   private:
    std::size_t n_ = 0, n_taken_ = 0;
    item items_[2 * group];
  };

  std::size_t read(unsigned thread, coua_fib_record* records) {
    return std::min(next_(context_, thread, records, chunk), chunk);
  }

  /// Small tables: one thread, as the writer.
  void load_alone(unsigned thread) {
    coua_fib_record records[chunk] = {};  // a source may leave what is reserved as it is
    std::int8_t results[chunk];
    while (const std::size_t n = read(thread, records)) {
      table_.insert_batch({records, n}, results);
      for (std::size_t i = 0; i < n; ++i) n_invalid_ += results[i] < 0;
    }
  }

  /// What a thread has under way, in the order in which an item passes it.
  struct work {
    work(const region_plan& plan, std::size_t budget)
        : by_home(plan), by_second({plan.bits, plan.capacity / 2}), search(budget) {}

    table_regions<item> by_home;
    stage homes;  // their primary buckets are coming
    table_regions<item> by_second;
    stage seconds;            // those whose primary bucket was full
    std::vector<item> aside;  // those whose secondary bucket was full too
    path_search search;
    fib_counts counts;
  };

  /// Also of what is in the table when memory ends.
  struct added_counts {
    fib_bulk_load& of;
    const fib_counts& counts;
    ~added_counts() {
      const std::lock_guard guard(of.mutex_);
      of.table_.counts_.add_many(counts);
    }
  };

  void load(unsigned thread) {
    coua_fib_record records[chunk] = {};  // a source may leave what is reserved as it is
    work mine(region_plan::of(table_.geometry_.bytes(), n_threads_, sizeof(item)),
              table_.search_.budget());
    const added_counts in_the_end{*this, mine.counts};
    const auto start = [&](const item& key) { start_home(mine, key); };
    while (const std::size_t n = read(thread, records)) {
      for (std::size_t i = 0; i < n; ++i) {
        if (!table_.valid(records[i])) {
          ++n_invalid_;
          continue;
        }
        const std::uint64_t p = table_.view_.permutation.p(records[i].key);
        mine.by_home.add(p, {p, table_.make_entry(records[i])}, start);
      }
    }
    mine.by_home.finish(start);
    while (!mine.homes.empty()) put_homes(mine);
    mine.by_second.finish([&](const item& key) { start_second(mine, key); });
    while (!mine.seconds.empty()) put_seconds(mine);
    add_with_moves(mine);
  }

  void start_home(work& mine, const item& key) {
    if (!mine.homes.push(key)) return;
    for (const item& each : mine.homes.newest()) {
      fetch_early(home_of(each));
      if (!distinct_) fetch_early(second_of(each));
    }
    if (mine.homes.ripe()) put_homes(mine);
  }
  void start_second(work& mine, const item& key) {
    if (!mine.seconds.push(key)) return;
    for (const item& each : mine.seconds.newest()) fetch_early(second_of(each));
    if (mine.seconds.ripe()) put_seconds(mine);
  }
  /// In a loop of its own: the fewer instructions between fetches, the more of them are under way.
  void fetch_early(std::uint64_t bucket) const { prefetch_to_second_level(table_.tags(bucket)); }

  void put_homes(work& mine) {
    const std::span<const item> keys = mine.homes.take();
    if (!distinct_) {
      for (const item& key : keys) put_checked(key, mine);
      return;
    }
    put_group<false>(keys, mine.counts, [&](const item& key) {
      mine.by_second.add(q_of(key), key, [&](const item& each) { start_second(mine, each); });
    });
  }

  void put_seconds(work& mine) {
    put_group<true>(mine.seconds.take(), mine.counts,
                    [&](const item& key) { mine.aside.push_back(key); });
    if (mine.aside.size() >= max_aside) add_with_moves(mine);
  }

  /// Puts keys into free slots of their primary or secondary buckets; calls full(key) where there
  /// is none. A compare-exchange lets nothing behind it start early: so all slots are chosen before
  /// the first is taken.
  template <bool AsGuests, typename Full>
  void put_group(std::span<const item> keys, fib_counts& counts, Full full) {
    slot_position at[group];
    bool found[group];
    for (std::size_t i = 0; i < keys.size(); ++i) {
      at[i].bucket = AsGuests ? second_of(keys[i]) : home_of(keys[i]);
      const int slot = table_.free_slot(at[i].bucket);
      found[i] = slot >= 0;
      at[i].slot = static_cast<unsigned>(slot);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (found[i] && put_at(at[i], keys[i], counts, AsGuests)) continue;
      if (!found[i] || !put_into(at[i].bucket, keys[i], counts, AsGuests)) full(keys[i]);
    }
  }

  void put_checked(const item& key, work& mine) {
    const flag_lock lock((*key_locks_)[home_of(key) % n_key_locks]);
    if (is_present(key.p)) {
      replace(key, mine.counts);
    } else if (!put_into(home_of(key), key, mine.counts, false) &&
               !put_into(second_of(key), key, mine.counts, true)) {
      add_with_moves(key, mine);
    }
  }

  bool is_present(std::uint64_t p) const {
    for (;;) {
      const std::uint64_t since = now();
      slot_position at;
      if (table_.locate(p, at)) return true;
      if (!table_.view_.moved_since(since, table_.view_.bucket(p))) return false;
    }
  }

  void replace(const item& key, fib_counts& counts) {
    const flag_lock still(moves_);  // the entry stays where it is
    slot_position at;
    if (!table_.locate(key.p, at)) return;
    counts.replace(table_.load_entry(at), key.entry);
    table_.store_entry(at, key.entry);
  }

  std::uint64_t home_of(const item& key) const { return table_.view_.bucket(key.p); }
  std::uint64_t second_of(const item& key) const { return table_.view_.bucket(q_of(key)); }
  std::uint64_t q_of(const item& key) const { return table_.view_.permutation.q_of_p(key.p); }

  /// False when another thread took the slot.
  bool put_at(slot_position at, const item& key, fib_counts& counts, bool as_guest) {
    const std::uint64_t want =
        as_guest ? table_.view_.want_guest(q_of(key)) : table_.view_.want_home(key.p);
    if (!table_.template put<true>(at, want, key.entry)) return false;
    counts.add(key.entry, as_guest, 0);
    return true;
  }
  bool put_into(std::uint64_t bucket, const item& key, fib_counts& counts, bool as_guest) {
    for (int slot; (slot = table_.free_slot(bucket)) >= 0;) {
      if (put_at({bucket, static_cast<unsigned>(slot)}, key, counts, as_guest)) return true;
    }
    return false;
  }

  /// A search looks at many buckets, one after the other. They are known early: those of a key are
  /// fetched two groups ahead, and the buckets that its entries could move to one group ahead.
  void add_with_moves(work& mine) {
    const auto group_at = [&](std::size_t at) {
      const std::span<const item> rest =
          std::span(mine.aside).subspan(std::min(at, mine.aside.size()));
      return rest.first(std::min(moved_group, rest.size()));
    };
    for (std::size_t at = 0; at < mine.aside.size() + 2 * moved_group; at += moved_group) {
      for (const item& key : group_at(at)) {
        fetch_early(home_of(key));
        fetch_early(second_of(key));
      }
      if (at < moved_group) continue;
      for (const item& key : group_at(at - moved_group)) fetch_others(key);
      if (at >= 2 * moved_group) add_group(group_at(at - 2 * moved_group), mine);
    }
    mine.aside.clear();
  }

  /// All searches of a group come before its first move: so their reads run side by side, and the
  /// lock is held for the moves alone.
  void add_group(std::span<const item> keys, work& mine) {
    room_path rooms[moved_group];
    bool found[moved_group], is_in[moved_group];
    const std::uint64_t since = now();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      found[i] = table_.find_room_for(keys[i].p, mine.search, rooms[i]);
    }
    {
      const flag_lock moving(moves_);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        is_in[i] = found[i] && table_.add_at(rooms[i], keys[i].p, keys[i].entry, mine.counts);
      }
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (is_in[i]) continue;
      if (!found[i] && now() == since) {
        mine.counts.refuse();
      } else {
        add_with_moves(keys[i], mine);
      }
    }
  }

  /// One key. What a search found may be taken when it is used: then it searches again. One that
  /// found nothing stands if no entry moved meanwhile, since moves alone make room where there was
  /// none.
  void add_with_moves(const item& key, work& mine) {
    for (unsigned n_vain = 0; n_vain < max_vain;) {
      room_path room;
      const std::uint64_t since = now();
      if (table_.find_room_for(key.p, mine.search, room)) {
        const flag_lock moving(moves_);
        if (table_.add_at(room, key.p, key.entry, mine.counts)) return;
      } else if (now() == since) {
        break;
      } else {
        ++n_vain;
      }
    }
    mine.counts.refuse();
  }

  /// Moves so far.
  std::uint64_t now() const { return load_acquire(table_.view_.clock); }

  void fetch_others(const item& key) {
    std::uint64_t others[Table::n_slots];
    table_.other_buckets(home_of(key), others);
    for (const std::uint64_t other : others) fetch_early(other);
  }

  using lock_array = std::array<std::atomic_flag, n_key_locks>;

  Table& table_;
  coua_fib_bulk_source next_;
  void* context_;
  unsigned n_threads_;
  bool distinct_;
  std::mutex mutex_;
  std::unique_ptr<lock_array> key_locks_ = std::make_unique<lock_array>();
  std::atomic<std::uint64_t> n_invalid_{0};
  alignas(64) std::atomic_flag moves_;  // who moves entries holds it
};

}  // namespace coua
