// SPDX-License-Identifier: Apache-2.0
//
// Cursors while entries move: the writer's calls allocate nothing, nothing is left out or repeated,
// and a cursor that cannot remember all says so.
#include "flow/flow_cursor.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>
#include <optional>
#include <set>

#include "base/test_little_memory.h"
#include "flow_handles.h"
#include "simd/flow_lookup/policies.h"

namespace coua::test {
namespace {

constexpr std::uint64_t n_entries = 40'000;

TEST(flow_cursor, the_writer_allocates_nothing_while_entries_move_across_it) {
  for (const std::uint32_t key_bytes : {16u, 128u}) {
    coua_flow_params params = flow_params(n_entries);
    params.key_bytes = key_bytes;
    const flow_ptr table = make_flow(params);
    std::vector<std::uint64_t> key(key_bytes / 8);
    const auto put = [&](std::uint64_t i) {
      key.front() = key.back() = i;
      return coua_flow_insert(table.get(), key.data(), key.data(), 0);
    };
    for (std::uint64_t i = 0; i < n_entries; ++i) ASSERT_EQ(put(i), COUA_FLOW_ADDED);
    coua_flow_cursor* cursor = nullptr;
    ASSERT_EQ(coua_flow_cursor_open(table.get(), &cursor), 0);
    std::vector<std::uint64_t> keys(n_entries * key.size());
    std::multiset<std::uint64_t> seen;
    const auto step = [&](std::uint64_t n_buckets) {
      const long n =
          coua_flow_cursor_next(cursor, keys.data(), nullptr, nullptr, n_entries, n_buckets);
      for (long i = 0; i < n; ++i) {
        const std::size_t at = static_cast<std::size_t>(i) * key.size();
        EXPECT_EQ(keys[at], keys[at + key.size() - 1]);
        seen.insert(keys[at]);
      }
      return n;
    };
    ASSERT_GT(step(stats_of(table).buckets / 2), 0);
    const coua_flow_stats before = stats_of(table);
    const std::uint64_t n_before = n_allocations;
    for (std::uint64_t i = 0; i < 2 * n_entries; ++i) {
      // The first half of the keys stays.
      const std::uint64_t last = n_entries / 2 + i;
      key.front() = key.back() = last;
      ASSERT_EQ(coua_flow_erase(table.get(), key.data(), nullptr), 0);
      ASSERT_EQ(put(last + n_entries / 2), COUA_FLOW_ADDED);
      if (i % 16 == 0) coua_flow_sweep(table.get(), 8);
    }
    EXPECT_EQ(n_allocations, n_before);
    EXPECT_GT(stats_of(table).moves + stats_of(table).sent_home,
              before.moves + before.sent_home + n_entries / 2);
    while (step(100) >= 0) continue;
    for (std::uint64_t i = 0; i < n_entries / 2; ++i) ASSERT_EQ(seen.count(i), 1u) << i;
    for (const std::uint64_t i : seen) ASSERT_EQ(seen.count(i), 1u) << i;
  }
}

TEST(flow_cursor, one_that_cannot_remember_all_is_lost) {
  auto made = coua::flow_table::create(flow_params(n_entries));
  ASSERT_TRUE(made);
  coua::flow_table& table = **made;
  const auto bytes = [](key16& key) { return reinterpret_cast<std::uint8_t*>(key.data()); };
  key16 key;
  std::uint64_t next = 0;
  const auto put = [&] {
    key = key_number(next++);
    return table.put(coua::put_mode::replace, bytes(key), bytes(key), 0);
  };
  while (next < n_entries) ASSERT_EQ(put(), COUA_FLOW_ADDED);
  const auto churn = [&](std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) {
      key = key_number(next - n_entries);
      ASSERT_TRUE(table.erase(bytes(key), nullptr));
      ASSERT_EQ(put(), COUA_FLOW_ADDED);
    }
  };
  coua::flow_cursor small(table, std::move(*moved_keys::with_room(64, 2)));
  coua::flow_cursor large(table, std::move(*moved_keys::create(n_entries, 2)));
  std::vector<key16> keys(n_entries);
  const std::uint64_t half = table.geometry().n_buckets / 2;
  for (coua::flow_cursor* each : {&small, &large}) {
    ASSERT_GT(each->next(bytes(keys.front()), nullptr, nullptr, keys.size(), half), 0u);
  }
  churn(20);
  EXPECT_FALSE(small.lost());
  churn(n_entries);
  EXPECT_TRUE(small.lost());
  EXPECT_FALSE(small.at_end());
  EXPECT_FALSE(large.lost());
}

/// A cursor that stands in the middle, and has room for as many keys as the table has slots: it is
/// never lost while it remembers none but those that are there.
struct cursor_among_leavers : testing::Test {
  static constexpr std::uint64_t n_live = 1900, n_pairs = 100'000;
  void create(bool timed) {
    coua_flow_params params = flow_params(n_live);
    params.timers = timed ? COUA_FLOW_TIMERS_ON : COUA_FLOW_TIMERS_OFF;
    params.unit_ms = 1;
    auto made = coua::flow_table::create(params);
    ASSERT_TRUE(made);
    table = std::move(*made);
    for (std::uint64_t i = 0; i < n_live; ++i) ASSERT_EQ(put(timed ? 1 + i % 1000 : 0), 1);
    const flow_geometry& geometry = table->geometry();
    ASSERT_LT(geometry.n_buckets * geometry.n_slots, 2048u);
    cursor.emplace(*table, std::move(*moved_keys::with_room(2048, 2)));
    ASSERT_GT(step(geometry.n_buckets / 2), 0u);
  }
  int put(std::uint64_t units) {
    key16 key = key_number(n_put++);
    return table->put(put_mode::replace, bytes(key), bytes(key), static_cast<std::uint32_t>(units));
  }
  std::size_t step(std::uint64_t n_buckets) {
    std::vector<key16> keys(2 * n_live);
    return cursor->next(bytes(keys.front()), nullptr, nullptr, keys.size(), n_buckets);
  }
  static std::uint8_t* bytes(key16& key) { return reinterpret_cast<std::uint8_t*>(key.data()); }

  std::unique_ptr<coua::flow_table> table;
  std::optional<coua::flow_cursor> cursor;
  std::uint64_t n_put = 0;
};

TEST_F(cursor_among_leavers, forgets_keys_that_are_erased) {
  create(false);
  for (std::uint64_t i = 0; i < n_pairs; ++i) {
    key16 key = key_number(n_put - n_live);
    ASSERT_TRUE(table->erase(bytes(key), nullptr));
    ASSERT_EQ(put(0), COUA_FLOW_ADDED);
    ASSERT_FALSE(cursor->lost()) << "after " << i;
  }
  while (!cursor->at_end()) step(1);
}

TEST_F(cursor_among_leavers, forgets_keys_that_expire) {
  create(true);
  // Two come and, on average, two go in each unit of time.
  for (std::uint64_t i = 0; i < n_pairs / 2; ++i) {
    ASSERT_EQ(table->set_time(i + 1), 0);
    for (int one = 0; one < 2; ++one) ASSERT_EQ(put(900), COUA_FLOW_ADDED);
    ASSERT_FALSE(cursor->lost()) << "after " << i;
  }
  while (!cursor->at_end()) step(1);
}

// By the C API a table needs more slots than a cursor can remember keys. All keys here have their
// primary bucket in the upper half of the table and the other in the lower one: half of them are
// guests that the cursor has passed. Then the rest is erased, and the sweep sends the guests home.
TEST(flow_cursor, one_that_rests_among_too_many_moves_says_that_it_is_lost) {
  coua_flow_params params = flow_params(0);
  params.buckets = 420'000;
  params.key_bytes = 8;
  params.value_bytes = 0;
  const flow_ptr table = make_flow(params);
  const auto goes_down = [&](std::uint64_t key) {
    const std::uint64_t hash = coua_flow_hash(table.get(), &key), half = params.buckets / 2;
    const std::uint64_t home = simd::home_bucket(hash, params.buckets);
    return home >= half &&
           simd::bloom::other(home, simd::fingerprint_of(hash), 1, params.buckets) < half;
  };
  std::vector<std::uint64_t> keys;
  const std::uint64_t n_keys = params.buckets * 8 * 92 / 100;
  for (std::uint64_t key = 0; keys.size() < n_keys; ++key) {
    if (goes_down(key)) keys.push_back(key);
  }
  ASSERT_EQ(coua_flow_insert_batch(table.get(), keys.data(), nullptr, nullptr, n_keys, 0, nullptr),
            static_cast<long>(n_keys));
  coua_flow_cursor* cursor = nullptr;
  ASSERT_EQ(coua_flow_cursor_open(table.get(), &cursor), 0);
  std::vector<std::uint64_t> got(n_keys);
  const auto step = [&](std::uint64_t n_buckets) {
    return coua_flow_cursor_next(cursor, got.data(), nullptr, nullptr, n_keys, n_buckets);
  };
  const long n_guests = step(params.buckets / 2);
  ASSERT_GT(n_guests, 1'200'000);
  std::vector<std::uint64_t> guests(got.begin(), got.begin() + n_guests), others;
  std::sort(guests.begin(), guests.end());
  std::set_difference(keys.begin(), keys.end(), guests.begin(), guests.end(),
                      std::back_inserter(others));
  ASSERT_EQ(coua_flow_erase_batch(table.get(), others.data(), nullptr, others.size()),
            others.size());
  coua_flow_sweep(table.get(), params.buckets);
  ASSERT_GT(stats_of(table).sent_home, moved_keys::most);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(step(params.buckets), -EOVERFLOW);
  coua_flow_cursor_close(cursor);
  ASSERT_EQ(coua_flow_cursor_open(table.get(), &cursor), 0);
  EXPECT_EQ(step(params.buckets), n_guests);
  std::sort(got.begin(), got.begin() + n_guests);
  EXPECT_TRUE(std::equal(guests.begin(), guests.end(), got.begin()));
  EXPECT_EQ(step(1), -ENODATA);
}

}  // namespace
}  // namespace coua::test
