// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/port_cover.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace coua::bench {
namespace {

std::size_t count(std::uint16_t low, std::uint16_t high) { return cover({low, high}).size(); }

TEST(port_cover, known_ranges) {
  EXPECT_EQ(cover({0, 65535}), (std::vector<port_prefix>{{0, 0}}));
  EXPECT_EQ(cover({80, 80}), (std::vector<port_prefix>{{80, 16}}));
  EXPECT_EQ(cover({65535, 65535}), (std::vector<port_prefix>{{65535, 16}}));
  EXPECT_EQ(cover({0, 1023}), (std::vector<port_prefix>{{0, 6}}));
  EXPECT_EQ(cover({1, 4}), (std::vector<port_prefix>{{1, 16}, {2, 15}, {4, 16}}));
  EXPECT_EQ(count(1024, 65535), 6u);
  EXPECT_EQ(count(1, 65535), 16u);
  EXPECT_EQ(count(1, 65534), 30u);  // the most that 16 bits need
}

/// The fewest, by going down the tree of all prefixes: what a range holds whole is one.
std::size_t fewest(std::uint32_t low, std::uint32_t high, std::uint32_t first, std::uint32_t size) {
  const std::uint32_t last = first + size - 1;
  if (high < first || last < low) return 0;
  if (low <= first && last <= high) return 1;
  return fewest(low, high, first, size / 2) + fewest(low, high, first + size / 2, size / 2);
}

TEST(port_cover, every_range_by_the_fewest_prefixes_that_do_not_overlap) {
  EXPECT_TRUE(rc::check([](std::uint16_t one, std::uint16_t other) {
    const port_range range = {std::min(one, other), std::max(one, other)};
    const std::vector<port_prefix> prefixes = cover(range);
    RC_ASSERT(prefixes.size() == fewest(range.low, range.high, 0, 65536));
    for (std::uint32_t port = 0; port < 65536; ++port) {
      const auto matching = std::count_if(prefixes.begin(), prefixes.end(), [&](const auto& each) {
        return each.matches(static_cast<std::uint16_t>(port));
      });
      RC_ASSERT(matching == (range.matches(static_cast<std::uint16_t>(port)) ? 1 : 0));
    }
  }));
}

}  // namespace
}  // namespace coua::bench
