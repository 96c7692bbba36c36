// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <coua/fib.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <vector>

namespace coua::api {
namespace {

coua_fib_record record_of(std::uint64_t key, std::uint32_t value) {
  coua_fib_record record{};
  record.key = key;
  record.value = value;
  return record;
}

fib small_fib() {
  coua_fib_params params = COUA_FIB_PARAMS_INIT;
  params.entries = 1000;
  fib made;
  EXPECT_EQ(fib::create(params, made), 0);
  return made;
}

TEST(fib_hpp, reports_why_a_table_was_not_made) {
  coua_fib_params params = COUA_FIB_PARAMS_INIT;
  params.entries = 1000;
  params.value_bits = 99;
  fib made;
  std::string why;
  EXPECT_EQ(fib::create(params, made, &why), -EINVAL);
  EXPECT_FALSE(made);
  EXPECT_NE(why.find("value_bits"), std::string::npos) << why;
  EXPECT_EQ(fib::create(params, made), -EINVAL);
}

TEST(fib_hpp, inserts_finds_and_erases) {
  fib table = small_fib();
  const std::array<std::uint8_t, 6> mac{2, 0, 0, 0, 0, 9};
  std::uint64_t key = fib_key(7, mac);
  EXPECT_EQ(key, 0x0007020000000009u);
  EXPECT_EQ(table.insert(record_of(key, 42)), COUA_FIB_ADDED);
  fib_reader reader;
  ASSERT_EQ(table.open(reader), 0);
  fib_entry entry = reader.lookup(key);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry.value(), 42u);
  EXPECT_FALSE(entry.is_static());
  EXPECT_EQ(entry.stamp(), table.stats().epoch);
  EXPECT_EQ(table.refresh(key), 0);
  EXPECT_EQ(table.erase(key), 0);
  EXPECT_FALSE(reader.lookup(key));
  EXPECT_EQ(table.erase(key), -ENOENT);
  EXPECT_STRNE(table.simd(), "");
}

TEST(fib_hpp, batches_take_spans) {
  fib table = small_fib();
  std::vector<coua_fib_record> records;
  std::vector<std::uint64_t> keys;
  for (std::uint32_t i = 0; i < 100; i++) {
    records.push_back(record_of(i * 977, i));
    keys.push_back(i * 977);
  }
  std::vector<std::int8_t> results(100);
  EXPECT_EQ(table.insert_batch(records, results), 100u);
  EXPECT_EQ(results, std::vector<std::int8_t>(100, COUA_FIB_ADDED));
  EXPECT_EQ(table.insert_batch(records), 100u);
  fib_reader reader;
  ASSERT_EQ(table.open(reader), 0);
  std::vector<std::uint32_t> a(100), b(100), c(100), d;
  EXPECT_EQ(reader.lookup_batch(keys, a), 100u);
  EXPECT_EQ(reader.lookup_ahead(keys, b, keys), 100u);
  EXPECT_EQ(reader.lookup_refresh(keys, c), 100u);
  std::vector<std::uint32_t> room(100 + reader.pipeline_depth());
  for (std::uint32_t e : reader.pipeline(keys, room)) d.push_back(e);
  for (std::uint32_t e : reader.pipeline_drain(room)) d.push_back(e);
  EXPECT_EQ(a, b);
  EXPECT_EQ(a, c);
  EXPECT_EQ(a, d);
  for (std::uint32_t i = 0; i < 100; i++) EXPECT_EQ(fib_entry{a[i]}.value(), i);
  EXPECT_EQ(table.erase_batch(keys), 100u);
  EXPECT_EQ(table.stats().entries, 0u);
}

TEST(fib_hpp, a_cursor_hands_out_what_bulk_load_took_in) {
  fib table = small_fib();
  std::atomic<std::uint32_t> next = 0;
  int rc = table.bulk_load(
      [&](unsigned, std::span<coua_fib_record> room) -> std::size_t {
        std::uint32_t i = next++;
        if (i >= 500) return 0;
        room[0] = record_of(i, i);
        return 1;
      },
      2, fib::keys::distinct);
  EXPECT_EQ(rc, 0);
  fib_cursor cursor;
  ASSERT_EQ(table.open(cursor), 0);
  std::vector<bool> seen(500);
  std::array<coua_fib_record, 16> room;
  while (true) {
    std::span<coua_fib_record> records = cursor.next(room);
    if (records.empty()) break;
    for (const coua_fib_record& r : records) {
      EXPECT_EQ(r.key, r.value);
      EXPECT_FALSE(seen.at(r.key));
      seen[r.key] = true;
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 500);
}

// Of a full table half is erased: then there is room in the primary buckets.
TEST(fib_hpp, tidy_sends_entries_home_and_ages_none) {
  fib table = small_fib();
  std::uint64_t n = 0;
  while (table.insert(record_of(n, 1)) == COUA_FIB_ADDED) n++;
  for (std::uint64_t key = 0; key < n; key += 2) EXPECT_EQ(table.erase(key), 0);
  const std::uint64_t before = table.stats().in_secondary;
  const std::uint64_t n_buckets = table.stats().buckets;
  EXPECT_EQ(table.tidy(n_buckets - 1), 0);
  EXPECT_EQ(table.tidy(1), 1);
  EXPECT_GT(table.stats().sent_home, 0u);
  EXPECT_EQ(table.stats().in_secondary, before - table.stats().sent_home);
  EXPECT_EQ(table.stats().aged_out, 0u);
  // It is no sweep of the epoch.
  EXPECT_EQ(table.next_epoch(), -EAGAIN);
  EXPECT_EQ(table.stats().entries, n / 2);
}

TEST(fib_hpp, a_sweep_tells_what_expired) {
  fib table = small_fib();
  table.insert(record_of(5, 6));
  std::vector<std::uint64_t> expired;
  for (int epoch = 0; epoch < 7; epoch++) {
    EXPECT_EQ(table.sweep(UINT64_MAX, [&](const coua_fib_record& r) { expired.push_back(r.key); }),
              1);
    EXPECT_EQ(table.next_epoch(), 0);
  }
  EXPECT_EQ(expired, std::vector<std::uint64_t>{5});
  EXPECT_EQ(table.sweep(1), 0);
}

}  // namespace
}  // namespace coua::api
