// SPDX-License-Identifier: Apache-2.0
#include "base/reserved_region.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "base/sanitizer.h"

namespace coua {
namespace {

constexpr std::size_t small_page = 4096, huge_page = std::size_t{2} << 20;

bool can_be_read(const char* at) {
  // What may not be read cannot be written to a pipe.
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const bool read = write(ends[1], at, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return read;
}

TEST(reserved_region, parts_become_real_one_by_one) {
  reserved_region region(huge_page + 5 * small_page);
  ASSERT_EQ(region.size(), huge_page + 5 * small_page);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region.data()) % huge_page, 0u);
  EXPECT_FALSE(can_be_read(region.data()));
  ASSERT_TRUE(region.make_real(small_page, 2 * small_page));
  EXPECT_FALSE(can_be_read(region.data()));
  EXPECT_FALSE(can_be_read(region.data() + 3 * small_page));
  char* const part = region.data() + small_page;
  EXPECT_TRUE(std::all_of(part, part + 2 * small_page, [](char byte) { return byte == 0; }));
  std::fill_n(part, 2 * small_page, '\xa5');
  ASSERT_TRUE(region.make_real(3 * small_page, huge_page));
  EXPECT_EQ(part[2 * small_page - 1], '\xa5');
  EXPECT_EQ(part[2 * small_page + huge_page - 1], '\0');
  unsigned char resident[huge_page / small_page];
  ASSERT_EQ(mincore(region.data() + 3 * small_page, huge_page, resident), 0);
  EXPECT_TRUE(std::all_of(std::begin(resident), std::end(resident), [](auto p) { return p & 1; }));
}

#if !COUA_HAS_SHADOW
TEST(reserved_region, a_part_that_cannot_be_had_can_be_asked_for_again) {
  reserved_region region(8 * huge_page);
  ASSERT_TRUE(region.make_real(0, small_page));
  region.data()[0] = 1;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &before), 0);
  const rlimit none = {small_page, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &none), 0);
  const auto refused = region.make_real(small_page, 4 * huge_page);
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &before), 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::no_memory);
  EXPECT_FALSE(can_be_read(region.data() + small_page));
  ASSERT_TRUE(region.make_real(small_page, 4 * huge_page));
  EXPECT_EQ(region.data()[small_page], 0);
  EXPECT_EQ(region.data()[0], 1);
}
#endif

TEST(reserved_region, moves) {
  reserved_region from(small_page);
  char* const data = from.data();
  reserved_region to(std::move(from));
  EXPECT_EQ(to.data(), data);
  EXPECT_EQ(from.size(), 0u);
  from = std::move(to);
  ASSERT_TRUE(from.make_real(0, small_page));
  EXPECT_EQ(*data, '\0');
}

TEST(reserved_region, without_address_space_there_is_none) {
  EXPECT_EQ(reserved_region().size(), 0u);
  EXPECT_EQ(reserved_region(0).size(), 0u);
  EXPECT_EQ(reserved_region(std::size_t{1} << 50).size(), 0u);
}

TEST(reserved_region, a_part_that_is_more_than_there_is_says_so) {
  constexpr std::size_t bytes = std::size_t{1} << 45;
  reserved_region region(bytes);
  if (region.size() == 0) GTEST_SKIP() << "no address space of 32 TiB";
  const auto made = region.make_real(0, bytes);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::no_memory);
  EXPECT_TRUE(region.make_real(0, small_page));
}

}  // namespace
}  // namespace coua
