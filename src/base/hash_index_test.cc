// SPDX-License-Identifier: Apache-2.0
#include "base/hash_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <unordered_map>

namespace coua {
namespace {

TEST(hash_index, has_what_was_put_in_and_not_taken_out) {
  std::mt19937_64 random(1);
  // Few hashes for many values, as many as values, and numbers in a row.
  for (const std::uint64_t n_hashes : {std::uint64_t{3}, std::uint64_t{500}, ~std::uint64_t{0}}) {
    hash_index<std::uint64_t> index;
    std::unordered_map<std::uint64_t, std::uint64_t> model;  // hashes by value
    const auto check = [&](std::uint64_t value, std::uint64_t hash) {
      const auto is = [value](std::uint64_t one) { return one == value; };
      const std::uint64_t* found = index.find(hash, is);
      ASSERT_EQ(found != nullptr, model.contains(value));
      if (found != nullptr) {
        ASSERT_EQ(*found, value);
      }
    };
    for (int step = 0; step < 20'000; ++step) {
      const std::uint64_t value = random() % 600;
      const std::uint64_t hash = value % n_hashes;
      const auto is = [value](std::uint64_t one) { return one == value; };
      check(value, hash);
      if (model.contains(value)) {
        ASSERT_TRUE(index.erase(hash, is));
        model.erase(value);
      } else {
        ASSERT_FALSE(index.erase(hash, is));
        index.insert(hash, value);
        model[value] = hash;
      }
      ASSERT_EQ(index.size(), model.size());
      if (step % 100 != 0) continue;
      for (std::uint64_t each = 0; each < 600; ++each) check(each, each % n_hashes);
    }
    std::set<std::uint64_t> all;
    index.each([&](std::uint64_t one) { all.insert(one); });
    EXPECT_EQ(all.size(), model.size());
    for (const auto& [value, hash] : model) EXPECT_TRUE(all.contains(value));
  }
}

/// Numbers in a row, those that are left of them, and the order of another table.
TEST(hash_index, searches_are_short_whatever_comes) {
  constexpr std::uint64_t n = 100'000;
  constexpr std::size_t short_enough = 400;
  hash_index<std::uint64_t> row;
  for (std::uint64_t i = 1; i <= n; ++i) row.insert(i, i);
  EXPECT_LT(row.longest_search(), short_enough);
  for (const std::uint64_t n_copied : {n / 100, n / 10, n}) {
    hash_index<std::uint64_t> copy;
    std::size_t longest = 0, at = 0;
    row.each([&](std::uint64_t one) {
      if (copy.size() == n_copied) return;
      copy.insert(one, one);
      if (++at % 1000 == 0) longest = std::max(longest, copy.longest_search());
    });
    EXPECT_LT(longest, short_enough) << n_copied;
  }
  for (const std::uint64_t step : {4U, 64U, 1000U, 1024U}) {
    hash_index<std::uint64_t> apart;
    for (std::uint64_t i = 1; i <= n; ++i) apart.insert(i * step, i);
    EXPECT_LT(apart.longest_search(), short_enough) << step;
  }
  for (std::uint64_t i = 1; i <= n; ++i) {
    row.insert(n + i, n + i);
    if (i % 16 == 0) continue;
    EXPECT_TRUE(row.erase(i));
  }
  EXPECT_LT(row.longest_search(), short_enough);
}

TEST(hash_index, an_empty_one_has_nothing) {
  hash_index<int> index;
  EXPECT_EQ(index.find(0), nullptr);
  EXPECT_FALSE(index.erase(0));
  index.insert(0, 7);
  ASSERT_NE(index.find(0), nullptr);
  index.clear();
  EXPECT_EQ(index.size(), 0U);
  EXPECT_EQ(index.find(0), nullptr);
}

TEST(hash_index, owns_its_values) {
  const auto counted = std::make_shared<int>();
  hash_index<std::shared_ptr<int>> index;
  for (std::uint64_t i = 0; i < 100; ++i) index.insert(i, counted);
  EXPECT_EQ(counted.use_count(), 101);
  for (std::uint64_t i = 0; i < 50; ++i) EXPECT_TRUE(index.erase(i));
  EXPECT_EQ(counted.use_count(), 51);
  index.clear();
  EXPECT_EQ(counted.use_count(), 1);
}

}  // namespace
}  // namespace coua
