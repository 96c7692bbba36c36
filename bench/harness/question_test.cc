// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/question.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <unordered_set>

namespace coua::bench {
namespace {

TEST(population, keys_are_distinct_valid_and_unicast) {
  std::unordered_set<std::uint64_t> macs;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const std::uint64_t key = population{}.key(i);
    const std::uint64_t mac = key & 0xffff'ffff'ffff;
    EXPECT_TRUE(macs.insert(mac).second) << "index " << i;
    EXPECT_EQ(mac >> 40 & 3, 2U) << "must be local and unicast";
    EXPECT_GE(key >> 48, 1U);
    EXPECT_LE(key >> 48, 4094U);
  }
}

TEST(population, values_fit_their_width) {
  for (const unsigned bits : {1U, 10U, 16U, 24U}) {
    const population people{100, bits};
    std::uint32_t all = 0;
    for (std::uint64_t i = 0; i < 5000; ++i) all |= people.value(population{}.key(i));
    EXPECT_EQ(all, (std::uint32_t{1} << bits) - 1);
  }
}

TEST(sequence, keys_come_from_everywhere_and_misses_are_misses) {
  const population people{1000, 16};
  std::unordered_set<std::uint64_t> present;
  for (std::uint64_t i = 0; i < people.entries; ++i) present.insert(population{}.key(i));
  result<sequence> keys = sequence::create(16 * chunk_keys);
  ASSERT_TRUE(keys);
  keys->fill_keys(people, 25, 7);
  std::unordered_set<std::uint64_t> seen;
  std::size_t misses = 0;
  for (std::size_t chunk = 0; chunk < keys->chunks(); ++chunk) {
    for (std::size_t i = 0; i < chunk_keys; ++i) {
      const std::uint64_t key = keys->chunk(chunk)[i];
      const auto value = keys->expected_value(chunk, i, people);
      ASSERT_EQ(value.has_value(), present.contains(key));
      misses += !value;
      if (value) seen.insert(key);
    }
  }
  EXPECT_EQ(seen.size(), people.entries) << "no entry may be left out";
  EXPECT_NEAR(static_cast<double>(misses) / (16 * chunk_keys), 0.25, 0.02);
}

// What a branch predictor could learn would make each table look faster than it is.
TEST(sequence, misses_of_a_batch_vary_in_number_and_place) {
  constexpr std::size_t batch = 32, n_batches = 16 * chunk_keys / batch;
  const population people{1000, 16};
  for (const unsigned percent : {20u, 50u, 80u}) {
    result<sequence> keys = sequence::create(16 * chunk_keys);
    ASSERT_TRUE(keys);
    keys->fill_keys(people, percent, 7);
    std::array<unsigned, batch + 1> of_number{};
    std::array<unsigned, batch> of_place{};
    std::unordered_set<std::uint32_t> patterns;
    for (std::size_t at = 0; at < 16 * chunk_keys; at += batch) {
      std::uint32_t missed = 0;
      for (std::size_t i = 0; i < batch; ++i) {
        const bool miss = !keys->present((at + i) / chunk_keys, (at + i) % chunk_keys);
        missed |= std::uint32_t{miss} << i;
        of_place[i] += miss;
      }
      ++of_number[static_cast<std::size_t>(std::popcount(missed))];
      patterns.insert(missed);
    }
    // Binomial: the number within one deviation in two thirds of the batches, never always the
    // same.
    const double share = percent / 100.0, mean = batch * share;
    const double deviation = std::sqrt(mean * (1 - share));
    double squares = 0;
    for (std::size_t n = 0; n <= batch; ++n) {
      squares += of_number[n] * (static_cast<double>(n) - mean) * (static_cast<double>(n) - mean);
    }
    EXPECT_NEAR(std::sqrt(squares / n_batches), deviation, 0.1 * deviation) << percent;
    for (const unsigned n : of_place) EXPECT_NEAR(n, n_batches * share, 0.1 * n_batches) << percent;
    EXPECT_GT(patterns.size(), n_batches * 9 / 10) << percent;
  }
}

TEST(sequence, expected_sum_is_that_of_the_answers) {
  const population people{500, 16};
  result<sequence> keys = sequence::create(8 * chunk_keys);
  ASSERT_TRUE(keys);
  keys->fill_keys(people, 50, 3);
  const answer_code code{16, 5, UINT32_MAX};
  for (std::size_t chunk = 0; chunk < keys->chunks(); ++chunk) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < chunk_keys; ++i) {
      const auto value = keys->expected_value(chunk, i, people);
      sum += value ? *value * 16 + 5 : UINT32_MAX;
    }
    EXPECT_EQ(keys->expected(chunk, code), sum);
  }
}

TEST(sequence, slack_repeats_the_start) {
  result<sequence> keys = sequence::create(8 * chunk_keys);
  ASSERT_TRUE(keys);
  keys->fill_lines(1 << 20, 9);
  const std::uint64_t* const end = keys->chunk(keys->chunks() - 1) + chunk_keys;
  for (std::size_t i = 0; i < slack_keys; ++i) ASSERT_EQ(end[i], keys->chunk(0)[i]);
}

TEST(sequence, lines_are_spread_evenly_over_the_memory) {
  constexpr std::uint64_t bytes = 64 * 1024;
  result<sequence> lines = sequence::create(64 * chunk_keys);
  ASSERT_TRUE(lines);
  lines->fill_lines(bytes, 1);
  std::array<unsigned, bytes / 64> counts{};
  for (std::size_t chunk = 0; chunk < lines->chunks(); ++chunk) {
    for (std::size_t i = 0; i < chunk_keys; ++i) {
      const std::uint64_t offset = lines->chunk(chunk)[i];
      ASSERT_LT(offset, bytes);
      ASSERT_EQ(offset % 64, 0U);
      ++counts[offset / 64];
    }
  }
  // 256 on average, deviation 16.
  for (const unsigned count : counts) EXPECT_NEAR(count, 256, 100);
}

}  // namespace
}  // namespace coua::bench
