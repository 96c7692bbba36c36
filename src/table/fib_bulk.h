// SPDX-License-Identifier: Apache-2.0
//
// Filling a table on several threads. Most keys find room in one of their two buckets without a
// move: every thread puts those by compare-exchange of an empty slot, with the buckets of a group
// of keys fetched first. The few that need moves (7 in 100 at load 0.95) are put aside, and one
// thread at a time, under a mutex, adds them as a single writer would; the others go on filling
// empty slots meanwhile, and never move or clear one. So the rules for readers hold unchanged.
// Where a table is large, keys are sorted by part of it before they are put (table_regions.h).
//
// Unless the caller vouches that keys are distinct, a key is looked up first, under a lock chosen
// by its primary bucket: two threads with the same key meet there. Order of locks: key, then mutex.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "base/prefetch.h"
#include "coua/fib.h"
#include "table/fib_counts.h"
#include "table/path_search.h"
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
        n_threads_(threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency())),
        distinct_(distinct) {}

  /// 0, -EINVAL (some records were out of range), -ENOSPC (some were refused); all others are in.
  int run() {
    const std::uint64_t refused_before = table_.counts_.refused();
    if constexpr (Table::is_wide) {
      for (unsigned thread = 0; thread < n_threads_; ++thread) load_alone(thread);
    } else {
      std::vector<std::jthread> threads;
      threads.reserve(n_threads_ - 1);
      unsigned n_started = 1;
      try {
        for (; n_started < n_threads_; ++n_started) {
          threads.emplace_back([this, i = n_started] { load(i); });
        }
      } catch (const std::system_error&) {
        // The system has no more threads: this one does the work of those that are missing.
      }
      load(0);
      for (unsigned i = n_started; i < n_threads_; ++i) load(i);
    }
    if (n_invalid_ != 0) return -EINVAL;
    return table_.counts_.refused() != refused_before ? -ENOSPC : 0;
  }

 private:
  static constexpr std::size_t chunk = 256;
  static constexpr std::size_t group = 64;
  static constexpr std::size_t moved_group = 16;
  static constexpr std::size_t n_locks = 4096;

  static constexpr std::size_t max_aside = 64 << 10;

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

  /// A byte to spin on: held for some tens of nanoseconds, and rarely wanted by two.
  class key_lock {
   public:
    explicit key_lock(std::atomic_flag& flag) : flag_(flag) {
      while (flag_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    }
    ~key_lock() { flag_.clear(std::memory_order_release); }
    key_lock(const key_lock&) = delete;
    key_lock& operator=(const key_lock&) = delete;

   private:
    std::atomic_flag& flag_;
  };

  std::size_t read(unsigned thread, coua_fib_record* records) {
    return std::min(next_(context_, thread, records, chunk), chunk);
  }

  /// Small tables: one thread, as the writer.
  void load_alone(unsigned thread) {
    coua_fib_record records[chunk];
    std::int8_t results[chunk];
    while (const std::size_t n = read(thread, records)) {
      table_.insert_batch({records, n}, results);
      for (std::size_t i = 0; i < n; ++i) n_invalid_ += results[i] < 0;
    }
  }

  /// What a thread has under way, in the order in which an item passes it.
  struct work {
    explicit work(const region_plan& plan)
        : by_home(plan), by_second({plan.bits, plan.capacity / 2}) {}

    table_regions<item> by_home;
    stage homes;  // their primary buckets are coming
    table_regions<item> by_second;
    stage seconds;  // those whose primary bucket was full
    std::vector<item> aside;
    fib_counts counts;
  };

  void load(unsigned thread) {
    coua_fib_record records[chunk];
    work mine(region_plan::of(table_.geometry_.bytes(), n_threads_, sizeof(item)));
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
    add_with_moves(mine.aside, false);
    const std::lock_guard guard(mutex_);
    table_.counts_.add_many(mine.counts);
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
      for (const item& key : keys) put_checked(key, mine.counts);
      return;
    }
    put_group<false>(keys, mine.counts, [&](const item& key) {
      mine.by_second.add(q_of(key), key, [&](const item& each) { start_second(mine, each); });
    });
  }

  void put_seconds(work& mine) {
    put_group<true>(mine.seconds.take(), mine.counts,
                    [&](const item& key) { mine.aside.push_back(key); });
    // While another thread moves, this one goes on filling, up to a point.
    if (mine.aside.size() >= chunk) add_with_moves(mine.aside, mine.aside.size() < max_aside);
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

  void put_checked(const item& key, fib_counts& counts) {
    const key_lock lock((*locks_)[home_of(key) % n_locks]);
    if (is_present(key.p)) {
      replace(key);
    } else if (!put_into(home_of(key), key, counts, false) &&
               !put_into(second_of(key), key, counts, true)) {
      const std::lock_guard guard(mutex_);
      table_.template add<true>(key.p, key.entry);
    }
  }

  bool is_present(std::uint64_t p) const {
    for (;;) {
      const std::uint64_t since = load_acquire(table_.view_.clock);
      slot_position at;
      if (table_.locate(p, at)) return true;
      if (!table_.view_.moved_since(since, table_.view_.bucket(p))) return false;
    }
  }

  void replace(const item& key) {
    const std::lock_guard guard(mutex_);  // keeps the entry where it is
    slot_position at;
    if (!table_.locate(key.p, at)) return;
    table_.counts_.replace(table_.load_entry(at), key.entry);
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
  /// `may_stay`: they may stay aside if another thread is at it.
  void add_with_moves(std::vector<item>& aside, bool may_stay) {
    std::unique_lock guard(mutex_, std::defer_lock);
    if (!may_stay) {
      guard.lock();
    } else if (!guard.try_lock()) {
      return;
    }
    const auto group_at = [&](std::size_t at) {
      const std::span<const item> rest = std::span(aside).subspan(std::min(at, aside.size()));
      return rest.first(std::min(moved_group, rest.size()));
    };
    for (std::size_t at = 0; at < aside.size() + 2 * moved_group; at += moved_group) {
      for (const item& key : group_at(at)) {
        fetch_early(home_of(key));
        fetch_early(second_of(key));
      }
      if (at < moved_group) continue;
      for (const item& key : group_at(at - moved_group)) fetch_others(key);
      if (at < 2 * moved_group) continue;
      for (const item& key : group_at(at - 2 * moved_group)) {
        table_.template add<true>(key.p, key.entry);
      }
    }
    aside.clear();
  }

  void fetch_others(const item& key) {
    std::uint64_t others[Table::n_slots];
    table_.other_buckets(home_of(key), others);
    for (const std::uint64_t other : others) fetch_early(other);
  }

  using lock_array = std::array<std::atomic_flag, n_locks>;

  Table& table_;
  coua_fib_bulk_source next_;
  void* context_;
  unsigned n_threads_;
  bool distinct_;
  std::mutex mutex_;
  std::unique_ptr<lock_array> locks_ = std::make_unique<lock_array>();
  std::atomic<std::uint64_t> n_invalid_{0};
};

}  // namespace coua
