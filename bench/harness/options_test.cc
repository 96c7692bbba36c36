// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/options.h"

#include <gtest/gtest.h>

#include <utility>

namespace coua::bench {
namespace {

TEST(options, a_size_is_shown_as_it_may_be_given) {
  for (const auto& [size, word] : {std::pair<std::uint64_t, const char*>(0, "0"),
                                   {950, "950"},
                                   {1000, "1K"},
                                   {1024, "1Ki"},
                                   {1025, "1025"},
                                   {64'000, "64K"},
                                   {512'000, "512K"},
                                   {std::uint64_t{32} << 20, "32Mi"},
                                   {std::uint64_t{33} << 50, "33792Ti"},
                                   {UINT64_MAX, "18446744073709551615"}}) {
    EXPECT_EQ(size_word(size), word);
    const auto read = parse_sizes("--size", {word}, 0, UINT64_MAX);
    ASSERT_TRUE(read) << word;
    EXPECT_EQ(read->front(), size);
  }
}

}  // namespace
}  // namespace coua::bench
