// SPDX-License-Identifier: Apache-2.0
#include "base/counters.h"

#include <gtest/gtest.h>

namespace coua {
namespace {

TEST(counters, keep_owners_and_counters_apart) {
  counters all(3, 11);  // more than a line, not a whole number of lines
  for (std::size_t owner = 0; owner < all.owners(); ++owner) {
    for (std::size_t index = 0; index < all.size(); ++index) {
      all.of(owner).add(index, 100 * owner + index);
    }
  }
  all.of(1).add(10);
  for (std::size_t owner = 0; owner < 3; ++owner) {
    for (std::size_t index = 0; index < 11; ++index) {
      EXPECT_EQ(all.value(owner, index), 100 * owner + index + (owner == 1 && index == 10));
    }
  }
  EXPECT_EQ(all.sum(0), 300U);
  EXPECT_EQ(all.sum(10), 331U);
}

}  // namespace
}  // namespace coua
