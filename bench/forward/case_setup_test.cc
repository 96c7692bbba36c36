// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/case_setup.h"

#include <gtest/gtest.h>

namespace coua::bench {
namespace {

huge_page_pool pool_of(std::uint64_t total, std::uint64_t free) {
  huge_page_pool made;
  made.exists = true;
  made.total = total;
  made.free = free;
  return made;
}

TEST(choose_memory, takes_huge_pages_where_all_programs_have_them) {
  const packet_memory made = choose_memory(pool_of(100, 50), 61, 39);
  EXPECT_EQ(made.mib, 61U);
  EXPECT_TRUE(made.huge_pages);
  EXPECT_EQ(made.why_small, "");
}

TEST(choose_memory, says_how_many_are_missing) {
  const packet_memory made = choose_memory(pool_of(100, 50), 61, 40);
  EXPECT_FALSE(made.huge_pages);
  EXPECT_NE(made.why_small.find("51 huge pages, of which 50 are free"), std::string::npos)
      << made.why_small;
  EXPECT_NE(choose_memory(pool_of(100, 0), 2, 0).why_small, "");
}

TEST(choose_memory, says_nothing_where_none_are_reserved) {
  const packet_memory made = choose_memory(pool_of(0, 0), 61, 40);
  EXPECT_FALSE(made.huge_pages);
  EXPECT_EQ(made.why_small, "");
  EXPECT_FALSE(choose_memory(huge_page_pool{}, 0, 0).huge_pages);
}

}  // namespace
}  // namespace coua::bench
