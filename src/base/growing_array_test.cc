// SPDX-License-Identifier: Apache-2.0
#include "base/growing_array.h"

#include <gtest/gtest.h>

#include <vector>

namespace coua {
namespace {

TEST(growing_array, elements_stay_where_they_are_and_what_they_are) {
  growing_array<std::uint32_t, 16> array;
  EXPECT_EQ(array.size(), 0u);
  std::vector<std::uint32_t*> places;
  while (array.size() < 100'000) {
    const std::size_t before = array.size();
    ASSERT_TRUE(array.grow());
    ASSERT_GT(array.size(), before);
    for (std::size_t i = before; i < array.size(); ++i) {
      EXPECT_EQ(array[i], 0u);
      array[i] = static_cast<std::uint32_t>(i);
      places.push_back(&array[i]);
    }
  }
  for (std::size_t i = 0; i < array.size(); ++i) {
    ASSERT_EQ(&array[i], places[i]);
    ASSERT_EQ(array[i], i);
  }
}

TEST(growing_array, no_growth_is_more_than_a_quarter_of_what_was_there) {
  growing_array<std::uint32_t, 1024> array;
  for (int i = 0; i < 40; ++i) {
    const std::size_t before = array.size();
    ASSERT_TRUE(array.grow());
    EXPECT_LE(array.size() - before, (before + 1024) / 4);
    EXPECT_GE(array.size() - before, (before + 1024) / 8);
    EXPECT_GE(array.bytes(), array.size() * sizeof(std::uint32_t));
  }
}

}  // namespace
}  // namespace coua
