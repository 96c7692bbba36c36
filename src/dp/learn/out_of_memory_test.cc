// SPDX-License-Identifier: Apache-2.0
//
// A flush that finds no memory to go on. A program of its own: operator new is replaced.
#include <gtest/gtest.h>

#include "base/test_little_memory.h"
#include "dp/learn/fib_owner.h"

namespace coua::dp {
namespace {

// Red when whoever works on it has no rest until there is memory.
TEST(fib_owner_out_of_memory, a_flush_waits_for_memory_and_ends) {
  fib_owner_params params;
  params.entries = 2000;
  const auto made = fib_owner::create(params);
  ASSERT_TRUE(made) << made.error().message();
  fib_owner& owner = **made;
  constexpr std::uint64_t first = std::uint64_t{1} << domain_shift | 0x020000000000;
  const auto store = [&](std::uint64_t i, unsigned port) {
    coua_fib_record record{};
    record.key = first + i;
    record.value = port;
    ASSERT_EQ(owner.store({&record, 1}), 1u);
  };
  coua_fib_stats stats{};
  stats.size = sizeof stats;
  coua_fib_get_stats(owner.fib(), &stats);
  const std::uint64_t n = stats.slots * 94 / 100, n_flushed = n / 100;
  for (std::uint64_t i = 0; i < n; ++i) store(i, i < n_flushed ? 1 : 2);
  flush_filter filter;
  filter.ports = port_bit(1);
  const auto job = owner.start_flush(filter);
  ASSERT_NE(job, nullptr);
  while (job->removed() < n_flushed / 2) owner.flush_slice(256);
  // More moves than its cursor can follow: others come and go at port 2.
  for (std::uint64_t i = n; i < n + 2'000'000; ++i) {
    ASSERT_TRUE(owner.erase(first + n_flushed + i - n));
    store(i, 2);
  }
  const std::uint64_t removed = job->removed();
  n_allocations_left = 0;
  const bool has_more = owner.flush_slice(256);
  n_allocations_left = unlimited_memory;
  EXPECT_FALSE(has_more);
  EXPECT_FALSE(job->done());
  EXPECT_EQ(job->removed(), removed);
  while (owner.flush_slice(256)) {
  }
  EXPECT_TRUE(job->done());
  EXPECT_EQ(job->removed(), n_flushed);
}

}  // namespace
}  // namespace coua::dp
