// SPDX-License-Identifier: Apache-2.0
//
// Readers that refresh against a writer that erases, updates, moves and sweeps: the one place where
// a reader stores into the table.
#include <cstdio>
#include <unordered_set>

#include "race.h"

namespace coua::test {
namespace {

INSTANTIATE_TEST_SUITE_P(layouts, fib_race, testing::ValuesIn(raced_shapes),
                         [](const auto& shape) { return shape.param.name; });

constexpr std::uint64_t victim(std::uint64_t i) { return random_key(i); }
constexpr std::uint64_t filler(std::uint64_t i) { return random_key(i + (1ull << 40)); }

void end_epoch(coua_fib* fib, fault_log& faults) {
  for (int i = 0; coua_fib_sweep(fib, UINT64_MAX, nullptr, nullptr) != 1; i++)
    if (i > 1000) return faults.report("the sweep never ends", 0, 0, 0);
  if (coua_fib_next_epoch(fib) != 0) faults.report("next_epoch refused after a sweep", 0, 0, 0);
}

/// Refreshes random keys out of `n`, in every mode that there is, most of all by refresh.
reader_threads::body refresher(std::uint64_t n) {
  return [n](coua_fib_reader* reader, std::mt19937_64& random) {
    std::uint64_t keys[64];
    std::uint32_t entries[64];
    for (std::uint64_t& key : keys) key = victim(random() % n);
    auto mode = random() % 8 ? look_up_mode::refresh : look_up_mode::batch;
    look_up(mode, reader, keys, entries);
  };
}

TEST_P(fib_race, a_refresh_revives_no_erased_entry_and_undoes_no_update) {
  fib_ptr fib = make_fib(GetParam());
  std::uint64_t slots = stats_of(fib.get()).slots;
  std::uint64_t n = slots / 3, n_filler = slots * 94 / 100 - n;
  std::uint32_t mask = value_mask();
  std::uint64_t filled = 0;
  for (std::uint64_t i = 0; i < n_filler; i++) {
    coua_fib_record r = record_of(filler(i), 0, true);
    filled += coua_fib_insert(fib.get(), &r) == COUA_FIB_ADDED;
  }
  fault_log faults;
  reader_ptr own = make_reader(fib.get());
  reader_threads readers(fib.get(), 2, refresher(n));
  std::uint64_t erased = 0;
  std::uint32_t round = 0;
  auto insert = [&](std::uint64_t i) {
    coua_fib_record r = record_of(victim(i), round++ & mask);
    if (coua_fib_insert(fib.get(), &r) == COUA_FIB_FULL) return;
    std::uint32_t entry = coua_fib_lookup(own.get(), r.key);
    if (entry == COUA_FIB_MISS || value_of(entry) != r.value)
      faults.report("an update was undone", r.key, entry, r.value);
  };
  const auto write = [&](auto& random) {
    for (std::uint64_t i = 0; i < n; i++) insert(i);
    end_epoch(fib.get(), faults);  // from now on every look-up by refresh stores
    for (std::uint64_t i = 0; i < n; i++)
      if (random() % 4 == 0) insert(i);
    end_epoch(fib.get(), faults);
    for (std::uint64_t i = 0; i < n; i++) {
      erased += coua_fib_erase(fib.get(), victim(i)) == 0;
      if (coua_fib_lookup(own.get(), victim(i)) != COUA_FIB_MISS)
        faults.report("revived at once", victim(i), 0, 0);
    }
    for (std::uint64_t i = 0; i < n; i++)
      if (coua_fib_lookup(own.get(), victim(i)) != COUA_FIB_MISS)
        faults.report("revived", victim(i), 0, 0);
    if (std::uint64_t left = stats_of(fib.get()).entries; left != filled)
      faults.report("entries left", 0, left, filled);
  };
  race_until([&] { return erased > 100; }, write);
  readers.stop();
  std::printf("%s, %s: %lu erased among refreshes, %lu faults\n", GetParam().name,
              coua_fib_simd(fib.get()), static_cast<unsigned long>(erased),
              static_cast<unsigned long>(faults.count()));
  EXPECT_EQ(faults.count(), 0u) << faults.text();
  EXPECT_GT(erased, 100u);
}

/// The sets of the sweep test: hot keys are refreshed in every pass of every reader, cold ones
/// never, and the others now and then.
struct aged_keys {
  std::uint64_t n;
  bool hot(std::uint64_t i) const { return i % 3 == 0; }
  bool cold(std::uint64_t i) const { return i % 3 == 1; }
};

TEST_P(fib_race, a_sweep_takes_what_nobody_refreshed_and_nothing_else) {
  fib_ptr fib = make_fib(GetParam());
  // Of two buckets, half is what has room under any hash key.
  const std::uint64_t slots = stats_of(fib.get()).slots;
  aged_keys keys{slots < 256 ? slots / 2 : std::min<std::uint64_t>(slots * 90 / 100, 3000)};
  std::vector<std::uint64_t> hot;
  for (std::uint64_t i = 0; i < keys.n; i++) {
    coua_fib_record r = record_of(victim(i), static_cast<std::uint32_t>(i) & value_mask());
    ASSERT_EQ(coua_fib_insert(fib.get(), &r), COUA_FIB_ADDED);
    if (keys.hot(i)) hot.push_back(victim(i));
  }
  fault_log faults;
  reader_threads readers(fib.get(), 2, [&](coua_fib_reader* reader, std::mt19937_64& random) {
    std::vector<std::uint32_t> entries(hot.size());
    coua_fib_lookup_refresh(reader, hot.data(), hot.size(), entries.data());
    for (std::size_t i = 0; i < hot.size(); i++)
      if (entries[i] == COUA_FIB_MISS) faults.report("a refreshed key was missed", hot[i], 0, 1);
    for (int i = 0; i < 8; i++) {
      std::uint64_t some = random() % keys.n;
      std::uint64_t key = victim(some);
      std::uint32_t entry;
      if (keys.cold(some))
        coua_fib_lookup_batch(reader, &key, 1, &entry);
      else
        coua_fib_lookup_refresh(reader, &key, 1, &entry);
    }
  });
  struct expired_list {
    std::vector<coua_fib_record> records;
    static void take(void* context, const coua_fib_record* record) {
      static_cast<expired_list*>(context)->records.push_back(*record);
    }
  };
  std::unordered_set<std::uint64_t> hot_set(hot.begin(), hot.end());
  std::uint64_t epochs = 0, n_expired = 0, cold_since = 0;
  reader_ptr own = make_reader(fib.get());
  auto end = std::chrono::steady_clock::now() + race_time() * 2;
  while (std::chrono::steady_clock::now() < end || epochs < 8) {
    readers.wait_for_two_passes();
    expired_list expired;
    for (int i = 0; coua_fib_sweep(fib.get(), 5, expired_list::take, &expired) != 1; i++)
      ASSERT_LT(i, 1'000'000);
    for (const coua_fib_record& r : expired.records) {
      if (hot_set.contains(r.key)) faults.report("a refreshed key expired", r.key, r.age, 0);
      if (coua_fib_lookup(own.get(), r.key) != COUA_FIB_MISS)
        faults.report("an expired key is still there", r.key, 0, 0);
    }
    std::uint64_t left = stats_of(fib.get()).entries;
    if (left + expired.records.size() != keys.n)
      faults.report("entries and expired do not add up", 0, left, keys.n - expired.records.size());
    bool cold_due = epochs - cold_since == 6;
    if (!cold_due && expired.records.size() > keys.n / 3)
      faults.report("cold keys expired early", 0, epochs - cold_since, 6);
    for (std::uint64_t i = 0; cold_due && i < keys.n; i++)
      if (keys.cold(i) && coua_fib_lookup(own.get(), victim(i)) != COUA_FIB_MISS)
        faults.report("a cold key did not expire", victim(i), 0, 0);
    n_expired += expired.records.size();
    for (coua_fib_record r : expired.records)
      if (coua_fib_insert(fib.get(), &r) == COUA_FIB_FULL) faults.report("full", r.key, 0, 0);
    ASSERT_EQ(coua_fib_next_epoch(fib.get()), 0);
    if (cold_due) cold_since = epochs;
    epochs++;
  }
  readers.stop();
  std::printf("%s: %lu epochs, %lu expired\n", GetParam().name, static_cast<unsigned long>(epochs),
              static_cast<unsigned long>(n_expired));
  EXPECT_EQ(faults.count(), 0u) << faults.text();
  EXPECT_GT(n_expired, 0u);
}

}  // namespace
}  // namespace coua::test
