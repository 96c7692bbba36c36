// SPDX-License-Identifier: Apache-2.0
#include "base/size.h"

#include <gtest/gtest.h>

namespace coua {
namespace {

TEST(size, reads_plain_numbers_and_both_kinds_of_units) {
  const std::pair<const char*, std::uint64_t> cases[] = {
      {"0", 0},
      {"7", 7},
      {"64K", 64'000},
      {"64k", 64'000},
      {"16M", 16'000'000},
      {"1G", 1'000'000'000},
      {"3T", 3'000'000'000'000},
      {"64Ki", 65'536},
      {"2Mi", 2'097'152},
      {"8Gi", std::uint64_t{8} << 30},
      {"1Ti", std::uint64_t{1} << 40},
      {"1.5G", 1'500'000'000},
      {"0.5Ki", 512},
      {"1.000000000001T", 1'000'000'000'001},
      {"18446744073709551615", UINT64_MAX},
  };
  for (const auto& [text, number] : cases) {
    const result<std::uint64_t> parsed = parse_size(text);
    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_EQ(*parsed, number) << text;
  }
}

TEST(size, names_the_bad_text_and_the_reason) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "must start with a digit"},
      {"K", "must start with a digit"},
      {"-1", "must start with a digit"},
      {" 1", "must start with a digit"},
      {"1 K", "unknown unit"},
      {"1KB", "unknown unit"},
      {"1X", "unknown unit"},
      {"1Kii", "unknown unit"},
      {"0x10", "unknown unit"},
      {"1.", "digit after the point"},
      {"1.5", "whole number"},
      {"1.0001K", "whole number"},
      {"1.0000000000001T", "more than 12 digits"},
      {"18446744073709551616", "larger than 2^64-1"},
      {"99999999999999999999999999999999999999999999", "larger than 2^64-1"},
      {"18446745T", "larger than 2^64-1"},
      {"17179869184Gi", "larger than 2^64-1"},
      {"18446744073709551615.999999999999T", "larger than 2^64-1"},
      {"18446744073709551615.999999999999Ti", "larger than 2^64-1"},  // past 128 bits on the way
  };
  for (const auto& [text, reason] : cases) {
    const result<std::uint64_t> parsed = parse_size(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, errc::invalid);
    EXPECT_EQ(parsed.error().where, "size '" + std::string(text) + "'");
    EXPECT_NE(parsed.error().what.find(reason), std::string::npos)
        << text << ": " << parsed.error().what;
  }
}

TEST(size, formats_with_one_decimal_and_the_unit_that_fits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(std::uint64_t{8} << 30), "8.0 GiB");
  EXPECT_EQ(format_bytes((std::uint64_t{1} << 30) - 1), "1.0 GiB");
  EXPECT_EQ(format_bytes(UINT64_MAX), "16.0 EiB");
  EXPECT_EQ(format_count(950), "950");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1.0 K");
  EXPECT_EQ(format_count(999'960), "1.0 M");
  EXPECT_EQ(format_count(16'000'000), "16.0 M");
  EXPECT_EQ(format_count(1'073'741'824), "1.1 G");
}

}  // namespace
}  // namespace coua
