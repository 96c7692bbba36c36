// SPDX-License-Identifier: Apache-2.0
//
// Bursts in which a key comes more than once, or a stranger with the hash of another; and a bucket
// that more entries want than its counter of guests can tell.
#include "flow_handles.h"

namespace coua::test {
namespace {

// A new flow comes in a burst of its own packets: the first is added, the others find it.
TEST(flow_batches, a_key_that_comes_twice_in_a_batch_is_added_once) {
  for (const bool has_hashes : {false, true}) {
    const flow_ptr table = make_flow(flow_params(1000));
    coua_flow_reader* reader = reader_of(table);
    constexpr std::size_t n = 70;
    std::vector<key16> keys(n), values(n);
    std::vector<std::uint64_t> hashes(n);
    std::vector<std::int8_t> results(n);
    const auto fill = [&](std::uint64_t from) {
      // 0, 0, 1, 1, ... and once more at the end of the batch, in another group.
      for (std::size_t i = 0; i < n; ++i) {
        keys[i] = key_number(from + i / 2 % 20);
        values[i] = value_number(i);
      }
      coua_flow_hash_batch(table.get(), keys.data(), n, hashes.data());
    };
    const std::uint64_t* given = has_hashes ? hashes.data() : nullptr;
    const auto is_first = [](std::size_t i) { return i % 2 == 0 && i < 40; };
    key16 got;

    fill(0);
    EXPECT_EQ(
        coua_flow_add_batch(table.get(), keys.data(), given, values.data(), n, 0, results.data()),
        n);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(results[i], is_first(i) ? COUA_FLOW_ADDED : COUA_FLOW_PRESENT) << i;
    }
    EXPECT_EQ(coua_flow_lookup(reader, &keys[2], &got), 1);
    EXPECT_EQ(got, value_number(2)) << "the first value stays";

    fill(100);
    EXPECT_EQ(coua_flow_find_or_add_batch(table.get(), keys.data(), given, values.data(), n, 0,
                                          results.data()),
              n);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(results[i], is_first(i) ? COUA_FLOW_ADDED : COUA_FLOW_PRESENT) << i;
      EXPECT_EQ(values[i], value_number(i / 2 % 20 * 2)) << i;
    }

    fill(200);
    EXPECT_EQ(coua_flow_insert_batch(table.get(), keys.data(), given, values.data(), n, 0,
                                     results.data()),
              n);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(results[i], is_first(i) ? COUA_FLOW_ADDED : COUA_FLOW_UPDATED) << i;
    }
    EXPECT_EQ(coua_flow_lookup(reader, &keys[2], &got), 1);
    EXPECT_EQ(got, value_number(43)) << "the last value stays";

    EXPECT_EQ(stats_of(table).entries, 60u);
    EXPECT_EQ(coua_flow_erase_batch(table.get(), keys.data(), given, n), 20u);
    EXPECT_EQ(stats_of(table).entries, 40u);
  }
}

// All keys of a group have an entry by their tags; those that are another key's must not be given
// out, nor anything written for them.
TEST(flow_batches, a_stranger_with_the_hash_of_another_key_is_told_apart) {
  for (const coua_flow_sync sync : {COUA_FLOW_SINGLE, COUA_FLOW_ONE_WRITER}) {
    for (const std::uint32_t value_bytes : {8u, 16u}) {
      coua_flow_params params = flow_params(100);
      params.sync = sync;
      params.timers = COUA_FLOW_TIMERS_OFF;
      params.value_bytes = value_bytes;
      const flow_ptr table = make_flow(params);
      coua_flow_reader* reader = reader_of(table);
      constexpr std::size_t n = 70;
      const std::size_t n_words = value_bytes / 8;
      std::vector<key16> keys(n);
      std::vector<std::uint64_t> hashes(n), wanted(n * n_words);
      for (std::size_t i = 0; i < n; ++i) keys[i] = key_number(i);
      for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = flow_mix(i);
      ASSERT_EQ(
          coua_flow_insert_batch(table.get(), keys.data(), nullptr, wanted.data(), n, 0, nullptr),
          n);
      coua_flow_hash_batch(table.get(), keys.data(), n, hashes.data());
      for (std::size_t stranger = 0; stranger <= n; ++stranger) {
        std::vector<key16> asked = keys;
        std::vector<std::uint64_t> got(wanted.size(), 77), expected = wanted;
        std::uint64_t hits[COUA_FLOW_WORDS(n)];
        if (stranger < n) {  // else all are at home
          asked[stranger] = key_number(n + stranger);
          std::fill_n(&expected[stranger * n_words], n_words, 77);
        }
        EXPECT_EQ(coua_flow_lookup_hashed(reader, asked.data(), hashes.data(), n, got.data(), hits),
                  n - (stranger < n));
        for (std::size_t i = 0; i < n; ++i) {
          ASSERT_EQ(hits[i / 64] >> i % 64 & 1, i != stranger) << i << ", stranger " << stranger;
        }
        ASSERT_EQ(got, expected) << "stranger " << stranger;
      }
    }
  }
}

// 300 entries of one primary bucket: the number of its guests stays at 255, what it is told of is
// not forgotten, and sweeps count anew when most are gone.
TEST(flow_guests, more_than_255_of_one_bucket_are_found_and_their_filter_recovers) {
  const std::uint8_t hash_key[32] = {4, 5, 6};
  for (const auto variant : {COUA_FLOW_BLOOM, COUA_FLOW_HORTON}) {
    SCOPED_TRACE(variant);
    coua_flow_params params = flow_params(0);
    params.buckets = 1000;
    params.variant = variant;
    params.hash_key = hash_key;
    const flow_ptr table = make_flow(params);
    coua_flow_reader* reader = reader_of(table);
    std::vector<std::uint64_t> crowd, absent;  // all of the first bucket
    for (std::uint64_t i = 0; absent.size() < 300; ++i) {
      const key16 key = key_number(i);
      if (coua_flow_hash(table.get(), &key) >= UINT64_MAX / params.buckets) continue;
      (crowd.size() < 300 ? crowd : absent).push_back(i);
    }
    for (const std::uint64_t i : crowd) ASSERT_EQ(insert(table, i), COUA_FLOW_ADDED);
    ASSERT_EQ(stats_of(table).in_secondary, 292u);
    EXPECT_EQ(lost(reader, crowd, 32), 0u);
    const auto sweep_rounds = [&](int n) {
      for (int round = 0; round < n; ++round) {
        while (coua_flow_sweep(table.get(), 100) == 0) continue;
      }
    };
    const auto second_looks = [&] {
      const std::uint64_t before = stats_of(table).second_looks;
      EXPECT_EQ(lost(reader, absent, 32), absent.size());
      return stats_of(table).second_looks - before;
    };
    EXPECT_GT(second_looks(), 200u) << "the filter is full";
    sweep_rounds(17);
    EXPECT_EQ(lost(reader, crowd, 32), 0u) << "after sweeps that counted 255 or more";
    // 20 stay: the counter cannot say so, and must not say that nobody is left.
    while (crowd.size() > 20) {
      ASSERT_EQ(erase(table, crowd.front()), 0);
      crowd.erase(crowd.begin());
      if (crowd.size() % 20 == 0) {
        ASSERT_EQ(lost(reader, crowd, 32), 0u) << crowd.size() << " are left";
      }
    }
    const std::uint64_t rebuilt = stats_of(table).filters_rebuilt;
    sweep_rounds(34);
    EXPECT_EQ(lost(reader, crowd, 32), 0u);
    EXPECT_GT(stats_of(table).filters_rebuilt, rebuilt);
    EXPECT_EQ(stats_of(table).in_secondary, 12u);
    EXPECT_LT(second_looks(), 240u) << "the filter holds the bits of 12 guests";
    for (const std::uint64_t i : crowd) ASSERT_EQ(erase(table, i), 0);
    EXPECT_EQ(second_looks(), 0u) << "the counter is exact again, and came to 0";
  }
}

}  // namespace
}  // namespace coua::test
