// SPDX-License-Identifier: Apache-2.0
#include "setsep/fallback_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace coua::setsep {
namespace {

TEST(setsep_fallback, is_a_map) {
  fallback_table table;
  std::map<std::uint64_t, std::uint16_t> model;
  std::mt19937_64 random(3);
  // Hashes that share their home, so that probes are long.
  const auto hash_of = [](std::uint64_t i) { return key_hash{i, 0}; };
  std::size_t most = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t key = random() % 300;
    // Up to 300 entries, then few, and so on.
    if (random() % 10 < (i / 5'000 % 2 == 0 ? 8U : 1U)) {
      const auto value = static_cast<std::uint16_t>(random());
      table.put({hash_of(key), value}, nullptr);
      model[key] = value;
    } else {
      table.drop(hash_of(key));
      model.erase(key);
    }
    ASSERT_EQ(table.size(), model.size());
    most = std::max(most, model.size());
    const std::uint64_t asked = random() % 300;
    const auto there = model.find(asked);
    ASSERT_EQ(table.find(hash_of(asked)), there == model.end() ? -1 : there->second);
  }
  EXPECT_GT(most, 200U);
  std::size_t i = 0;
  const auto entries = table.entries();
  ASSERT_EQ(entries.size(), model.size());
  for (const auto& [key, value] : model) {
    EXPECT_EQ(entries[i++], (keyed_value{hash_of(key), value}));
  }
}

TEST(setsep_fallback, does_not_grow_by_changes) {
  fallback_table table;
  for (std::uint64_t i = 0; i < 100; ++i) table.put({{i, i}, 1}, nullptr);
  const std::uint64_t bytes = table.bytes();
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    table.put({{i + 100, i + 100}, 1}, nullptr);
    table.drop({i, i});
  }
  EXPECT_LE(table.bytes(), 2 * bytes);
}

}  // namespace
}  // namespace coua::setsep
