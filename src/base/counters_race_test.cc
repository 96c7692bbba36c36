// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/counters.h"

namespace coua {
namespace {

TEST(counters_race, sums_grow_and_end_exact) {
  constexpr std::uint64_t n = 100'000;
  counters all(2, 2);
  std::vector<std::thread> owners;
  for (std::size_t owner = 0; owner < 2; ++owner) {
    owners.emplace_back([row = all.of(owner)] {
      for (std::uint64_t i = 0; i < n; ++i) row.add(1);
    });
  }
  std::uint64_t last = 0;
  while (last < 2 * n) {
    const std::uint64_t now = all.sum(1);
    ASSERT_GE(now, last);
    last = now;
    std::this_thread::yield();
  }
  for (std::thread& owner : owners) owner.join();
  EXPECT_EQ(all.sum(1), 2 * n);
  EXPECT_EQ(all.sum(0), 0U);
}

}  // namespace
}  // namespace coua
