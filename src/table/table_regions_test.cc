// SPDX-License-Identifier: Apache-2.0
#include "table/table_regions.h"

#include <gtest/gtest.h>

#include <random>

namespace coua {
namespace {

struct item {
  std::uint64_t place;
  std::uint64_t number;
};
using items = std::vector<item>;

TEST(region_plan, leaves_small_tables_and_small_shares_unsorted) {
  EXPECT_EQ(region_plan::of((std::uint64_t{1} << 30) - 1, 1, 16).bits, 0u);
  EXPECT_EQ(region_plan::of(std::uint64_t{1} << 30, 1, 16).bits, 3u);
  EXPECT_EQ(region_plan::of(std::uint64_t{1} << 30, 256, 16).bits, 0u);
}

TEST(region_plan, takes_no_more_memory_than_its_share) {
  for (unsigned bits = 30; bits < 46; ++bits) {
    for (unsigned threads = 1; threads <= 256; threads *= 2) {
      const std::uint64_t bytes = (std::uint64_t{1} << bits) + 12345;
      const region_plan plan = region_plan::of(bytes, threads, 16);
      ASSERT_LE(plan.bits, region_plan::max_bits);
      ASSERT_LE(plan.capacity, region_plan::max_capacity);
      if (plan.bits != 0) {
        ASSERT_LE((threads * plan.capacity * 16) << plan.bits, bytes / region_plan::share);
      }
    }
  }
}

TEST(table_regions, put_at_once_what_is_not_sorted) {
  table_regions<item> regions(region_plan{});
  items out;
  const auto put = [&](const item& each) { out.push_back(each); };
  regions.add(~std::uint64_t{0}, {~std::uint64_t{0}, 1}, put);
  EXPECT_EQ(out.size(), 1u);
  regions.finish(put);
  EXPECT_EQ(out.size(), 1u);
}

TEST(table_regions, put_whole_regions_and_keep_their_order) {
  constexpr unsigned bits = 3;
  constexpr std::size_t capacity = 5;
  table_regions<item> regions({bits, capacity});
  std::mt19937_64 random(1);
  items out;
  std::size_t n_before = 0;
  const auto put = [&](const item& each) { out.push_back(each); };
  constexpr std::uint64_t n = 10'000;
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t place = random();
    regions.add(place, {place, i}, put);
    if (out.size() == n_before) continue;
    ASSERT_EQ(out.size(), n_before + capacity);
    for (std::size_t at = n_before; at < out.size(); ++at) {
      ASSERT_EQ(out[at].place >> (64 - bits), place >> (64 - bits));
    }
    n_before = out.size();
  }
  EXPECT_GE(out.size(), n - (capacity << bits));
  regions.finish(put);
  ASSERT_EQ(out.size(), n);
  std::uint64_t next[1 << bits] = {};
  std::vector<bool> seen(n);
  for (const item& each : out) {
    std::uint64_t& least = next[each.place >> (64 - bits)];
    ASSERT_GE(each.number, least) << "items of a region changed places";
    least = each.number + 1;
    ASSERT_FALSE(seen[each.number]);
    seen[each.number] = true;
  }
}

}  // namespace
}  // namespace coua
