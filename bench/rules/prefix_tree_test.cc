// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/prefix_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>

namespace coua::bench {
namespace {

using levels = std::array<trie_level, address_bits>;

levels all(float two_children, float skew) {
  levels out;
  out.fill({two_children, skew});
  return out;
}

TEST(prefix_tree, nodes_with_one_child_lead_all_walks_the_same_way) {
  const levels figures = all(0, 0);
  prefix_tree tree({figures, 9});
  random_words random(1);
  const ip_prefix first = tree.walk(32, random);
  for (unsigned bits = 0; bits <= 32; ++bits) {
    const ip_prefix other = tree.walk(bits, random);
    EXPECT_EQ(other.bits, bits);
    EXPECT_EQ(other.address, first.address & other.mask());
  }
}

TEST(prefix_tree, a_second_child_can_be_opened_at_any_depth) {
  const levels figures = all(0, 0);
  for (unsigned depth = 0; depth < 32; ++depth) {
    prefix_tree tree({figures, 9});
    random_words random(1);
    const ip_prefix first = tree.walk(32, random);
    const ip_prefix other = tree.walk(32, random, {}, depth);
    EXPECT_EQ(static_cast<unsigned>(std::countl_zero(first.address ^ other.address)), depth);
  }
}

TEST(prefix_tree, branches_as_often_as_its_figures_say) {
  // The share of nodes at depth 12 that all walks together show with two children, below a full
  // tree of 4,096; every one is walked 30 times on average.
  levels figures = all(1, 0);
  figures[12] = {0.3F, 0};
  prefix_tree tree({figures, 99});
  random_words random(1);
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 4096 * 30; ++i) seen.insert(tree.walk(13, random).address);
  EXPECT_NEAR((static_cast<double>(seen.size()) - 4096) / 4096, 0.3, 0.03);
}

TEST(prefix_tree, skew_is_how_much_less_the_lighter_child_has) {
  for (const float skew : {0.0F, 0.5F, 0.9F}) {
    const levels figures = all(1, skew);
    prefix_tree tree({figures, 9});
    random_words random(3);
    int ones = 0;
    constexpr int walks = 100'000;
    for (int i = 0; i < walks; ++i) ones += tree.walk(1, random).address != 0 ? 1 : 0;
    const double lighter = std::min(ones, walks - ones), heavier = std::max(ones, walks - ones);
    EXPECT_NEAR(1 - lighter / heavier, skew, 0.02);
  }
}

TEST(prefix_tree, follows_another_address_as_far_as_they_are_correlated) {
  const levels figures = all(1, 0);
  std::array<float, address_bits> correlation;
  correlation.fill(1);
  correlation[9] = 0;
  prefix_tree tree({figures, 9});
  random_words random(5);
  for (int i = 0; i < 100; ++i) {
    const ip_prefix other = {static_cast<std::uint32_t>(random()), 32};
    const ip_prefix made = tree.walk(32, random, prefix_tree::guide{other, correlation});
    EXPECT_EQ(std::countl_zero(other.address ^ made.address), 9);
  }
  // No further than the other has bits: what comes then is chance.
  int same = 0;
  for (int i = 0; i < 1000; ++i) {
    const ip_prefix other = {0xfe000000, 8};
    const ip_prefix made = tree.walk(9, random, prefix_tree::guide{other, correlation});
    EXPECT_TRUE(other.matches(made.address));
    same += made.address == other.address ? 1 : 0;
  }
  EXPECT_NEAR(same, 500, 80);
}

TEST(prefix_tree, refuses_more_marked_prefixes_on_a_path_than_its_figures_have) {
  const levels figures = all(0, 0);
  prefix_tree tree({figures, 3});
  random_words random(1);
  const auto at = [&](unsigned bits) { return tree.walk(bits, random); };
  for (const unsigned bits : {0U, 24U, 8U}) {
    EXPECT_TRUE(tree.may_mark(at(bits)));
    tree.mark(at(bits));
  }
  EXPECT_FALSE(tree.may_mark(at(32)));  // below all three
  EXPECT_FALSE(tree.may_mark(at(16)));  // between them
  EXPECT_TRUE(tree.may_mark(at(8)));    // marked already
  EXPECT_FALSE(tree.may_mark(tree.walk(32, random, {}, 25)));
  EXPECT_TRUE(tree.may_mark(tree.walk(32, random, {}, 20)));  // turns off above one of them
}

}  // namespace
}  // namespace coua::bench
