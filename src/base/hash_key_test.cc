// SPDX-License-Identifier: Apache-2.0
#include "base/hash_key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace coua {
namespace {

TEST(hash_key, differs_from_draw_to_draw) {
  const result<hash_key> one = draw_hash_key(), other = draw_hash_key();
  ASSERT_TRUE(one && other);
  EXPECT_NE(*one, *other);
}

TEST(hash_key, fills_every_byte_of_a_long_span) {
  // Above 256 bytes the kernel may answer in parts. 32 bytes are all zero once in 2^256.
  std::vector<std::uint8_t> bytes(100'000, 0);
  ASSERT_TRUE(fill_random(bytes));
  for (std::size_t at = 0; at < bytes.size(); at += 32) {
    EXPECT_TRUE(std::any_of(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                            bytes.begin() + static_cast<std::ptrdiff_t>(at + 32),
                            [](std::uint8_t byte) { return byte != 0; }))
        << at;
  }
}

}  // namespace
}  // namespace coua
