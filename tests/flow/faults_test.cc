// SPDX-License-Identifier: Apache-2.0
//
// Faults that were measured in other tables of this kind, each as a test that this one passes.
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <numeric>
#include <random>

#include "flow_handles.h"

namespace coua::test {
namespace {

std::vector<std::uint64_t> numbers(std::uint64_t from, std::uint64_t n) {
  std::vector<std::uint64_t> all(n);
  std::iota(all.begin(), all.end(), from);
  return all;
}

struct kind {
  const char* name;
  enum coua_flow_variant variant;
  bool timed;
  enum coua_flow_sync sync;
};
void PrintTo(const kind& k, std::ostream* out) { *out << k.name; }

class flow_faults : public testing::TestWithParam<kind> {
 protected:
  static constexpr std::uint64_t n_entries = 40'000;
  static coua_flow_params params() {
    coua_flow_params params = flow_params(n_entries);
    params.variant = GetParam().variant;
    params.timers = GetParam().timed ? COUA_FLOW_TIMERS_ON : COUA_FLOW_TIMERS_OFF;
    params.sync = GetParam().sync;
    params.unit_ms = 1;
    return params;
  }
  static std::uint32_t units() { return GetParam().timed ? 1024 : 0; }
};

const kind kinds[] = {
    {"bloom", COUA_FLOW_BLOOM, false, COUA_FLOW_SINGLE},
    {"bloom_timed", COUA_FLOW_BLOOM, true, COUA_FLOW_SINGLE},
    {"bloom_timed_writer", COUA_FLOW_BLOOM, true, COUA_FLOW_ONE_WRITER},
    {"optimistic", COUA_FLOW_OPTIMISTIC, false, COUA_FLOW_SINGLE},
    {"pessimistic", COUA_FLOW_PESSIMISTIC, true, COUA_FLOW_ONE_WRITER},
    {"horton", COUA_FLOW_HORTON, false, COUA_FLOW_SINGLE},
    {"horton_timed_writer", COUA_FLOW_HORTON, true, COUA_FLOW_ONE_WRITER},
};
INSTANTIATE_TEST_SUITE_P(kinds, flow_faults, testing::ValuesIn(kinds),
                         [](const auto& k) { return k.param.name; });

// 3.1 % of the live keys were lost after four rounds: erasing left the Bloom filters wrong.
TEST_P(flow_faults, churn_at_load_095_loses_no_live_key) {
  const flow_ptr table = make_flow(params());
  coua_flow_reader* reader = reader_of(table);
  std::vector<std::uint64_t> live = numbers(0, n_entries);
  for (const std::uint64_t i : live) ASSERT_EQ(insert(table, i, units()), COUA_FLOW_ADDED) << i;
  std::mt19937_64 random(1);
  std::uint64_t next = n_entries;
  for (int round = 0; round < 4; ++round) {
    std::shuffle(live.begin(), live.end(), random);
    for (std::uint64_t i = 0; i < n_entries; ++i) {
      ASSERT_EQ(erase(table, live[i]), 0);
      live[i] = next++;
      ASSERT_EQ(insert(table, live[i], units()), COUA_FLOW_ADDED);
    }
    ASSERT_EQ(lost(reader, live, 64), 0u) << "after round " << round;
  }
  EXPECT_EQ(stats_of(table).entries, n_entries);
}

// Batches of 33 to 64 missed up to 7 % of the present keys; bulks of 64 missed some in a table
// whose buckets overflow. Here every size is right, in a table as full as it gets.
TEST_P(flow_faults, batches_of_any_size_find_every_present_key) {
  const flow_ptr table = make_flow(params());
  coua_flow_reader* reader = reader_of(table);
  std::vector<std::uint64_t> live;
  for (std::uint64_t i = 0; insert(table, i, units()) == COUA_FLOW_ADDED; ++i) live.push_back(i);
  const coua_flow_stats stats = stats_of(table);
  EXPECT_GT(static_cast<double>(stats.entries) / static_cast<double>(stats.slots), 0.97);
  EXPECT_EQ(stats.refused, 1u);
  for (std::size_t batch = 1; batch <= 130; ++batch) {
    if (batch > 2 && batch < 31) continue;
    EXPECT_EQ(lost(reader, live, batch), 0u) << "batches of " << batch;
  }
  EXPECT_EQ(lost(reader, live, live.size()), 0u);
}

// Extendable buckets: a bulk of 64 missed present keys once buckets had overflowed. Here such keys
// are guests of few buckets, so that nearly all keys of a bulk share their lines.
TEST_P(flow_faults, a_bulk_of_64_finds_all_keys_of_buckets_that_overflow) {
  std::uint64_t in_secondary = 0;
  for (int i = 0; i < 20; ++i) {
    coua_flow_params few = params();
    few.entries = 0;
    few.buckets = 9;
    const flow_ptr table = make_flow(few);
    coua_flow_reader* reader = reader_of(table);
    std::vector<std::uint64_t> live;
    for (std::uint64_t k = 0; live.size() < 64; ++k) {
      ASSERT_LT(k, 1000u);
      if (insert(table, k, units()) == COUA_FLOW_ADDED) live.push_back(k);
    }
    in_secondary += stats_of(table).in_secondary;
    EXPECT_EQ(lost(reader, live, 64), 0u);
    for (const std::uint64_t k : numbers(live.back() + 1, 64)) {
      const key16 key = key_number(k);
      EXPECT_EQ(coua_flow_lookup(reader, &key, nullptr), 0);
    }
  }
  EXPECT_GT(in_secondary, 20u);
}

// A partition table gave wrong values where its look-up was vectorised with AVX2, and right ones
// for single keys. These tests run with each instruction set (COUA_SIMD): what a batch gives is
// what was put in, and what single look-ups give.
TEST_P(flow_faults, vector_look_ups_give_the_values_that_single_ones_give) {
  const flow_ptr table = make_flow(params());
  coua_flow_reader* reader = reader_of(table);
  for (std::uint64_t i = 0; i < n_entries; i += 2) insert(table, i, units());
  constexpr std::size_t batch = 67;
  std::vector<key16> keys(batch);
  for (std::uint64_t first = 0; first < n_entries; first += batch) {
    for (std::size_t i = 0; i < batch; ++i) keys[i] = key_number(first + i);
    std::vector<key16> together(batch), alone(batch);
    std::uint64_t hits[COUA_FLOW_WORDS(batch)];
    coua_flow_lookup_batch(reader, keys.data(), batch, together.data(), hits);
    for (std::size_t i = 0; i < batch; ++i) {
      const std::uint64_t k = first + i;
      const bool there = k % 2 == 0 && k < n_entries;
      ASSERT_EQ(hits[i / 64] >> i % 64 & 1, there) << k;
      ASSERT_EQ(coua_flow_lookup(reader, &keys[i], &alone[i]), there) << k;
      if (there) {
        ASSERT_EQ(together[i], value_number(k));
      }
    }
    ASSERT_EQ(together, alone);
  }
}

// A Horton table refused 2 to 12 % of the inserts; it has more buckets to choose from than any.
TEST_P(flow_faults, no_insert_is_refused_up_to_load_095) {
  for (int i = 0; i < 5; ++i) {
    const flow_ptr table = make_flow(params());
    for (std::uint64_t i = 0; i < n_entries; ++i) {
      ASSERT_EQ(insert(table, i, units()), COUA_FLOW_ADDED) << i;
    }
    const coua_flow_stats stats = stats_of(table);
    EXPECT_NEAR(static_cast<double>(stats.entries) / static_cast<double>(stats.slots), 0.95, 0.001);
  }
}

// A key of a Horton table may go to seven buckets, and where all are full, room is made from any.
// In buckets of one slot this shows: searches from the emptiest alone refuse some keys here, from
// 0.94 on. The hash keys are given, so that the keys always meet the same buckets.
TEST(flow_horton, room_is_looked_for_from_all_buckets_of_a_key) {
  for (std::uint8_t table_number = 0; table_number < 25; ++table_number) {
    const std::uint8_t hash_key[32] = {table_number, 1};
    coua_flow_params params = flow_params(0);
    params.variant = COUA_FLOW_HORTON;
    params.buckets = 4096;
    params.bucket_slots = 1;
    params.hash_key = hash_key;
    const flow_ptr table = make_flow(params);
    for (std::uint64_t i = 0; i < params.buckets * 98 / 100; ++i) {
      ASSERT_EQ(insert(table, i), COUA_FLOW_ADDED) << i << " of table " << unsigned{table_number};
    }
  }
}

// One counter of all changes made readers repeat whole batches. Here a reader repeats a key only
// when its own bucket changed.
TEST_P(flow_faults, a_change_makes_readers_repeat_keys_of_its_bucket_only) {
  if (GetParam().sync == COUA_FLOW_SINGLE) return;
  const flow_ptr table = make_flow(params());
  coua_flow_reader* reader = reader_of(table);
  for (std::uint64_t i = 0; i < n_entries / 2; ++i) {
    ASSERT_EQ(insert(table, i, units()), COUA_FLOW_ADDED);
  }
  constexpr std::size_t in_flight = 128;
  std::vector<key16> keys(in_flight), values(in_flight);
  std::uint64_t hits[2];
  std::uint64_t n_changes = 0;
  for (std::uint64_t round = 0; round < 200; ++round) {
    for (std::size_t i = 0; i < in_flight; ++i) keys[i] = key_number(round * in_flight + i);
    ASSERT_EQ(coua_flow_pipeline(reader, keys.data(), in_flight, values.data(), hits), 0u);
    ASSERT_EQ(insert(table, n_entries + round, units()), COUA_FLOW_ADDED);
    ++n_changes;
    ASSERT_EQ(coua_flow_pipeline_drain(reader, values.data(), hits), in_flight);
  }
  // Each insert changes one bucket of 5,000; some 64 keys have been compared when it comes.
  EXPECT_LT(stats_of(table).retries, n_changes / 4);
  // And it is seen: an update of a wide value is a move within the bucket of the keys in flight.
  for (std::size_t i = 0; i < in_flight; ++i) keys[i] = key_number(1);
  const std::uint64_t before = stats_of(table).retries;
  ASSERT_EQ(coua_flow_pipeline(reader, keys.data(), in_flight, values.data(), hits), 0u);
  ASSERT_EQ(insert(table, 1, units()), COUA_FLOW_UPDATED);
  ASSERT_EQ(coua_flow_pipeline_drain(reader, values.data(), hits), in_flight);
  EXPECT_GT(stats_of(table).retries, before);
  EXPECT_EQ(hits[0] & hits[1], ~std::uint64_t{0});
}

// Timers revived entries for half of the 16-bit cycle. Here they end for good, whether time goes on
// unit by unit, in steps, or is forgotten for longer than 16 bits can tell.
TEST_P(flow_faults, expired_entries_stay_expired_over_several_cycles) {
  if (!GetParam().timed) return;
  for (const std::uint64_t step : {1u, 37u, 1'000u, 30'000u, 50'000u, 65'536u, 70'000u, 200'000u}) {
    coua_flow_params small = params();
    small.entries = 1000;
    const flow_ptr table = make_flow(small);
    coua_flow_reader* reader = reader_of(table);
    std::vector<std::uint64_t> all = numbers(0, 900);
    for (const std::uint64_t i : all) insert(table, i, 1 + static_cast<std::uint32_t>(i));
    std::uint64_t now = 0;
    while (now < 300'000) {
      now += step;
      ASSERT_EQ(coua_flow_set_time(table.get(), now), 0);
      if (now % 1'000 >= step && now > 1'000) continue;
      const std::uint64_t n_over = std::min<std::uint64_t>(now, all.size());
      // Entry i lives for i + 1 units.
      const std::uint64_t n_lost = lost(reader, all, 64);
      ASSERT_EQ(n_lost, n_over) << "at " << now << " in steps of " << step;
    }
    EXPECT_EQ(stats_of(table).expired + stats_of(table).entries, 900u);
  }
}

// And they are invisible to the unit, at any position of the 16-bit cycle.
TEST_P(flow_faults, an_entry_is_visible_exactly_as_long_as_it_lives) {
  if (!GetParam().timed) return;
  for (std::uint64_t start = 60'000; start < 70'000; start += 7) {
    coua_flow_params small = params();
    small.entries = 8;
    small.now_ms = start;
    const flow_ptr table = make_flow(small);
    coua_flow_reader* reader = reader_of(table);
    const auto life = static_cast<std::uint32_t>(1 + start % 1024);
    ASSERT_EQ(insert(table, 1, life), COUA_FLOW_ADDED);
    coua_flow_set_time(table.get(), start + life - 1);
    ASSERT_EQ(lost(reader, {1}, 1), 0u) << start;
    coua_flow_set_time(table.get(), start + life);
    ASSERT_EQ(lost(reader, {1}, 1), 1u) << start;
  }
}

// Offsets past 4 GiB overflowed until 2026. Here a table of address space alone: what is touched
// takes memory.
void* take_sparse(void*, std::size_t bytes, std::size_t) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  return memory;
}
void give_sparse(void*, void* memory, std::size_t bytes) { munmap(memory, bytes); }

/// Keys with hashes that lead to chosen buckets, eight to a bucket: as many as it has slots.
struct chosen_keys {
  std::vector<key16> keys, values;
  std::vector<std::uint64_t> hashes;

  void add_bucket(std::uint64_t bucket, std::uint64_t n_buckets) {
    const auto first = ((static_cast<unsigned __int128>(bucket) << 64) + n_buckets - 1) / n_buckets;
    for (std::uint64_t i = 0; i < 8; ++i) {
      const std::uint64_t number = bucket * 8 + i;
      keys.push_back(key_number(number));
      values.push_back(value_number(number));
      // A bucket has 2^34 hashes and more; the low half decides tag and second bucket.
      hashes.push_back(static_cast<std::uint64_t>(first) + (flow_mix(number) >> 30));
    }
  }
  std::size_t size() const { return keys.size(); }
  std::size_t lost(coua_flow_reader* reader) const {
    std::vector<key16> got(size());
    std::vector<std::uint64_t> hits(COUA_FLOW_WORDS(size()));
    coua_flow_lookup_hashed(reader, keys.data(), hashes.data(), size(), got.data(), hits.data());
    std::size_t n_lost = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      n_lost += (hits[i / 64] >> i % 64 & 1) == 0 || got[i] != values[i];
    }
    return n_lost;
  }
};

class flow_sparse : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(kinds, flow_sparse, testing::ValuesIn({kinds[0], kinds[6]}),
                         [](const auto& k) { return k.param.name; });

// Full buckets 2^26 apart, nine of each: a line's offset that wraps at 4 GiB makes two of them one,
// an entry's number that wraps at 2^32 the first and the ninth, an entry's offset in bytes that
// wraps at 4 GiB all nine. What is one then overflows, or its entries overwrite each other.
TEST_P(flow_sparse, offsets_past_4_gib_and_slots_past_2_32_do_not_overflow) {
  coua_flow_params params = flow_params(0);
  params.buckets = (std::uint64_t{1} << 29) + 12'345;  // 32 GiB of lines, 128 GiB of entries
  params.variant = GetParam().variant;
  params.sync = GetParam().sync;
  params.timers = GetParam().timed ? COUA_FLOW_TIMERS_ON : COUA_FLOW_TIMERS_OFF;
  params.allocate = take_sparse;
  params.release = give_sparse;
  coua_flow_table* made = nullptr;
  char message[200] = "";
  const int done = coua_flow_create(&params, &made, message, sizeof message);
  if (done == -ENOMEM) GTEST_SKIP() << "no address space: " << message;
  ASSERT_EQ(done, 0) << message;
  const flow_ptr table(made);
  ASSERT_GT(stats_of(table).slots, std::uint64_t{1} << 32);
  coua_flow_reader* reader = reader_of(table);
  std::vector<chosen_keys> chosen(9);
  for (std::uint64_t k = 0; k < chosen.size(); ++k) {
    for (std::uint64_t b = 0; b < 2'000; ++b) {
      chosen[k].add_bucket(b + (k << 26), params.buckets);
    }
    const chosen_keys& some = chosen[k];
    std::vector<std::int8_t> results(some.size());
    coua_flow_insert_batch(table.get(), some.keys.data(), some.hashes.data(), some.values.data(),
                           some.size(), GetParam().timed ? 1024 : 0, results.data());
    for (const std::int8_t result : results) ASSERT_EQ(result, COUA_FLOW_ADDED);
  }
  EXPECT_EQ(stats_of(table).in_secondary, 0u);
  EXPECT_EQ(stats_of(table).moves, 0u);
  for (const chosen_keys& some : chosen) EXPECT_EQ(some.lost(reader), 0u);
  // What is erased is gone, and nothing else.
  for (std::size_t k = 0; k < chosen.size(); k += 2) {
    EXPECT_EQ(coua_flow_erase_batch(table.get(), chosen[k].keys.data(), chosen[k].hashes.data(),
                                    chosen[k].size()),
              chosen[k].size());
  }
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    EXPECT_EQ(chosen[k].lost(reader), k % 2 == 0 ? chosen[k].size() : 0);
  }
}

}  // namespace
}  // namespace coua::test
