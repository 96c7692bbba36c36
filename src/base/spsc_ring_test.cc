// SPDX-License-Identifier: Apache-2.0
#include "base/spsc_ring.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>

namespace coua {
namespace {

TEST(spsc_ring, rounds_capacity_up_and_uses_all_of_it) {
  spsc_ring<int> ring(5);
  EXPECT_EQ(ring.capacity(), 8U);
  EXPECT_EQ(spsc_ring<int>(1).capacity(), 1U);
  int out = 0;
  EXPECT_FALSE(ring.pop(out));
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(ring.push(i));
  EXPECT_FALSE(ring.push(8));
  EXPECT_EQ(ring.size(), 8U);
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(ring.pop(out));
    EXPECT_EQ(out, i);
  }
  EXPECT_TRUE(ring.empty());
}

TEST(spsc_ring, bulk_takes_what_fits_and_keeps_order_across_the_end) {
  spsc_ring<std::uint32_t> ring(8);
  std::array<std::uint32_t, 6> in;
  std::uint32_t next_in = 0, next_out = 0;
  for (int round = 0; round < 50; ++round) {
    std::iota(in.begin(), in.end(), next_in);
    const std::size_t room = ring.capacity() - ring.size();
    const std::size_t pushed = ring.push(in);
    EXPECT_EQ(pushed, std::min(room, in.size()));
    next_in += static_cast<std::uint32_t>(pushed);
    std::array<std::uint32_t, 5> out;
    const std::size_t there = ring.size();
    const std::size_t popped = ring.pop(out);
    EXPECT_EQ(popped, std::min(there, out.size()));
    for (std::size_t i = 0; i < popped; ++i) EXPECT_EQ(out[i], next_out++);
  }
  EXPECT_EQ(ring.size(), next_in - next_out);
}

}  // namespace
}  // namespace coua
