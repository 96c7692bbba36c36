// SPDX-License-Identifier: Apache-2.0
#include "setsep/group_balance.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace coua::setsep {
namespace {

TEST(group_of, sends_four_buckets_of_each_choice_to_each_group) {
  for (unsigned c = 0; c < n_choices; ++c) {
    std::array<unsigned, block_groups> buckets{};
    for (unsigned b = 0; b < block_buckets; ++b) ++buckets[group_of(b, c)];
    for (const unsigned n : buckets) EXPECT_EQ(n, block_buckets / block_groups);
  }
}

TEST(group_of, gives_each_bucket_four_groups) {
  for (unsigned b = 0; b < block_buckets; ++b) {
    std::set<unsigned> groups;
    for (unsigned c = 0; c < n_choices; ++c) groups.insert(group_of(b, c));
    EXPECT_EQ(groups.size(), n_choices) << b;
  }
}

using bucket_sizes = std::array<std::uint32_t, block_buckets>;

bucket_sizes random_sizes(std::mt19937& random, unsigned n_keys) {
  bucket_sizes made{};
  for (unsigned i = 0; i < n_keys; ++i) ++made[random() % block_buckets];
  return made;
}

TEST(balance, counts_what_it_chose) {
  std::mt19937 random(1);
  for (const unsigned n_keys : {0U, 1U, 500U, 1024U, 3000U}) {
    const bucket_sizes sizes = random_sizes(random, n_keys);
    const balanced_block made = balance(sizes);
    std::array<std::uint32_t, block_groups> keys{};
    for (unsigned b = 0; b < block_buckets; ++b) {
      ASSERT_LT(made.choice[b], n_choices);
      keys[group_of(b, made.choice[b])] += sizes[b];
    }
    EXPECT_EQ(made.keys, keys);
    EXPECT_LE(made.fullest(), n_keys);
  }
}

// The paper gets groups of 21 keys at most from 16 on average.
TEST(balance, leaves_no_group_much_fuller_than_the_others) {
  std::mt19937 random(2);
  std::uint32_t fullest = 0, sum = 0;
  constexpr unsigned n_blocks = 2000;
  for (unsigned i = 0; i < n_blocks; ++i) {
    const std::uint32_t here = balance(random_sizes(random, block_keys)).fullest();
    fullest = std::max(fullest, here);
    sum += here;
  }
  EXPECT_LE(fullest, 20U);
  EXPECT_LT(sum, 18U * n_blocks);
}

TEST(balance, one_large_bucket_is_alone) {
  bucket_sizes sizes{};
  sizes[7] = 100;
  for (unsigned b = 0; b < 64; ++b) sizes[b + 64] = 2;
  const balanced_block made = balance(sizes);
  EXPECT_EQ(made.fullest(), 100U);
}

}  // namespace
}  // namespace coua::setsep
