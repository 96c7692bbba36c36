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

TEST(growing_array, the_first_elements_lie_in_one_piece) {
  growing_array<std::uint64_t, 2048, 16384 - 2048> array(true);
  ASSERT_EQ(array.near_size(), 16384u - 2048);
  while (array.size() < 3 * array.near_size()) {
    const std::size_t before = array.size();
    ASSERT_TRUE(array.grow());
    EXPECT_TRUE(array.size() <= array.near_size() || before >= array.near_size());
    for (std::size_t i = before; i < array.size(); ++i) {
      EXPECT_EQ(array[i], 0u);
      array[i] = i;
    }
    EXPECT_GE(array.bytes(), array.size() * sizeof(std::uint64_t));
  }
  for (std::size_t i = 0; i < array.size(); ++i) {
    ASSERT_EQ(array[i], i);
    if (i < array.near_size()) {
      ASSERT_EQ(&array[i], array.near() + i);
    }
  }
}

/// 2^50 bytes are more than a process can have.
TEST(growing_array, without_address_space_it_grows_all_the_same) {
  growing_array<std::uint64_t, 2048, (std::size_t{1} << 47) - 2048> array(true);
  EXPECT_EQ(array.near_size(), 0u);
  while (array.size() < 10'000) {
    const std::size_t before = array.size();
    ASSERT_TRUE(array.grow());
    for (std::size_t i = before; i < array.size(); ++i) array[i] = i;
  }
  for (std::size_t i = 0; i < array.size(); ++i) ASSERT_EQ(array[i], i);
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
