// SPDX-License-Identifier: Apache-2.0
//
// What the sizing of the table promises: loads, shares, false positives, bytes.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>

#include "flow_handles.h"

namespace coua::test {
namespace {

constexpr std::uint64_t n_entries = 400'000;

double share_in_secondary(const flow_ptr& table) {
  const coua_flow_stats stats = stats_of(table);
  return static_cast<double>(stats.in_secondary) / static_cast<double>(stats.entries);
}

/// Second buckets looked into per look-up of keys that are not there.
double false_positives(const flow_ptr& table) {
  coua_flow_reader* reader = reader_of(table);
  constexpr std::size_t n = 400'000;
  std::vector<key16> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = key_number(1000 * n_entries + i);
  const std::uint64_t before = stats_of(table).second_looks;
  EXPECT_EQ(coua_flow_lookup_batch(reader, keys.data(), n, nullptr, nullptr), 0u);
  const std::uint64_t after = stats_of(table).second_looks;
  coua_flow_reader_destroy(reader);
  return static_cast<double>(after - before) / static_cast<double>(n);
}

/// As the table is filled, `limits` being loads and the most that is allowed there.
void expect_false_positives(enum coua_flow_variant variant, const double (&limits)[3][2]) {
  coua_flow_params params = flow_params(n_entries);
  params.variant = variant;
  const flow_ptr table = make_flow(params);
  const auto slots = static_cast<double>(stats_of(table).slots);
  std::uint64_t i = 0;
  for (const auto& [load, limit] : limits) {
    while (static_cast<double>(i) < load * slots - 1) {
      ASSERT_EQ(insert(table, i++), COUA_FLOW_ADDED);
    }
    const double rate = false_positives(table);
    std::printf("load %.2f: false positives %.5f\n", load, rate);
    EXPECT_LT(rate, limit) << "at load " << load;
    EXPECT_GT(rate, limit / 40) << "at load " << load;
  }
}

// Table 2 of the paper: 0.0002, 0.001, 0.003.
TEST(flow_load, bloom_filters_err_as_rarely_as_published) {
  expect_false_positives(COUA_FLOW_BLOOM, {{0.6, 0.0002}, {0.8, 0.001}, {0.95, 0.003}});
}

// The same table, with one digit: 0.004, 0.02, 0.05. Ours has 0.0045, 0.0200, 0.0463; these limits
// are five deviations above what 20 hash keys gave.
TEST(flow_load, remap_arrays_err_about_as_rarely_as_published) {
  expect_false_positives(COUA_FLOW_HORTON, {{0.6, 0.0051}, {0.8, 0.0215}, {0.95, 0.0485}});
}

struct churn_case {
  const char* name;
  enum coua_flow_variant variant;
  enum coua_flow_sync sync;
  bool timed;
  std::uint32_t filter_rounds;
  double load;
  double churning, idle;  // false positives at most
};
void PrintTo(const churn_case& c, std::ostream* out) { *out << c.name; }

class flow_churn_load : public testing::TestWithParam<churn_case> {};

// Bits of guests that left stay in a filter until it is made anew. The sweep of each insert and
// erase does that, and sends guests home: so churn comes near table 2 of the paper (at load 0.95
// 0.003, Horton 0.05) where each round of the sweep makes all filters anew, and stays below about
// four times that where it takes 20; and a table that is swept once it has come to rest is within
// it, or with Horton near it.
TEST_P(flow_churn_load, filters_recover_while_entries_come_and_go) {
  constexpr std::uint64_t n_live = 100'000;
  const churn_case& c = GetParam();
  coua_flow_params params = flow_params(n_live);
  params.variant = c.variant;
  params.sync = c.sync;
  params.timers = c.timed ? COUA_FLOW_TIMERS_ON : COUA_FLOW_TIMERS_OFF;
  params.filter_rounds = c.filter_rounds;
  params.max_load = c.load;
  const flow_ptr table = make_flow(params);
  const std::uint32_t units = c.timed ? 1024 : 0;
  std::vector<std::uint64_t> live(n_live);
  std::iota(live.begin(), live.end(), 0);
  for (const std::uint64_t k : live) ASSERT_EQ(insert(table, k, units), COUA_FLOW_ADDED);
  std::mt19937_64 random(1);
  std::uint64_t next = n_live;
  double rate[2];
  for (double& r : rate) {
    for (std::uint64_t i = 0; i < 3 * n_live; ++i) {
      std::uint64_t& k = live[random() % n_live];
      ASSERT_EQ(erase(table, k), 0);
      k = next++;
      ASSERT_EQ(insert(table, k, units), COUA_FLOW_ADDED);
    }
    r = false_positives(table);
    std::printf("churn: false positives %.5f, in secondary %.3f\n", r, share_in_secondary(table));
    EXPECT_LT(r, c.churning);
  }
  // At low loads some 40 of all the misses are false positives.
  EXPECT_LT(rate[1], rate[0] * 1.2 + 0.0001);
  EXPECT_GT(stats_of(table).filters_rebuilt, 0u);
  EXPECT_LT(share_in_secondary(table), 0.23);
  const unsigned rounds = c.filter_rounds == 0 ? 20 : c.filter_rounds;
  for (unsigned round = 0; round < rounds + 2; ++round) {
    while (coua_flow_sweep(table.get(), 1000) == 0) continue;
  }
  const double idle = false_positives(table);
  std::printf("idle: false positives %.5f, in secondary %.3f\n", idle, share_in_secondary(table));
  EXPECT_LT(idle, c.idle);
  EXPECT_EQ(lost(reader_of(table), live, 1000), 0u);
}

const churn_case churn_cases[] = {
    {"bloom", COUA_FLOW_BLOOM, COUA_FLOW_SINGLE, false, 0, 0.95, 0.015, 0.003},
    {"bloom_timed", COUA_FLOW_BLOOM, COUA_FLOW_SINGLE, true, 0, 0.95, 0.015, 0.003},
    {"bloom_timed_each", COUA_FLOW_BLOOM, COUA_FLOW_SINGLE, true, 1, 0.95, 0.0036, 0.003},
    {"bloom_timed_writer", COUA_FLOW_BLOOM, COUA_FLOW_ONE_WRITER, true, 1, 0.95, 0.0036, 0.003},
    {"horton", COUA_FLOW_HORTON, COUA_FLOW_SINGLE, false, 0, 0.95, 0.15, 0.065},
    {"horton_each", COUA_FLOW_HORTON, COUA_FLOW_SINGLE, false, 1, 0.95, 0.08, 0.065},
    {"bloom_at_80", COUA_FLOW_BLOOM, COUA_FLOW_SINGLE, true, 0, 0.8, 0.004, 0.001},
    {"bloom_at_60", COUA_FLOW_BLOOM, COUA_FLOW_SINGLE, true, 0, 0.6, 0.0006, 0.0002},
    {"bloom_each_at_80", COUA_FLOW_BLOOM, COUA_FLOW_SINGLE, true, 1, 0.8, 0.001, 0.001},
    {"bloom_each_at_60", COUA_FLOW_BLOOM, COUA_FLOW_SINGLE, true, 1, 0.6, 0.0002, 0.0002},
    {"horton_at_80", COUA_FLOW_HORTON, COUA_FLOW_SINGLE, false, 0, 0.8, 0.05, 0.025},
    {"horton_at_60", COUA_FLOW_HORTON, COUA_FLOW_SINGLE, false, 0, 0.6, 0.012, 0.0065},
    {"horton_each_at_80", COUA_FLOW_HORTON, COUA_FLOW_SINGLE, false, 1, 0.8, 0.032, 0.025},
    {"horton_each_at_60", COUA_FLOW_HORTON, COUA_FLOW_SINGLE, false, 1, 0.6, 0.008, 0.0065},
};
INSTANTIATE_TEST_SUITE_P(kinds, flow_churn_load, testing::ValuesIn(churn_cases),
                         [](const auto& c) { return c.param.name; });

TEST(flow_load, at_most_17_percent_are_in_their_secondary_bucket_at_load_095) {
  const flow_ptr table = make_flow(flow_params(n_entries));
  for (std::uint64_t i = 0; i < n_entries; ++i) ASSERT_EQ(insert(table, i), COUA_FLOW_ADDED);
  EXPECT_LT(share_in_secondary(table), 0.172);
  EXPECT_GT(share_in_secondary(table), 0.12);
}

// Up to four keys are looked up by other code than those of larger batches.
TEST(flow_load, few_keys_find_and_count_what_many_do) {
  constexpr std::size_t n = 4096, n_there = 20'000;
  std::vector<key16> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = key_number(i % 2 == 0 ? i : 1000 * n_entries + i);
  for (const enum coua_flow_variant variant :
       {COUA_FLOW_BLOOM, COUA_FLOW_OPTIMISTIC, COUA_FLOW_PESSIMISTIC, COUA_FLOW_HORTON}) {
    for (const enum coua_flow_sync sync : {COUA_FLOW_SINGLE, COUA_FLOW_ONE_WRITER}) {
      coua_flow_params params = flow_params(n_there);
      params.variant = variant;
      params.sync = sync;
      params.timers = COUA_FLOW_TIMERS_OFF;
      const flow_ptr table = make_flow(params);
      for (std::uint64_t i = 0; i < n_there; ++i) ASSERT_EQ(insert(table, i), COUA_FLOW_ADDED);
      coua_flow_reader* reader = reader_of(table);
      const auto second_looks_of = [&](std::size_t at_once) {
        const std::uint64_t before = stats_of(table).second_looks;
        for (std::size_t at = 0, some = 0; at < n; at += some) {
          some = std::min(at_once, n - at);
          std::vector<key16> values(some);
          std::vector<std::uint64_t> hits(COUA_FLOW_WORDS(some) + 1, ~std::uint64_t{0});
          EXPECT_EQ(coua_flow_lookup_batch(reader, &keys[at], some, values.data(), hits.data()),
                    (some + (at + 1) % 2) / 2);
          for (std::size_t i = 0; i < some; ++i) {
            const bool is_there = (at + i) % 2 == 0;
            EXPECT_EQ((hits[i / 64] >> i % 64 & 1) != 0, is_there) << at + i << " of " << at_once;
            const key16 right = value_number(at + i);
            if (is_there) {
              EXPECT_EQ(std::memcmp(&values[i], &right, sizeof right), 0) << at + i;
            }
          }
          EXPECT_EQ(hits.back(), ~std::uint64_t{0}) << "written past the end";
        }
        return static_cast<double>(stats_of(table).second_looks - before);
      };
      const double of_many = second_looks_of(n);
      EXPECT_GT(of_many, n / 100) << variant;
      for (const std::size_t few : {1, 2, 3, 4, 5}) {
        // What a tag nominated in vain, one in 8,000, may be counted twice, or not.
        EXPECT_NEAR(second_looks_of(few), of_many, 12) << variant << ", " << few;
      }
      std::uint64_t untouched = 7;
      EXPECT_EQ(coua_flow_lookup_batch(reader, keys.data(), 0, nullptr, &untouched), 0u);
      EXPECT_EQ(untouched, 7u);
      coua_flow_reader_destroy(reader);
    }
  }
}

TEST(flow_load, timers_take_no_memory) {
  coua_flow_params params = flow_params(n_entries);
  const std::uint64_t without = stats_of(make_flow(params)).bytes;
  params.timers = 1;
  const std::uint64_t with = stats_of(make_flow(params)).bytes;
  EXPECT_EQ(with, without);
  EXPECT_LE(static_cast<double>(with) / n_entries, 42.2);
}

TEST(flow_load, smaller_buckets_use_as_many_slots) {
  for (const std::uint32_t slots : {1u, 2u, 4u, 8u}) {
    coua_flow_params params = flow_params(0);
    params.buckets = 8192 / slots;
    params.bucket_slots = slots;
    const flow_ptr table = make_flow(params);
    EXPECT_EQ(stats_of(table).slots, 8192u);
    std::uint64_t n = 0;
    while (insert(table, n) == COUA_FLOW_ADDED) ++n;
    // Cuckoo hashing with two choices holds 0.5 with one slot a bucket, 0.9 with two. With one slot
    // the first refusal may come much sooner: one small cycle of keys too many is enough.
    const double expected = slots == 1 ? 0.25 : slots == 2 ? 0.85 : 0.94;
    EXPECT_GT(static_cast<double>(n) / 8192, expected) << slots;
  }
}

}  // namespace
}  // namespace coua::test
