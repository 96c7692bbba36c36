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

/// Each entry once, as a cursor sees it.
std::unordered_map<std::uint64_t, std::uint32_t> all_entries(coua_fib* fib, fault_log& faults) {
  std::unordered_map<std::uint64_t, std::uint32_t> all;
  cursor_ptr cursor = make_cursor(fib);
  coua_fib_record records[64];
  while (long n = coua_fib_cursor_next(cursor.get(), records, std::size(records))) {
    if (n < 0) {
      faults.report("cursor failed", 0, static_cast<std::uint64_t>(-n), 0);
      break;
    }
    for (long i = 0; i < n; i++)
      if (!all.emplace(records[i].key, records[i].value).second)
        faults.report("a key is in the table twice", records[i].key, records[i].value, 0);
  }
  return all;
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

void load_and_check(const table_shape& shape, bool distinct, fault_log& faults) {
  fib_ptr fib = make_fib(shape);
  std::uint64_t slots = stats_of(fib.get()).slots;
  std::uint32_t mask = (1u << shape.value_bits) - 1;
  std::uint64_t n_stable = insert_stable(fib.get(), slots * 4 / 10, mask);
  std::uint64_t n = slots * 52 / 100;
  reader_threads readers(fib.get(), 1, verifier(n_stable, mask, faults));
  readers.wait_for_two_passes();
  bulk_source source(n, mask, 3, distinct);
  int rc = coua_fib_bulk_load(fib.get(), bulk_source::next, &source, 3, distinct);
  readers.stop();
  coua_fib_stats s = stats_of(fib.get());
  if (rc != (s.refused ? -ENOSPC : 0))
    faults.report("bulk_load answered", 0, static_cast<std::uint64_t>(-rc), s.refused);
  auto all = all_entries(fib.get(), faults);
  if (all.size() != s.entries) faults.report("entries", 0, s.entries, all.size());
  // Refused keys of a load that repeats keys are refused repeatedly.
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < n; i++) {
    auto it = all.find(loaded(i));
    found += it != all.end();
    if (it != all.end() && it->second != (i & mask))
      faults.report("loaded value", loaded(i), it->second, i & mask);
  }
  if (found + s.refused < n) faults.report("loaded keys are lost", 0, found, n - s.refused);
  if (found + n_stable != s.entries) faults.report("found", 0, found + n_stable, s.entries);
  if (s.added != s.entries) faults.report("added", 0, s.added, s.entries);
}

TEST_P(fib_race, a_bulk_load_of_distinct_keys_hides_nothing_from_readers) {
  fault_log faults;
  race([&](auto&) {
    if (faults.count() == 0) load_and_check(GetParam(), true, faults);
  });
  EXPECT_EQ(faults.count(), 0u) << faults.text();
}

TEST_P(fib_race, a_bulk_load_of_the_same_keys_by_every_thread_keeps_each_once) {
  fault_log faults;
  race([&](auto&) {
    if (faults.count() == 0) load_and_check(GetParam(), false, faults);
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
