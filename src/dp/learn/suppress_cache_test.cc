// SPDX-License-Identifier: Apache-2.0
#include "dp/learn/suppress_cache.h"

#include <gtest/gtest.h>

namespace coua::dp {
namespace {

TEST(suppress_cache, a_repeat_is_the_same_pair_within_the_hold_time) {
  suppress_cache cache(100, 10);
  EXPECT_FALSE(cache.is_repeat(0, 0, 0));  // an empty slot is nobody's
  EXPECT_FALSE(cache.is_repeat(42, 1, 1000));
  cache.remember(42, 1, 1000);
  EXPECT_TRUE(cache.is_repeat(42, 1, 1000));
  EXPECT_TRUE(cache.is_repeat(42, 1, 1099));
  EXPECT_FALSE(cache.is_repeat(42, 1, 1100));
  EXPECT_FALSE(cache.is_repeat(42, 2, 1010)) << "a move must not be suppressed";
  EXPECT_FALSE(cache.is_repeat(43, 1, 1010));
  cache.clear();
  EXPECT_FALSE(cache.is_repeat(42, 1, 1001));
}

TEST(suppress_cache, an_address_at_two_ports_is_not_told_with_every_burst) {
  suppress_cache cache(100, 10);
  unsigned n_told = 0;
  for (std::uint64_t now = 1000; now < 2000; ++now) {
    const std::uint32_t port = now % 2;
    if (cache.is_repeat(42, port, now)) continue;
    cache.remember(42, port, now);
    ++n_told;
  }
  EXPECT_GE(n_told, 50U);  // it does move
  EXPECT_LE(n_told, 100U);
}

TEST(suppress_cache, a_collision_forgets_instead_of_confusing) {
  suppress_cache cache(1000, 100);
  for (std::uint64_t key = 0; key < 5000; ++key) cache.remember(key, 1, 10);
  unsigned repeats = 0;
  for (std::uint64_t key = 0; key < 10000; ++key) {
    const bool repeat = cache.is_repeat(key, 1, 20);
    repeats += repeat;
    if (key >= 5000) {
      EXPECT_FALSE(repeat);
    }
  }
  EXPECT_GT(repeats, 600u);  // sequential addresses spread over the 1,024 slots
  EXPECT_LE(repeats, 1024u);
}

}  // namespace
}  // namespace coua::dp
