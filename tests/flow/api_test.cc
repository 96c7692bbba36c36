// SPDX-License-Identifier: Apache-2.0
//
// The C API of the flow table: what each function answers, and to what input it says no.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <string>

#include "flow_handles.h"

namespace coua::test {
namespace {

/// A table of units of 1 ms whose ring has room for `ring` (a power of two) entries.
coua_flow_params ring_params(std::uint64_t entries, std::uint64_t ring) {
  coua_flow_params params = flow_params(entries);
  params.timers = 1;
  params.unit_ms = 1;
  params.expired_ring = ring;
  return params;
}

std::string refusal(coua_flow_params params) {
  coua_flow_table* table = nullptr;
  char message[200] = "";
  const int code = coua_flow_create(&params, &table, message, sizeof message);
  EXPECT_EQ(table, nullptr);
  return (code == -EINVAL ? "" : std::to_string(code) + " ") + message;
}

TEST(flow_api, bad_parameters_are_refused_by_name) {
  const auto with = [](auto change) {
    coua_flow_params params = flow_params(1000);
    change(params);
    return refusal(params);
  };
  const auto starts = [](const std::string& text, const char* word) {
    EXPECT_EQ(text.rfind(word, 0), 0u) << "\"" << text << "\" does not start with " << word;
  };
  starts(with([](auto& p) { p.size = 4; }), "size");
  starts(with([](auto& p) { p.entries = 0; }), "entries");
  // The most that 2^32 buckets hold at 0.95, without memory for it, and one more.
  starts(with([](auto& p) {
           p.entries = 32'641'751'449,
           p.allocate = [](void*, std::size_t, std::size_t) -> void* { return nullptr; };
           p.release = [](void*, void*, std::size_t) {};
         }),
         "-12 ");
  starts(with([](auto& p) { p.entries = 32'641'751'450; }), "entries: need more than 2^32 buckets");
  starts(with([](auto& p) { p.entries = UINT64_MAX; }), "entries: need more than 2^32 buckets");
  starts(with([](auto& p) { p.buckets = (1ull << 32) + 1; }), "buckets");
  starts(with([](auto& p) { p.max_load = 0.995; }), "max_load");
  starts(with([](auto& p) { p.max_load = -1; }), "max_load");
  starts(with([](auto& p) { p.key_bytes = 3; }), "key_bytes");
  starts(with([](auto& p) { p.key_bytes = 129; }), "key_bytes");
  starts(with([](auto& p) { p.value_bytes = 65; }), "value_bytes");
  starts(with([](auto& p) { p.key_stride = 15; }), "key_stride");
  starts(with([](auto& p) { p.value_stride = 15; }), "value_stride");
  starts(with([](auto& p) { p.variant = static_cast<coua_flow_variant>(4); }), "variant");
  starts(with([](auto& p) { p.sync = static_cast<coua_flow_sync>(2); }), "sync");
  starts(with([](auto& p) { p.timers = 3; }), "timers");
  starts(with([](auto& p) { p.unit_ms = 86'400'001; }), "unit_ms");
  starts(with([](auto& p) { p.bucket_slots = 3; }), "bucket_slots");
  starts(with([](auto& p) { p.search_budget = 2'000'000; }), "search_budget");
  starts(with([](auto& p) { p.filter_rounds = 65; }), "filter_rounds: must be 1 to 64, or 0");
  starts(with([](auto& p) { p.pages = COUA_FLOW_PAGES_CALLER; }), "pages");
  starts(with([](auto& p) { p.release = [](void*, void*, std::size_t) {}; }), "allocate");
  starts(with([](auto& p) { p.expired_ring = 1; }), "expired_ring: needs timers");
  starts(with([](auto& p) { p.timers = 1, p.expired_ring = (1 << 24) + 1; }), "expired_ring");
  starts(with([](auto& p) {
           p.timers = 1, p.expired_ring = 1;
           p.expired = [](void*, const void*, const void*) {};
         }),
         "expired_ring: and expired");
  starts(with([](auto& p) { p.expired = [](void*, const void*, const void*) {}; }),
         "expired: needs timers");
  EXPECT_EQ(coua_flow_create(nullptr, nullptr, nullptr, 0), -EINVAL);
}

TEST(flow_api, null_is_refused_where_the_header_says_so) {
  const coua_flow_params params = flow_params(100);
  coua_flow_table* made = nullptr;
  EXPECT_EQ(coua_flow_create(&params, nullptr, nullptr, 0), -EINVAL);
  EXPECT_EQ(coua_flow_create(nullptr, &made, nullptr, 0), -EINVAL);
  const flow_ptr table = make_flow(ring_params(100, 4));
  coua_flow_stats stats{};
  stats.size = sizeof stats;
  EXPECT_EQ(coua_flow_get_stats(nullptr, &stats), -EINVAL);
  EXPECT_EQ(coua_flow_get_stats(table.get(), nullptr), -EINVAL);
  coua_flow_reader* reader = nullptr;
  EXPECT_EQ(coua_flow_reader_create(nullptr, &reader), -EINVAL);
  EXPECT_EQ(coua_flow_reader_create(table.get(), nullptr), -EINVAL);
  coua_flow_cursor* cursor = nullptr;
  EXPECT_EQ(coua_flow_cursor_open(nullptr, &cursor), -EINVAL);
  EXPECT_EQ(coua_flow_cursor_open(table.get(), nullptr), -EINVAL);
  ASSERT_EQ(coua_flow_cursor_open(table.get(), &cursor), 0);
  key16 keys[8];
  EXPECT_EQ(coua_flow_cursor_next(nullptr, keys, nullptr, nullptr, 8, 1), -EINVAL);
  EXPECT_EQ(coua_flow_cursor_next(cursor, nullptr, nullptr, nullptr, 8, 1), -EINVAL);
  EXPECT_EQ(coua_flow_drain(nullptr, keys, nullptr, 8), -EINVAL);
  EXPECT_EQ(coua_flow_drain(table.get(), nullptr, nullptr, 8), -EINVAL);
  EXPECT_EQ(coua_flow_slab_create(8, 8, nullptr), -EINVAL);
  coua_flow_destroy(nullptr);
  coua_flow_reader_destroy(nullptr);
  coua_flow_cursor_close(nullptr);
  coua_flow_slab_destroy(nullptr);
}

TEST(flow_api, an_older_callers_smaller_parameters_are_taken) {
  coua_flow_params params = flow_params(100);
  params.size = offsetof(coua_flow_params, variant);
  const flow_ptr table = make_flow(params);
  EXPECT_EQ(stats_of(table).variant, COUA_FLOW_BLOOM);
  // A newer one's may be larger, if what this library does not know is not used.
  struct {
    coua_flow_params known;
    std::uint64_t unknown;
  } newer = {flow_params(100), 0};
  newer.known.size = sizeof newer;
  coua_flow_table* made = nullptr;
  EXPECT_EQ(coua_flow_create(&newer.known, &made, nullptr, 0), 0);
  coua_flow_destroy(made);
  newer.unknown = 1;
  EXPECT_EQ(coua_flow_create(&newer.known, &made, nullptr, 0), -EINVAL);
}

TEST(flow_api, each_way_to_insert_says_what_it_did) {
  const flow_ptr table = make_flow(flow_params(100));
  coua_flow_reader* reader = reader_of(table);
  const key16 key = key_number(1);
  key16 value = {1, 1}, got{};
  EXPECT_EQ(coua_flow_add(table.get(), &key, &value, 0), COUA_FLOW_ADDED);
  value = {2, 2};
  EXPECT_EQ(coua_flow_add(table.get(), &key, &value, 0), COUA_FLOW_PRESENT);
  EXPECT_EQ(coua_flow_lookup(reader, &key, &got), 1);
  EXPECT_EQ(got, (key16{1, 1}));
  EXPECT_EQ(coua_flow_insert(table.get(), &key, &value, 0), COUA_FLOW_UPDATED);
  EXPECT_EQ(coua_flow_lookup(reader, &key, nullptr), 1);
  value = {3, 3};
  EXPECT_EQ(coua_flow_find_or_add(table.get(), &key, &value, 0), COUA_FLOW_PRESENT);
  EXPECT_EQ(value, (key16{2, 2}));
  EXPECT_EQ(coua_flow_erase(table.get(), &key, &got), 0);
  EXPECT_EQ(got, (key16{2, 2}));
  EXPECT_EQ(coua_flow_erase(table.get(), &key, &got), -ENOENT);
  EXPECT_EQ(coua_flow_lookup(reader, &key, nullptr), 0);
  EXPECT_EQ(coua_flow_refresh(table.get(), &key, 0), -ENOENT);
  EXPECT_EQ(coua_flow_insert(table.get(), &key, &value, 1), -EINVAL) << "no timers";
}

TEST(flow_api, without_a_value_zeros_are_stored) {
  for (const coua_flow_sync sync : {COUA_FLOW_SINGLE, COUA_FLOW_ONE_WRITER}) {
    coua_flow_params params = flow_params(100);
    params.sync = sync;
    params.timers = COUA_FLOW_TIMERS_OFF;
    const flow_ptr table = make_flow(params);
    coua_flow_reader* reader = reader_of(table);
    const key16 keys[3] = {key_number(1), key_number(2), key_number(3)};
    const key16 values[3] = {{1, 2}, {3, 4}, {5, 6}}, zeros[3] = {};
    key16 got[3];
    const auto looked_up = [&] {
      std::copy(std::begin(values), std::end(values), got);
      EXPECT_EQ(coua_flow_lookup_batch(reader, keys, 3, got, nullptr), 3U);
      return std::equal(got, got + 3, zeros);
    };
    EXPECT_EQ(coua_flow_insert(table.get(), &keys[0], nullptr, 0), COUA_FLOW_ADDED);
    EXPECT_EQ(coua_flow_add(table.get(), &keys[1], nullptr, 0), COUA_FLOW_ADDED);
    EXPECT_EQ(coua_flow_find_or_add(table.get(), &keys[2], nullptr, 0), COUA_FLOW_ADDED);
    EXPECT_TRUE(looked_up());
    EXPECT_EQ(coua_flow_insert_batch(table.get(), keys, nullptr, values, 3, 0, nullptr), 3);
    EXPECT_FALSE(looked_up());
    EXPECT_EQ(coua_flow_find_or_add(table.get(), &keys[2], nullptr, 0), COUA_FLOW_PRESENT);
    EXPECT_EQ(coua_flow_lookup(reader, &keys[2], &got[2]), 1);
    EXPECT_EQ(got[2], values[2]) << "what is there stays";
    EXPECT_EQ(coua_flow_insert_batch(table.get(), keys, nullptr, nullptr, 3, 0, nullptr), 3);
    EXPECT_TRUE(looked_up());
  }
}

TEST(flow_api, a_full_table_says_so_and_keeps_what_it_has) {
  coua_flow_params params = flow_params(0);
  params.buckets = 3;
  const flow_ptr table = make_flow(params);
  coua_flow_reader* reader = reader_of(table);
  // When the first key is refused depends on the table's hash key; that all slots fill does not.
  std::vector<std::uint64_t> added;
  std::uint64_t n_full = 0;
  for (std::uint64_t i = 0; i < 5000 && added.size() < 24; ++i) {
    const int done = insert(table, i);
    if (done == COUA_FLOW_ADDED) added.push_back(i);
    n_full += done == COUA_FLOW_FULL;
  }
  ASSERT_EQ(added.size(), 24u);
  for (std::uint64_t i = 5000; i < 5100; ++i) {
    EXPECT_EQ(insert(table, i), COUA_FLOW_FULL);
    ++n_full;
  }
  EXPECT_EQ(stats_of(table).entries, 24u);
  EXPECT_EQ(stats_of(table).refused, n_full);
  EXPECT_EQ(lost(reader, added, 33), 0u);
  // An update needs no room in a table of one thread.
  EXPECT_EQ(insert(table, added.front()), COUA_FLOW_UPDATED);
}

struct told {
  std::multiset<std::uint64_t> keys;
  static void expired(void* context, const void* key, const void* value) {
    key16 k, v;
    std::memcpy(&k, key, sizeof k);
    std::memcpy(&v, value, sizeof v);
    EXPECT_EQ(k, key_number(k[1]));
    EXPECT_EQ(v, value_number(k[1]));
    static_cast<told*>(context)->keys.insert(k[1]);
  }
};

TEST(flow_api, the_owner_is_told_of_each_expiry_once_and_of_no_erase) {
  told told;
  coua_flow_params params = flow_params(1000);
  params.timers = 1;
  params.expired = &told::expired;
  params.expired_context = &told;
  const flow_ptr table = make_flow(params);
  EXPECT_EQ(stats_of(table).unit_ms, 30'000u);
  for (std::uint64_t i = 0; i < 900; ++i) ASSERT_EQ(insert(table, i, 2), COUA_FLOW_ADDED);
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(erase(table, i), 0);
  EXPECT_EQ(coua_flow_set_time(table.get(), 59'999), 0);
  while (coua_flow_sweep(table.get(), 10) == 0) continue;
  EXPECT_TRUE(told.keys.empty());
  EXPECT_EQ(coua_flow_set_time(table.get(), 60'000), 0);
  EXPECT_EQ(coua_flow_set_time(table.get(), 59'999), -EINVAL);
  while (coua_flow_sweep(table.get(), 10) == 0) continue;
  EXPECT_EQ(told.keys.size(), 800u);
  EXPECT_EQ(std::set<std::uint64_t>(told.keys.begin(), told.keys.end()).size(), 800u);
  EXPECT_EQ(stats_of(table).entries, 0u);
}

// Slots of entries that expired serve inserts at once: a table full of them is as good as empty.
TEST(flow_api, expired_entries_make_room_without_a_sweep) {
  told told;
  coua_flow_params params = flow_params(1000);
  params.timers = 1;
  params.unit_ms = 1;
  params.expired = &told::expired;
  params.expired_context = &told;
  const flow_ptr table = make_flow(params);
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(insert(table, i, 1000), COUA_FLOW_ADDED);
  EXPECT_EQ(coua_flow_set_time(table.get(), 1000), 0);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(insert(table, 5000 + i, 1000), COUA_FLOW_ADDED) << i;
  }
  while (coua_flow_sweep(table.get(), 10) == 0) continue;
  EXPECT_EQ(told.keys.size(), 1000u);
}

/// From wherever the sweep is to the end, and then the whole table.
void sweep_all(const flow_ptr& table) {
  for (int round = 0; round < 2; ++round) {
    while (coua_flow_sweep(table.get(), 10) == 0) continue;
  }
}

/// Moves all that is in the ring to `told`; returns how many. Keys that come twice are faults.
std::size_t drain(const flow_ptr& table, std::set<std::uint64_t>& told) {
  std::vector<key16> keys(5), values(5);
  std::size_t n_all = 0;
  long n;
  while ((n = coua_flow_drain(table.get(), keys.data(), values.data(), keys.size())) > 0) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      EXPECT_EQ(keys[i], key_number(keys[i][1]));
      EXPECT_EQ(values[i], value_number(keys[i][1]));
      EXPECT_TRUE(told.insert(keys[i][1]).second) << keys[i][1] << " told twice";
    }
    n_all += static_cast<std::size_t>(n);
  }
  EXPECT_EQ(n, 0);
  return n_all;
}

TEST(flow_api, what_expired_waits_in_the_ring_oldest_first) {
  const flow_ptr table = make_flow(ring_params(1000, 512));
  for (std::uint64_t i = 0; i < 400; ++i) {
    ASSERT_EQ(insert(table, i, i < 100 ? 5 : 10), COUA_FLOW_ADDED);
  }
  EXPECT_EQ(erase(table, 50), 0);
  for (const std::uint64_t now : {5, 10}) {
    EXPECT_EQ(coua_flow_set_time(table.get(), now), 0);
    sweep_all(table);
  }
  EXPECT_EQ(stats_of(table).expired_waiting, 399u);
  EXPECT_EQ(stats_of(table).entries, 0u);
  std::vector<key16> keys(99);
  EXPECT_EQ(coua_flow_drain(table.get(), keys.data(), nullptr, 99), 99);
  for (const key16& key : keys) EXPECT_LT(key[1], 100u);
  EXPECT_EQ(coua_flow_drain(table.get(), nullptr, nullptr, 99), -EINVAL);
  std::set<std::uint64_t> told;
  EXPECT_EQ(drain(table, told), 300u);
  EXPECT_EQ(stats_of(table).expired_waiting, 0u);
  const flow_ptr other = make_flow(flow_params(10));
  EXPECT_EQ(coua_flow_drain(other.get(), keys.data(), nullptr, 99), -EINVAL);
}

TEST(flow_api, a_full_ring_keeps_what_expired_in_the_table_invisible) {
  const flow_ptr table = make_flow(ring_params(500, 4));
  coua_flow_reader* reader = reader_of(table);
  for (std::uint64_t i = 0; i < 500; ++i) ASSERT_EQ(insert(table, i, 5), COUA_FLOW_ADDED);
  EXPECT_EQ(coua_flow_set_time(table.get(), 5), 0);
  sweep_all(table);
  EXPECT_EQ(stats_of(table).expired_waiting, 4u);
  EXPECT_EQ(stats_of(table).entries, 496u);
  std::uint64_t n_refused = 0;
  for (std::uint64_t i = 0; i < 500; ++i) {
    EXPECT_EQ(lost(reader, {i}, 1), 1u);
    EXPECT_EQ(erase(table, i), -ENOENT);
    const key16 key = key_number(i);
    EXPECT_EQ(coua_flow_refresh(table.get(), &key, 5), -ENOENT);
    // A key must not come again before its owner was told that it went.
    n_refused += insert(table, i, 1000) == COUA_FLOW_FULL;
  }
  EXPECT_GE(n_refused, 496u);
  EXPECT_EQ(stats_of(table).refused, n_refused);
  std::set<std::uint64_t> told;
  while (drain(table, told) != 0) {
    sweep_all(table);
  }
  EXPECT_EQ(told.size(), 500u);
  for (std::uint64_t i = 0; i < 500; ++i) EXPECT_NE(insert(table, i, 1000), COUA_FLOW_FULL);
}

// Times of 16 bits come round: what a full ring keeps for that long must not be seen again.
TEST(flow_api, a_ring_that_stays_full_stops_the_time_before_times_come_round) {
  const flow_ptr table = make_flow(ring_params(200, 4));
  coua_flow_reader* reader = reader_of(table);
  std::vector<std::uint64_t> all(200);
  for (std::uint64_t i = 0; i < 200; ++i) {
    all[i] = i;
    ASSERT_EQ(insert(table, i, 1 + i % 7), COUA_FLOW_ADDED);
  }
  std::uint64_t now = 0, n_stopped = 0;
  std::set<std::uint64_t> told;
  for (int step = 0; step < 4000; ++step) {
    const int done = coua_flow_set_time(table.get(), now + 97);
    if (done == 0) {
      now += 97;
    } else {
      ASSERT_EQ(done, -EAGAIN);
      ++n_stopped;
      EXPECT_EQ(stats_of(table).now_ms, now);
      EXPECT_GT(drain(table, told), 0u);
    }
    ASSERT_TRUE(now < 7 || lost(reader, all, 32) == 200) << "revived at " << now;
  }
  EXPECT_GT(n_stopped, 0u);
  EXPECT_GT(now, 65'536u * 2);
  drain(table, told);
  EXPECT_EQ(told.size(), 200u);
}

TEST(flow_api, a_table_with_readers_has_timers_unless_told) {
  const struct {
    enum coua_flow_sync sync;
    std::uint32_t timers;
    bool timed;
  } cases[] = {{COUA_FLOW_SINGLE, COUA_FLOW_TIMERS_DEFAULT, false},
               {COUA_FLOW_SINGLE, COUA_FLOW_TIMERS_ON, true},
               {COUA_FLOW_SINGLE, COUA_FLOW_TIMERS_OFF, false},
               {COUA_FLOW_ONE_WRITER, COUA_FLOW_TIMERS_DEFAULT, true},
               {COUA_FLOW_ONE_WRITER, COUA_FLOW_TIMERS_ON, true},
               {COUA_FLOW_ONE_WRITER, COUA_FLOW_TIMERS_OFF, false}};
  for (const auto& each : cases) {
    coua_flow_params params = flow_params(100);
    params.sync = each.sync;
    params.timers = each.timers;
    const flow_ptr table = make_flow(params);
    EXPECT_EQ(stats_of(table).timers, each.timed);
    EXPECT_EQ(stats_of(table).variant, COUA_FLOW_BLOOM);
    EXPECT_EQ(insert(table, 1, 1), each.timed ? COUA_FLOW_ADDED : -EINVAL);
    EXPECT_EQ(insert(table, 2, 0), each.timed ? -EINVAL : COUA_FLOW_ADDED);
  }
}

TEST(flow_api, look_ups_renew_the_time_when_asked) {
  coua_flow_params params = flow_params(100);
  params.timers = 1;
  params.unit_ms = 1;
  const flow_ptr table = make_flow(params);
  coua_flow_reader* reader = reader_of(table);
  insert(table, 1, 10);
  insert(table, 2, 10);
  const key16 key = key_number(1);
  std::uint64_t hits = 0;
  EXPECT_EQ(coua_flow_lookup_refresh(reader, &key, 1, nullptr, &hits, 20), 1);
  EXPECT_EQ(hits, 1u);
  coua_flow_set_time(table.get(), 19);
  EXPECT_EQ(lost(reader, {1}, 1), 0u);
  EXPECT_EQ(lost(reader, {2}, 1), 1u);
  coua_flow_set_time(table.get(), 20);
  EXPECT_EQ(lost(reader, {1}, 1), 1u);
}

// Nothing found, and nothing taken, would else look like an answer.
TEST(flow_api, every_call_that_takes_units_refuses_others) {
  for (const bool timed : {false, true}) {
    coua_flow_params params = flow_params(100);
    params.timers = timed;
    const flow_ptr table = make_flow(params);
    coua_flow_reader* reader = reader_of(table);
    ASSERT_EQ(insert(table, 1, timed ? 10 : 0), COUA_FLOW_ADDED);
    const key16 keys[2] = {key_number(1), key_number(2)};
    key16 values[2] = {{7, 7}, {8, 8}};
    const std::vector<std::uint32_t> wrong =
        timed ? std::vector<std::uint32_t>{0, 1025, UINT32_MAX}
              : std::vector<std::uint32_t>{1, 1024, 1025, UINT32_MAX};
    for (const std::uint32_t units : wrong) {
      EXPECT_EQ(coua_flow_insert(table.get(), keys, values, units), -EINVAL) << units;
      EXPECT_EQ(coua_flow_add(table.get(), keys, values, units), -EINVAL) << units;
      EXPECT_EQ(coua_flow_find_or_add(table.get(), keys, values, units), -EINVAL) << units;
      EXPECT_EQ(coua_flow_refresh(table.get(), keys, units), -EINVAL) << units;
      std::int8_t results[2] = {};
      const auto refused = [&](long answer, bool named) {
        EXPECT_EQ(answer, -EINVAL) << units;
        if (named) {
          EXPECT_EQ(results[0], -EINVAL);
          EXPECT_EQ(results[1], -EINVAL);
        }
        results[0] = results[1] = 0;
      };
      for (std::int8_t* out : {results, static_cast<std::int8_t*>(nullptr)}) {
        const bool named = out != nullptr;
        refused(coua_flow_insert_batch(table.get(), keys, nullptr, values, 2, units, out), named);
        refused(coua_flow_add_batch(table.get(), keys, nullptr, values, 2, units, out), named);
        refused(coua_flow_find_or_add_batch(table.get(), keys, nullptr, values, 2, units, out),
                named);
      }
      std::uint64_t hits = 3;
      refused(coua_flow_lookup_refresh(reader, keys, 2, values, &hits, units), false);
      EXPECT_EQ(hits, 0u);
      refused(coua_flow_lookup_refresh(reader, keys, 2, nullptr, nullptr, units), false);
    }
    std::uint64_t hits = 0;
    EXPECT_EQ(coua_flow_lookup_refresh(reader, keys, 2, nullptr, &hits, 0), -EINVAL);
    EXPECT_EQ(stats_of(table).entries, 1u);
    EXPECT_EQ(stats_of(table).updated, 0u);
    EXPECT_EQ(lost(reader, {1}, 1), 0u);
  }
}

TEST(flow_api, entries_may_be_erased_while_a_cursor_walks) {
  const flow_ptr table = make_flow(flow_params(2000));
  for (std::uint64_t i = 0; i < 1900; ++i) ASSERT_EQ(insert(table, i), COUA_FLOW_ADDED);
  coua_flow_cursor* cursor = nullptr;
  ASSERT_EQ(coua_flow_cursor_open(table.get(), &cursor), 0);
  std::vector<key16> keys(64), values(64);
  std::set<std::uint64_t> seen;
  EXPECT_EQ(coua_flow_cursor_next(cursor, keys.data(), values.data(), nullptr, 7, 1), -EINVAL);
  EXPECT_EQ(coua_flow_cursor_next(cursor, keys.data(), values.data(), nullptr, 64, 0), -EINVAL);
  long n;
  while ((n = coua_flow_cursor_next(cursor, keys.data(), values.data(), nullptr, 64, 100)) >= 0) {
    for (long i = 0; i < n; ++i) {
      const key16& key = keys[static_cast<std::size_t>(i)];
      EXPECT_TRUE(seen.insert(key[1]).second) << key[1];
      EXPECT_EQ(coua_flow_erase(table.get(), &key, nullptr), 0);
    }
  }
  EXPECT_EQ(n, -ENODATA);
  EXPECT_EQ(seen.size(), 1900u);
  EXPECT_EQ(stats_of(table).entries, 0u);
  coua_flow_cursor_close(cursor);
}

TEST(flow_api, tables_that_share_a_hash_key_share_hashes) {
  std::uint8_t hash_key[32] = {1, 2, 3};
  coua_flow_params params = flow_params(100);
  params.hash_key = hash_key;
  const flow_ptr a = make_flow(params), b = make_flow(params);
  params.hash_key = nullptr;
  const flow_ptr c = make_flow(params), d = make_flow(params);
  const key16 key = key_number(7);
  EXPECT_EQ(coua_flow_hash(a.get(), &key), coua_flow_hash(b.get(), &key));
  EXPECT_NE(coua_flow_hash(a.get(), &key), coua_flow_hash(c.get(), &key));
  EXPECT_NE(coua_flow_hash(c.get(), &key), coua_flow_hash(d.get(), &key));
}

TEST(flow_api, a_slab_gives_each_cell_once) {
  coua_flow_slab* slab = nullptr;
  EXPECT_EQ(coua_flow_slab_create(0, 8, &slab), -EINVAL);
  EXPECT_EQ(coua_flow_slab_create(10, 0, &slab), -EINVAL);
  ASSERT_EQ(coua_flow_slab_create(10, 64, &slab), 0);
  std::set<std::uint32_t> taken;
  std::uint32_t index = 0;
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(coua_flow_slab_take(slab, &index), 0);
    EXPECT_TRUE(taken.insert(index).second);
    EXPECT_LT(index, 10u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(coua_flow_slab_cell(slab, index)) % 64, 0u);
    std::memset(coua_flow_slab_cell(slab, index), static_cast<int>(index) + 1, 64);
  }
  EXPECT_EQ(coua_flow_slab_take(slab, &index), -ENOSPC);
  EXPECT_EQ(coua_flow_slab_taken(slab), 10u);
  EXPECT_EQ(*static_cast<std::uint8_t*>(coua_flow_slab_cell(slab, 4)), 5);
  EXPECT_EQ(coua_flow_slab_give(slab, 4), 0);
  EXPECT_EQ(coua_flow_slab_give(slab, 4), -EINVAL);
  EXPECT_EQ(coua_flow_slab_give(slab, 10), -EINVAL);
  ASSERT_EQ(coua_flow_slab_take(slab, &index), 0);
  EXPECT_EQ(index, 4u);
  coua_flow_slab_destroy(slab);
}

}  // namespace
}  // namespace coua::test
