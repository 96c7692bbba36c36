// SPDX-License-Identifier: Apache-2.0
//
// Bulk loads on several threads, cursors, handles and statistics, all while readers look up.
#include <cerrno>
#include <cstdio>
#include <unordered_map>

#include "race.h"

namespace coua::test {
namespace {

INSTANTIATE_TEST_SUITE_P(layouts, fib_race, testing::ValuesIn(raced_shapes),
                         [](const auto& shape) { return shape.param.name; });

constexpr std::uint64_t stable(std::uint64_t i) { return random_key(i); }
constexpr std::uint64_t loaded(std::uint64_t i) { return random_key(i + (1ull << 40)); }

std::uint64_t insert_stable(coua_fib* fib, std::uint64_t n, std::uint32_t mask) {
  for (std::uint64_t i = 0; i < n; i++) {
    coua_fib_record r = record_of(stable(i), static_cast<std::uint32_t>(i) & mask);
    if (coua_fib_insert(fib, &r) != COUA_FIB_ADDED) return i;
  }
  return n;
}

/// Looks stable keys up by any mode: each must be there, with its value.
reader_threads::body verifier(std::uint64_t n, std::uint32_t mask, fault_log& faults) {
  return [n, mask, &faults](coua_fib_reader* reader, std::mt19937_64& random) {
    std::uint64_t keys[70];
    std::uint32_t entries[70];
    std::uint64_t first = random() % n;
    for (std::uint64_t i = 0; i < 70; i++) keys[i] = stable((first + i) % n);
    look_up_mode mode = any_mode(random);
    look_up(mode, reader, keys, entries);
    for (std::uint64_t i = 0; i < 70; i++) {
      if (entries[i] == COUA_FIB_MISS)
        faults.report("a present key was missed", keys[i], 0, 1);
      else if (value_of(entries[i]) != ((first + i) % n & mask))
        faults.report("a wrong value", keys[i], entries[i], (first + i) % n & mask);
    }
  };
}

/// Each entry once, as a cursor returns them from where it stands.
std::unordered_map<std::uint64_t, std::uint32_t> rest_of(coua_fib_cursor* cursor,
                                                         fault_log& faults) {
  std::unordered_map<std::uint64_t, std::uint32_t> rest;
  coua_fib_record records[64];
  while (long n = coua_fib_cursor_next(cursor, records, std::size(records))) {
    if (n < 0) {
      faults.report("cursor failed", 0, static_cast<std::uint64_t>(-n), 0);
      break;
    }
    for (long i = 0; i < n; i++)
      if (!rest.emplace(records[i].key, records[i].value).second)
        faults.report("a key is in the table twice", records[i].key, records[i].value, 0);
  }
  return rest;
}

std::unordered_map<std::uint64_t, std::uint32_t> all_entries(coua_fib* fib, fault_log& faults) {
  return rest_of(make_cursor(fib).get(), faults);
}

/// Keys 0 to n - 1. Distinct: each from one thread only; else each from every thread, in the
/// same order, so that threads meet.
struct bulk_source {
  std::uint64_t n;
  std::uint32_t mask;
  unsigned n_threads;
  bool distinct;
  std::vector<std::uint64_t> at;
  std::atomic<unsigned> n_begun{0};

  bulk_source(std::uint64_t n_keys, std::uint32_t value_mask, unsigned threads, bool is_distinct)
      : n(n_keys), mask(value_mask), n_threads(threads), distinct(is_distinct), at(threads) {
    for (unsigned t = 0; t < threads; t++) at[t] = distinct ? t : 0;
  }
  /// Lets the threads start together, if they all come: a small table is loaded by one.
  void meet() {
    n_begun++;
    auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(500);
    while (n_begun < n_threads && std::chrono::steady_clock::now() < end) continue;
  }
  static std::size_t next(void* context, unsigned thread, coua_fib_record* records,
                          std::size_t max) {
    auto* self = static_cast<bulk_source*>(context);
    if (self->at[thread] == (self->distinct ? thread : 0)) self->meet();
    std::size_t count = 0;
    for (std::uint64_t& i = self->at[thread]; count < max && i < self->n;
         i += self->distinct ? self->n_threads : 1)
      records[count++] = record_of(loaded(i), static_cast<std::uint32_t>(i) & self->mask);
    return count;
  }
};

/// What a table holds before a load and what is loaded, in percent of its slots.
struct load_plan {
  std::uint64_t stable, loaded;
  bool distinct;
};

/// Looks up and erases each entry once: then nothing may be left, by any count.
void empty_table(coua_fib* fib, const std::unordered_map<std::uint64_t, std::uint32_t>& all,
                 fault_log& faults) {
  reader_ptr reader = make_reader(fib);
  for (const auto& [key, value] : all) {
    std::uint32_t entry = coua_fib_lookup(reader.get(), key);
    if (entry == COUA_FIB_MISS || value_of(entry) != value)
      faults.report("after the load", key, entry, value);
    if (coua_fib_erase(fib, key) != 0) faults.report("cannot be erased", key, 0, 1);
    if (coua_fib_lookup(reader.get(), key) != COUA_FIB_MISS)
      faults.report("is there after its erase", key, 1, 0);
  }
  if (std::uint64_t n = stats_of(fib).entries; n != 0) faults.report("entries left", 0, n, 0);
  // in_secondary is given as no more than there are entries: one is put, into its primary bucket.
  insert_stable(fib, 1, 1);
  if (std::uint64_t n = stats_of(fib).in_secondary; n != 0)
    faults.report("in_secondary of a table with one entry", 0, n, 0);
}

coua_fib_stats load_and_check(const table_shape& shape, const load_plan& plan, fault_log& faults) {
  fib_ptr fib = make_fib(shape);
  std::uint64_t slots = stats_of(fib.get()).slots;
  std::uint32_t mask = (1u << shape.value_bits) - 1;
  std::uint64_t n_stable = insert_stable(fib.get(), slots * plan.stable / 100, mask);
  // The smallest tables may refuse one of these already.
  const std::uint64_t refused_before = stats_of(fib.get()).refused;
  std::uint64_t n = slots * plan.loaded / 100;
  reader_threads readers(fib.get(), 1, verifier(n_stable, mask, faults));
  readers.wait_for_two_passes();
  bulk_source source(n, mask, 3, plan.distinct);
  int rc = coua_fib_bulk_load(fib.get(), bulk_source::next, &source, 3, plan.distinct);
  readers.stop();
  coua_fib_stats s = stats_of(fib.get());
  const std::uint64_t refused = s.refused - refused_before;
  if (rc != (refused != 0 ? -ENOSPC : 0))
    faults.report("bulk_load answered", 0, static_cast<std::uint64_t>(-rc), refused);
  auto all = all_entries(fib.get(), faults);
  if (all.size() != s.entries) faults.report("entries", 0, s.entries, all.size());
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < n; i++) {
    auto it = all.find(loaded(i));
    found += it != all.end();
    if (it != all.end() && it->second != (i & mask))
      faults.report("loaded value", loaded(i), it->second, i & mask);
  }
  // Refused keys of a load that repeats keys are refused repeatedly.
  if (plan.distinct ? found + refused != n : found + refused < n)
    faults.report("loaded keys are lost", 0, found, n - refused);
  if (found + n_stable != s.entries) faults.report("found", 0, found + n_stable, s.entries);
  if (s.added != s.entries) faults.report("added", 0, s.added, s.entries);
  std::uint64_t n_paths = 0;
  for (std::uint64_t paths : s.path_length) n_paths += paths;
  if (n_paths != s.added) faults.report("paths", 0, n_paths, s.added);
  empty_table(fib.get(), all, faults);
  return s;
}

void race_loads(const table_shape& shape, const load_plan& plan) {
  fault_log faults;
  race([&](auto&) {
    if (faults.count() == 0) load_and_check(shape, plan, faults);
  });
  EXPECT_EQ(faults.count(), 0u) << faults.text();
}

TEST_P(fib_race, a_bulk_load_of_distinct_keys_hides_nothing_from_readers) {
  race_loads(GetParam(), {40, 52, true});
}

TEST_P(fib_race, a_bulk_load_of_the_same_keys_by_every_thread_keeps_each_once) {
  race_loads(GetParam(), {40, 52, false});
}

/// Nearly every key needs moves, so all threads move at once; and most of what they move has a
/// reader.
TEST_P(fib_race, threads_that_move_the_same_entries_lose_and_repeat_none) {
  race_loads(GetParam(), {82, 15, true});
  race_loads(GetParam(), {82, 15, false});
}

/// Thread 0 gives entries that are there new values, the others add keys and so move them.
struct update_source {
  std::uint64_t n_stable, n_loaded;
  std::uint32_t mask;
  std::uint64_t at[3] = {0, 0, 1};

  static std::size_t next(void* context, unsigned thread, coua_fib_record* records,
                          std::size_t max) {
    auto* self = static_cast<update_source*>(context);
    std::size_t count = 0;
    std::uint64_t end = thread == 0 ? self->n_stable : self->n_loaded;
    for (std::uint64_t& i = self->at[thread]; count < max && i < end; i += thread == 0 ? 1 : 2)
      records[count++] = thread == 0
                             ? record_of(stable(i), static_cast<std::uint32_t>(~i) & self->mask)
                             : record_of(loaded(i), static_cast<std::uint32_t>(i) & self->mask);
    return count;
  }
};

TEST_P(fib_race, a_bulk_load_updates_entries_that_others_of_its_threads_move) {
  fault_log faults;
  race([&](auto&) {
    fib_ptr fib = make_fib(GetParam());
    std::uint64_t slots = stats_of(fib.get()).slots;
    std::uint64_t n_stable = insert_stable(fib.get(), slots * 82 / 100, value_mask());
    update_source source{n_stable, slots * 13 / 100, value_mask()};
    coua_fib_bulk_load(fib.get(), update_source::next, &source, 3, false);
    auto all = all_entries(fib.get(), faults);
    for (std::uint64_t i = 0; i < n_stable; i++)
      if (auto it = all.find(stable(i)); it == all.end() || it->second != (~i & value_mask()))
        faults.report("not updated", stable(i), it == all.end() ? 0 : it->second,
                      ~i & value_mask());
    coua_fib_stats s = stats_of(fib.get());
    if (s.updated != n_stable) faults.report("updated", 0, s.updated, n_stable);
    if (s.entries != all.size()) faults.report("entries", 0, s.entries, all.size());
  });
  EXPECT_EQ(faults.count(), 0u) << faults.text();
}

TEST_P(fib_race, a_load_of_more_than_fits_fills_the_table_and_counts_what_it_refuses) {
  // Two buckets of four slots fill less far, and how far few buckets do depends on the hash key.
  bool small = GetParam().layout == COUA_FIB_LAYOUT_PACKED4 || GetParam().buckets < 100;
  std::uint64_t least_percent = small ? 60 : 97;
  fault_log faults;
  race([&](auto&) {
    if (faults.count() != 0) return;
    coua_fib_stats s = load_and_check(GetParam(), {80, 30, true}, faults);
    std::uint64_t least = s.slots * least_percent / 100;
    if (s.entries < least) faults.report("refused too early", 0, s.entries, least);
  });
  EXPECT_EQ(faults.count(), 0u) << faults.text();
}

TEST_P(fib_race, a_cursor_that_is_open_during_a_bulk_load_returns_what_stays_exactly_once) {
  fault_log faults;
  race([&](auto& random) {
    fib_ptr fib = make_fib(GetParam());
    std::uint64_t slots = stats_of(fib.get()).slots;
    std::uint64_t n_stable = insert_stable(fib.get(), slots * 82 / 100, value_mask());
    cursor_ptr cursor = make_cursor(fib.get());
    coua_fib_record records[8];
    std::unordered_map<std::uint64_t, std::uint32_t> seen;
    for (std::uint64_t steps = random() % GetParam().buckets; steps > 0; steps--)
      for (long n = coua_fib_cursor_next(cursor.get(), records, 8); n > 0; n--)
        seen.emplace(records[n - 1].key, records[n - 1].value);
    bulk_source source(slots * 13 / 100, value_mask(), 3, true);
    coua_fib_bulk_load(fib.get(), bulk_source::next, &source, 3, true);
    for (const auto& [key, value] : rest_of(cursor.get(), faults))
      if (!seen.emplace(key, value).second) faults.report("returned twice", key, value, 0);
    for (std::uint64_t i = 0; i < n_stable; i++)
      if (!seen.contains(stable(i))) faults.report("not returned", stable(i), 0, 1);
  });
  EXPECT_EQ(faults.count(), 0u) << faults.text();
}

TEST_P(fib_race, a_cursor_among_moves_and_refreshes_returns_what_stays_exactly_once) {
  fib_ptr fib = make_fib(GetParam());
  std::uint64_t slots = stats_of(fib.get()).slots;
  std::uint32_t mask = value_mask();
  std::uint64_t n_stable = insert_stable(fib.get(), slots * 6 / 10, mask),
                n_churn = slots * 34 / 100;
  fault_log faults;
  reader_threads readers(fib.get(), 2, verifier(n_stable, mask, faults));
  std::uint64_t next = 0, rounds = 0;
  auto churn = [&] {
    coua_fib_record r = record_of(loaded(next), 1);
    coua_fib_insert(fib.get(), &r);
    if (next >= n_churn) coua_fib_erase(fib.get(), loaded(next - n_churn));
    next++;
  };
  for (std::uint64_t i = 0; i < n_churn; i++) churn();
  race([&](auto& random) {
    std::unordered_map<std::uint64_t, int> seen;
    cursor_ptr cursor = make_cursor(fib.get());
    coua_fib_record records[24];
    while (long n = coua_fib_cursor_next(cursor.get(), records, 8 + random() % 17)) {
      for (long i = 0; i < n; i++) seen[records[i].key]++;
      for (std::uint64_t i = random() % 16; i > 0; i--) churn();
    }
    for (std::uint64_t i = 0; i < n_stable; i++)
      if (seen[stable(i)] != 1)
        faults.report("returned", stable(i), static_cast<std::uint64_t>(seen[stable(i)]), 1);
    if (random() % 4 == 0) {  // so that readers have something to refresh
      while (coua_fib_sweep(fib.get(), UINT64_MAX, nullptr, nullptr) != 1) continue;
      coua_fib_next_epoch(fib.get());
      for (std::uint64_t i = 0; i < n_stable; i++) coua_fib_refresh(fib.get(), stable(i));
    }
    rounds++;
  });
  readers.stop();
  EXPECT_EQ(faults.count(), 0u) << faults.text();
  EXPECT_GT(rounds, 0u);
}

TEST_P(fib_race, handles_and_statistics_belong_to_any_thread) {
  fib_ptr fib = make_fib(GetParam());
  std::uint64_t slots = stats_of(fib.get()).slots;
  std::uint32_t mask = value_mask();
  std::uint64_t n_stable = insert_stable(fib.get(), slots / 2, mask);
  fault_log faults;
  reader_threads readers(fib.get(), 2, [&](coua_fib_reader*, std::mt19937_64& random) {
    reader_ptr mine = make_reader(fib.get());
    verifier(n_stable, mask, faults)(mine.get(), random);
    coua_fib_stats s = stats_of(fib.get());
    if (s.entries > s.slots || s.slots != slots) faults.report("entries", 0, s.entries, slots);
  });
  race([&](auto& random) {
    std::uint64_t i = random() % (slots * 4 / 10);
    coua_fib_record r = record_of(loaded(i), 1);
    coua_fib_insert(fib.get(), &r);
    coua_fib_erase(fib.get(), loaded(random() % (slots * 4 / 10)));
  });
  readers.stop();
  EXPECT_EQ(faults.count(), 0u) << faults.text();
}

}  // namespace
}  // namespace coua::test
