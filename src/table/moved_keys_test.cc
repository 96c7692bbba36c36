// SPDX-License-Identifier: Apache-2.0
#include "table/moved_keys.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace coua {
namespace {

using kind = moved_keys::kind;

moved_keys make(std::uint64_t table_slots = 0) {
  static constexpr std::uint64_t secret[4] = {0x123456789abcdef0, 0x0fedcba987654321,
                                              0x5555aaaa3333cccc, 0x1122334455667788};
  return std::move(*moved_keys::create(table_slots, key_permutation::create(secret)));
}

TEST(moved_keys, is_as_large_as_the_table_within_its_bounds) {
  EXPECT_EQ(make(1).capacity(), moved_keys::least);
  EXPECT_EQ(make(100'000).capacity(), std::size_t{1} << 17);
  EXPECT_EQ(make(std::uint64_t{1} << 40).capacity(), moved_keys::most);
}

// Against a map: erasing shifts what lies behind, and must leave all of it findable.
TEST(moved_keys, does_what_a_map_does) {
  moved_keys set = make();
  std::map<std::uint64_t, kind> model;
  std::mt19937_64 random(1);
  for (int i = 0; i < 400'000; ++i) {
    // First it grows to its capacity, then it goes up and down there.
    const std::uint64_t key = random() % (moved_keys::least * 5 / 4) << 30;
    const kind as = random() % 2 == 0 ? kind::late : kind::seen;
    const auto found = model.find(key);
    if (found != model.end()) {
      const bool same = found->second == as;
      ASSERT_EQ(set.erase(key, as), same);
      if (same) model.erase(found);
    } else {
      const bool there_is_room = model.size() < moved_keys::least;
      const bool added = set.add(key, as);
      if (as == kind::seen) {  // late ones also need the list
        ASSERT_EQ(added, there_is_room);
      }
      if (added) model[key] = as;
    }
    ASSERT_EQ(set.n_late() + set.n_seen(), model.size());
  }
  EXPECT_GT(model.size(), moved_keys::least / 2);
  for (std::uint64_t key; set.take_late(key);) {
    ASSERT_EQ(model.at(key), kind::late);
    model.erase(key);
  }
  for (const auto& [key, as] : model) ASSERT_TRUE(set.erase(key, as));
  EXPECT_EQ(set.n_late() + set.n_seen(), 0u);
}

TEST(moved_keys, says_when_it_is_full_and_goes_on_when_it_is_not) {
  moved_keys set = make();
  for (std::uint64_t key = 0; key < moved_keys::least; ++key) ASSERT_TRUE(set.add(key, kind::late));
  EXPECT_FALSE(set.add(1'000'000, kind::late));
  EXPECT_FALSE(set.add(1'000'000, kind::seen));
  std::uint64_t key;
  ASSERT_TRUE(set.take_late(key));
  EXPECT_FALSE(set.erase(key, kind::late));
  EXPECT_TRUE(set.add(1'000'000, kind::late));
  std::size_t n = 0;
  while (set.take_late(key)) ++n;
  EXPECT_EQ(n, moved_keys::least);
}

}  // namespace
}  // namespace coua
