// SPDX-License-Identifier: Apache-2.0
#include "setsep/builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "setsep/test_keys.h"

namespace coua::setsep {
namespace {

std::unique_ptr<builder> must(std::span<const keyed_value> keys, const build_params& params) {
  auto made = builder::create(keys, params, {});
  EXPECT_TRUE(made) << made.error().message();
  if (!made) throw std::runtime_error("no builder");
  return std::move(*made);
}

TEST(setsep_builder, keys_come_change_and_go) {
  for (const layout shape : {layout{2, 2, 1}, layout{3, 1, 2}, layout{16, 2, 2}}) {
    auto keys = random_keys(20'000, shape.value_bits);
    const auto made = must(std::span(keys).first(10'000), {.shape = shape, .keys_room = 20'000});
    keys.resize(10'000);
    std::mt19937_64 random(9);
    for (int i = 0; i < 20'000; ++i) {
      keyed_value& one = keys[random() % keys.size()];
      switch (random() % 3) {
        case 0:
          one.value = static_cast<std::uint16_t>(random() % (1U << shape.value_bits));
          ASSERT_TRUE(made->put(one));
          break;
        case 1:
          ASSERT_TRUE(made->remove(one.hash).value());
          ASSERT_FALSE(made->remove(one.hash).value());
          one.hash = {random(), random()};
          ASSERT_EQ(made->put(one).value(), put_result::added);
          break;
        default: ASSERT_EQ(made->put(one).value(), put_result::unchanged);
      }
      ASSERT_EQ(made->value_of(one.hash), one.value);
      ASSERT_EQ(made->table().find(one.hash), one.value);
    }
    EXPECT_EQ(made->n_keys(), keys.size());
    EXPECT_EQ(count_wrong(made->table(), keys), 0U);
    EXPECT_GT(made->counts().moves, 10U);
    // What one in so many of its groups that fail is for.
    EXPECT_LT(made->table().fallback().size(), shape.index_bytes == 1 ? 2'000U : 100U);
  }
}

TEST(setsep_builder, a_table_that_outgrows_the_cache_is_fetched_ahead) {
  ASSERT_EQ(setenv("COUA_L2_BYTES", "1024", 1), 0);  // four of them hold a block of 16+8
  const auto keys = random_keys(100, 1);
  const auto small =
      std::move(*builder::create(keys, {.shape = {1, 2, 1}, .keys_room = 40'000}, {}));
  ASSERT_EQ(unsetenv("COUA_L2_BYTES"), 0);
  EXPECT_TRUE(small->table().is_near());
  while (small->table().blocks().size() <= 4096) ASSERT_TRUE(small->grow());
  EXPECT_FALSE(small->table().is_near());
  EXPECT_EQ(count_wrong(small->table(), keys), 0U);
}

TEST(setsep_builder, grows_block_by_block_from_nothing) {
  const auto keys = random_keys(30'000, 2);
  const auto made = must({}, {.shape = {.value_bits = 2}});
  EXPECT_EQ(made->table().size(), (extent{1, 1}));
  EXPECT_EQ(made->grow().error().code, errc::no_room);
  const auto large =
      must(std::span(keys).first(1), {.shape = {.value_bits = 2}, .keys_room = 30'000});
  std::size_t n = 0;
  for (const keyed_value& each : keys) {
    ASSERT_TRUE(large->put(each));
    if (++n % 900 != 0 || n > 26'000) continue;
    ASSERT_TRUE(large->grow());
  }
  EXPECT_EQ(large->table().size().n_blocks, 29U);
  EXPECT_EQ(count_wrong(large->table(), keys), 0U);
}

TEST(setsep_builder, hopeless_groups_go_to_the_fallback_and_come_back) {
  // Far more keys than one block separates.
  const auto keys = random_keys(2'500, 2);
  const auto made = must({}, {.shape = {.value_bits = 2}, .keys_room = 1024});
  for (const keyed_value& each : keys) ASSERT_TRUE(made->put(each));
  EXPECT_EQ(count_wrong(made->table(), keys), 0U);
  EXPECT_GT(made->table().fallback().size(), 1'000U);
  for (std::size_t i = 800; i < keys.size(); ++i) ASSERT_TRUE(made->remove(keys[i].hash));
  const std::vector<keyed_value> rest(keys.begin(), keys.begin() + 800);
  EXPECT_EQ(count_wrong(made->table(), rest), 0U);
  EXPECT_LT(made->table().fallback().size(), 60U);
}

TEST(setsep_builder, a_change_takes_a_few_bytes) {
  const auto keys = random_keys(10'000, 2);
  const auto made = must(keys, {.shape = {.value_bits = 2}});
  EXPECT_TRUE(made->take_delta().empty());
  keyed_value one = keys[7];
  one.value ^= 3;
  ASSERT_EQ(made->put(one).value(), put_result::updated);
  const auto delta = made->take_delta();
  // What, block, group, record.
  EXPECT_EQ(delta.size(), delta_header_bytes + 1 + 1 + 1 + 6);
  EXPECT_EQ(open_delta(delta)->sequence, 1U);
  EXPECT_EQ(made->version().sequence, 1U);
  EXPECT_TRUE(made->take_delta().empty());
}

TEST(setsep_builder, a_key_that_goes_changes_nothing) {
  const auto keys = random_keys(10'000, 2);
  const auto made = must(keys, {.shape = {.value_bits = 2}});
  ASSERT_TRUE(made->remove(keys[5].hash).value());
  EXPECT_TRUE(made->take_delta().empty());
  EXPECT_EQ(made->n_keys(), keys.size() - 1);
  EXPECT_EQ(made->value_of(keys[5].hash), -1);
}

TEST(setsep_builder, wrong_calls_are_refused) {
  const auto keys = random_keys(100, 2);
  const auto made = must(keys, {.shape = {.value_bits = 2}});
  EXPECT_EQ(made->put({keys[0].hash, 4}).error().code, errc::invalid);
  std::vector<std::uint8_t> room(made->snapshot_bytes() + 1);
  EXPECT_EQ(made->snapshot(room).error().code, errc::invalid);
  room.pop_back();
  EXPECT_TRUE(made->snapshot(room));
  ASSERT_TRUE(made->put({{1, 2}, 1}));
  ASSERT_NE(made->pending_bytes(), 0U);
  EXPECT_EQ(made->snapshot(room).error().code, errc::busy);
  (void)made->take_delta();
  EXPECT_EQ(made->pending_bytes(), 0U);
  EXPECT_TRUE(made->snapshot(room));
}

}  // namespace
}  // namespace coua::setsep
