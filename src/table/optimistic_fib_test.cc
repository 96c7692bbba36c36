// SPDX-License-Identifier: Apache-2.0
#include "table/optimistic_fib.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace coua {
namespace {

constexpr std::uint64_t n_keys = 12'000;

coua_fib_record record_of(std::uint64_t i) {
  coua_fib_record record{};
  record.key = i * 0x9e3779b9u + 1;
  record.value = static_cast<std::uint32_t>(i & 1023);
  return record;
}

std::unique_ptr<optimistic_fib> filled(optimistic_step step) {
  coua_fib_params params = COUA_FIB_PARAMS_INIT;
  params.entries = n_keys + 1'000;
  params.max_load = 0.95;
  params.value_bits = 10;
  auto made = optimistic_fib::create(params, step);
  EXPECT_TRUE(made) << made.error().message();
  for (std::uint64_t i = 0; i < n_keys; ++i) {
    EXPECT_EQ((*made)->table().insert(record_of(i)), COUA_FIB_ADDED);
  }
  return std::move(*made);
}

class optimistic_fib_test : public testing::TestWithParam<optimistic_step> {};

TEST_P(optimistic_fib_test, finds_what_is_there_and_nothing_else) {
  const auto fib = filled(GetParam());
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
  const auto fib = filled(GetParam());
  std::atomic<bool> stop{false};
  std::jthread writer([&] {
    for (std::uint64_t i = 0; i < 60'000; ++i) {
      fib->table().insert(record_of(n_keys + i));
      if (i >= 900) fib->table().erase(record_of(n_keys + i - 900).key);
    }
    stop = true;
  });
  std::vector<std::uint64_t> keys(64);
  std::vector<std::uint32_t> entries(64);
  std::uint64_t missed = 0;
  for (std::uint64_t at = 0; !stop; at = (at + 64) % (n_keys - 64)) {
    for (std::size_t i = 0; i < 64; ++i) keys[i] = record_of(at + i).key;
    missed += 64 - fib->lookup(keys.data(), 64, entries.data());
  }
  EXPECT_EQ(missed, 0u);
}

INSTANTIATE_TEST_SUITE_P(steps, optimistic_fib_test,
                         testing::Values(optimistic_step::baseline, optimistic_step::memory_order,
                                         optimistic_step::batch, optimistic_step::prefetch));

}  // namespace
}  // namespace coua
