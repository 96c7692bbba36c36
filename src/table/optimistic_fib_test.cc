// SPDX-License-Identifier: Apache-2.0
#include "table/optimistic_fib.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace coua {
namespace {

struct shape {
  unsigned value_bits;
  std::uint64_t n_buckets;  // of four slots: the fewest for such values
  std::uint64_t n_keys;     // that stay
  std::uint64_t slots() const { return 4 * n_buckets; }
};
constexpr shape large = {10, 4'096, 12'000}, small = {4, 64, 180};

// What a sanitizer looks for needs no luck, and each round takes it twenty times as long.
#ifdef COUA_SANITIZED
constexpr std::uint64_t slower = 20;
#else
constexpr std::uint64_t slower = 1;
#endif

coua_fib_record record_of(std::uint64_t i) {
  coua_fib_record record{};
  record.key = i * 0x9e3779b9u + 1;
  record.value = static_cast<std::uint32_t>(i & 15);
  return record;
}

std::unique_ptr<optimistic_fib> filled(optimistic_step step, const shape& as) {
  coua_fib_params params = COUA_FIB_PARAMS_INIT;
  params.buckets = as.n_buckets;
  params.value_bits = as.value_bits;
  auto made = optimistic_fib::create(params, step);
  EXPECT_TRUE(made) << made.error().message();
  for (std::uint64_t i = 0; i < as.n_keys; ++i) {
    EXPECT_EQ((*made)->table().insert(record_of(i)), COUA_FIB_ADDED);
  }
  return std::move(*made);
}

std::uint64_t moves_of(optimistic_fib& fib) {
  coua_fib_stats stats{};
  stats.size = sizeof stats;
  fib.table().get_stats(stats);
  return stats.moves;
}

class optimistic_fib_test : public testing::TestWithParam<optimistic_step> {};

TEST_P(optimistic_fib_test, finds_what_is_there_and_nothing_else) {
  const auto fib = filled(GetParam(), large);
  const std::uint64_t n_keys = large.n_keys;
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 2 * n_keys; ++i) keys.push_back(record_of(i).key);
  std::vector<std::uint32_t> entries(keys.size());
  EXPECT_EQ(fib->lookup(keys.data(), keys.size(), entries.data()), n_keys);
  for (std::uint64_t i = 0; i < n_keys; ++i) {
    ASSERT_EQ(entries[i] >> COUA_FIB_ENTRY_VALUE_SHIFT, record_of(i).value) << i;
    ASSERT_EQ(entries[n_keys + i], COUA_FIB_MISS) << i;
  }
}

// Red when a move does not count its two buckets' versions, or a reader does not compare them.
TEST_P(optimistic_fib_test, misses_no_key_while_others_come_and_go) {
  // A single look-up is over within nanoseconds: only in a small table does it fall into a move. A
  // batch of 64 keys would hardly ever see all of that at rest.
  const bool single =
      GetParam() == optimistic_step::baseline || GetParam() == optimistic_step::memory_order;
  const shape& as = single ? small : large;
  const auto fib = filled(GetParam(), as);
  const std::uint64_t n_keys = as.n_keys;
  // Keys that come and go fill the table to a load of 0.95, so that most inserts move others.
  const std::uint64_t n_passing = as.slots() * 95 / 100 - n_keys;
  std::uint64_t stored = n_keys;
  for (std::uint64_t i = 0; i < n_passing; ++i) {
    stored += fib->table().insert(record_of(n_keys + i)) == COUA_FIB_ADDED;
  }
  EXPECT_GE(stored, as.slots() * 9 / 10);  // four slots to a bucket: a small table may refuse some
  const std::uint64_t moves_before = moves_of(*fib);
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> passes{0};
  std::uint64_t missed = 0;
  std::jthread reader([&] {
    std::vector<std::uint64_t> keys(64);
    std::vector<std::uint32_t> entries(64);
    // Relaxed: the test must not give the table the ordering that it has to have by itself.
    for (std::uint64_t at = 0; !stop.load(std::memory_order_relaxed); at += 64) {
      if (at + 64 > n_keys) at = 0;
      for (std::size_t i = 0; i < 64; ++i) keys[i] = record_of(at + i).key;
      missed += 64 - fib->lookup(keys.data(), 64, entries.data());
      passes.fetch_add(1, std::memory_order_relaxed);
    }
  });
  const auto passed = [&] { return passes.load(std::memory_order_relaxed); };
  while (passed() < 1) std::this_thread::yield();
  // On until both have shown something: entries moved while the reader read, again and again.
  const std::uint64_t rounds = (single ? 500'000 : 200'000) / slower;
  std::uint64_t i = 0, moves = 0;
  for (; i < rounds || ((moves < 10'000 || passed() < 1'000) && i < 6'000'000); ++i) {
    fib->table().erase(record_of(n_keys + i).key);
    fib->table().insert(record_of(n_keys + n_passing + i));
    if (i % 1'000 == 0) moves = moves_of(*fib) - moves_before;
  }
  stop = true;
  reader.join();
  EXPECT_EQ(missed, 0u);
  EXPECT_GE(moves_of(*fib) - moves_before, 10'000u);
  EXPECT_GE(passed(), 1'000u);
}

INSTANTIATE_TEST_SUITE_P(steps, optimistic_fib_test,
                         testing::Values(optimistic_step::baseline, optimistic_step::memory_order,
                                         optimistic_step::batch, optimistic_step::prefetch));

}  // namespace
}  // namespace coua
