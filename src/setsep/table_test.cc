// SPDX-License-Identifier: Apache-2.0
#include "setsep/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "setsep/bulk_build.h"
#include "setsep/test_keys.h"

namespace coua::setsep {
namespace {

std::unique_ptr<table> must_build(std::span<const keyed_value> keys, const build_params& params) {
  auto made = build_table(keys, params);
  EXPECT_TRUE(made) << made.error().message();
  if (!made) throw std::runtime_error("no table");
  return std::move(*made);
}

TEST(setsep_table, every_key_gives_its_value) {
  for (const unsigned value_bits : {1U, 2U, 3U, 4U, 8U, 16U}) {
    for (const std::size_t n : {0U, 1U, 15U, 1023U, 1024U, 1025U, 20'000U}) {
      const auto keys = random_keys(n, value_bits);
      build_params params;
      params.shape.value_bits = value_bits;
      const auto made = must_build(keys, params);
      EXPECT_EQ(made->size().n_blocks, blocks_for(n));
      EXPECT_EQ(count_wrong(*made, keys), 0U);
    }
  }
}

TEST(setsep_table, every_setting_of_the_paper) {
  const auto keys = random_keys(100'000, 2);
  for (const auto& [index_bytes, array_bytes, bits_per_key] :
       {std::tuple(2U, 1U, 3.5), std::tuple(1U, 2U, 3.5), std::tuple(2U, 2U, 4.5)}) {
    build_params params;
    params.shape = {2, index_bytes, array_bytes};
    const auto made = must_build(keys, params);
    EXPECT_EQ(count_wrong(*made, keys), 0U);
    const double bits = static_cast<double>(made->blocks().size()) * 8;
    EXPECT_NEAR(bits / 100'000, bits_per_key, 0.03);
    // Few functions: some groups fail.
    EXPECT_EQ(made->fallback().size() > 20, index_bytes == 1);
    EXPECT_LT(made->fallback().size(), 5'000U);
  }
}

TEST(setsep_table, other_keys_give_values_in_range) {
  const auto keys = random_keys(50'000, 3), others = random_keys(50'000, 3, 99);
  build_params params;
  params.shape = {3, 1, 2};  // with a fallback
  const auto made = must_build(keys, params);
  for (const keyed_value& each : others) ASSERT_LT(made->find(each.hash), 8U);
}

TEST(setsep_table, is_the_same_whoever_makes_it) {
  auto keys = random_keys(60'000, 2);
  build_params params;
  params.shape = {2, 1, 2};
  const auto one = must_build(keys, params);
  std::shuffle(keys.begin(), keys.end(), std::mt19937(3));
  params.threads = 7;
  params.instruction_set = isa::generic;
  const auto two = must_build(keys, params);
  EXPECT_EQ(one->fallback().entries(), two->fallback().entries());
  EXPECT_EQ(one->bytes_used(), two->bytes_used());
  EXPECT_TRUE(std::ranges::equal(one->blocks(), two->blocks()));
}

TEST(setsep_table, tells_its_progress) {
  build_params params;
  std::uint64_t n_calls = 0, last = 0;
  params.threads = 3;
  params.progress = [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_GT(done, last);
    EXPECT_EQ(all, 98U);
    last = done;
    ++n_calls;
  };
  (void)must_build(random_keys(100'000, 1), params);
  EXPECT_EQ(last, 98U);
  EXPECT_EQ(n_calls, 7U);
}

TEST(setsep_table, a_key_may_come_twice_with_one_value) {
  auto keys = random_keys(5'000, 2);
  keys.insert(keys.end(), keys.begin(), keys.begin() + 10);
  EXPECT_EQ(count_wrong(*must_build(keys, {.shape = {.value_bits = 2}}), keys), 0U);
  keys.push_back(keys[20]);
  keys.back().value ^= 1;
  const auto made = build_table(keys, {.shape = {.value_bits = 2}});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::exists);
  EXPECT_NE(made.error().message().find("two values"), std::string::npos);
}

TEST(setsep_table, wrong_parameters_are_refused) {
  const auto keys = random_keys(10, 2);
  const auto why = [&](const build_params& params) {
    const auto made = build_table(keys, params);
    EXPECT_FALSE(made);
    return made ? std::string() : made.error().message();
  };
  EXPECT_NE(why({.shape = {.value_bits = 0}}).find("1 to 16 bits"), std::string::npos);
  EXPECT_NE(why({.shape = {.value_bits = 17}}).find("1 to 16 bits"), std::string::npos);
  EXPECT_NE(why({.shape = {.value_bits = 2, .index_bytes = 3}}).find("1 or 2 bytes"),
            std::string::npos);
  EXPECT_NE(why({.shape = {.value_bits = 2}, .threads = 0}).find("threads"), std::string::npos);
  EXPECT_NE(why({.shape = {.value_bits = 1}}).find("has more than 1 bits"), std::string::npos);
}

}  // namespace
}  // namespace coua::setsep
