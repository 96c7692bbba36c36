// SPDX-License-Identifier: Apache-2.0
#include "table/moved_keys.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace coua {
namespace {

using kind = moved_keys::kind;

moved_keys make(std::uint64_t table_slots, std::uint32_t key_words = 1) {
  return std::move(*moved_keys::create(table_slots, key_words));
}

/// A set of keys by number, which their last word tells apart. Two numbers share a hash.
class numbered_keys {
 public:
  numbered_keys(moved_keys set, std::uint32_t key_words) : set_(std::move(set)), key_(key_words) {}
  bool add(std::uint64_t i, kind as) { return set_.add(words(i), hash(i), as); }
  bool erase(std::uint64_t i, kind as) { return set_.erase(words(i), hash(i), as); }
  bool take_late(std::uint64_t& i) {
    if (!set_.take_late(key_.data())) return false;
    i = key_.back();
    return true;
  }
  std::size_t size() const { return set_.n_late() + set_.n_seen(); }

 private:
  const std::uint64_t* words(std::uint64_t i) {
    key_.back() = i;
    return key_.data();
  }
  static std::uint32_t hash(std::uint64_t i) {
    return static_cast<std::uint32_t>(i / 2 * 0x9E3779B97F4A7C15u >> 32);
  }
  moved_keys set_;
  std::vector<std::uint64_t> key_;
};

TEST(moved_keys, is_as_large_as_the_table_within_its_bounds) {
  EXPECT_EQ(make(1).capacity(), moved_keys::least);
  EXPECT_EQ(make(100'000).capacity(), std::size_t{1} << 17);
  EXPECT_EQ(make(std::uint64_t{1} << 40).capacity(), moved_keys::most);
}

// A key that a cursor remembers may leave the table, and come and move again.
TEST(moved_keys, has_a_key_once_that_is_added_twice) {
  for (const kind as : {kind::late, kind::seen}) {
    numbered_keys set(make(0), 1);
    EXPECT_TRUE(set.add(7, as));
    EXPECT_TRUE(set.add(7, as));
    EXPECT_EQ(set.size(), 1u);
    EXPECT_TRUE(set.erase(7, as));
    EXPECT_EQ(set.size(), 0u);
  }
}

// Against a map: erasing shifts what lies behind, and must leave all of it findable.
TEST(moved_keys, does_what_a_map_does) {
  for (const std::uint32_t key_words : {1u, 2u, 16u}) {
    numbered_keys set(make(0, key_words), key_words);
    std::map<std::uint64_t, kind> model;
    std::mt19937_64 random(1);
    for (int i = 0; i < 400'000; ++i) {
      // First it grows to its capacity, then it goes up and down there.
      const std::uint64_t key = random() % (moved_keys::least * 5 / 4);
      const kind as = random() % 2 == 0 ? kind::late : kind::seen;
      const auto found = model.find(key);
      if (found != model.end()) {
        const bool same = found->second == as;
        ASSERT_EQ(set.erase(key, as), same);
        if (same) model.erase(found);
      } else {
        const bool there_is_room = model.size() < moved_keys::least;
        ASSERT_EQ(set.add(key, as), there_is_room);
        if (there_is_room) model[key] = as;
      }
      ASSERT_EQ(set.size(), model.size());
    }
    EXPECT_GT(model.size(), moved_keys::least / 2);
    for (std::uint64_t key; set.take_late(key);) {
      ASSERT_EQ(model.at(key), kind::late);
      model.erase(key);
    }
    for (const auto& [key, as] : model) ASSERT_TRUE(set.erase(key, as));
    EXPECT_EQ(set.size(), 0u);
  }
}

TEST(moved_keys, says_when_it_is_full_and_goes_on_when_it_is_not) {
  numbered_keys set(std::move(*moved_keys::with_room(16, 2)), 2);
  for (std::uint64_t key = 0; key < 16; ++key) ASSERT_TRUE(set.add(key, kind::late));
  EXPECT_FALSE(set.add(1'000'000, kind::late));
  EXPECT_FALSE(set.add(1'000'000, kind::seen));
  std::uint64_t key;
  ASSERT_TRUE(set.take_late(key));
  EXPECT_FALSE(set.erase(key, kind::late));
  EXPECT_TRUE(set.add(1'000'000, kind::late));
  std::size_t n = 0;
  while (set.take_late(key)) ++n;
  EXPECT_EQ(n, 16u);
}

}  // namespace
}  // namespace coua
