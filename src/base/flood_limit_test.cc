// SPDX-License-Identifier: Apache-2.0
#include "base/flood_limit.h"

#include <gtest/gtest.h>

namespace coua {
namespace {

using limit = flood_limit;

TEST(flood_limit, reads_every_unit) {
  const std::pair<const char*, limit> cases[] = {
      {"0", limit()},
      {"1000", limit(1000)},
      {"5K", limit(5000)},
      {"64Ki", limit(65536)},
      {"1000pps", limit(1000)},
      {"1.5Mpps", limit(1'500'000)},
      {"10Mbps", limit::bits(10'000'000)},
      {"1.5gbps", limit::bits(1'500'000'000)},
      {"10MBPS", limit::bits(10'000'000)},
      {"10mbPS", limit::bits(10'000'000)},
      {"5KPPS", limit(5000)},
      {"800bps", limit::bits(800)},
      {"1%", limit::percent_hundredths(100)},
      {"0.25%", limit::percent_hundredths(25)},
      {"0.5%", limit::percent_hundredths(50)},
      {"99.99%", limit::percent_hundredths(9999)},
      {"block", limit::block()},
      {"Block", limit::block()},
  };
  for (const auto& [text, value] : cases) {
    const auto parsed = parse_flood_limit(text);
    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_EQ(*parsed, value) << text;
  }
}

TEST(flood_limit, what_is_none_is_named) {
  for (const char* text : {"",
                           "%",
                           "bps",
                           "Mbps",
                           "block!",
                           "unblock",
                           "1.005%",
                           "1.%",
                           ".5%",
                           "-1",
                           "-1%",
                           "1e3%",
                           "10 %",
                           "10MBps ",
                           "10MBps",
                           "10MiBps",
                           "10Mibps",
                           "10Mb",
                           "1 000",
                           "1.5",
                           "10%bps",
                           "99999999999999999999bps",
                           "12345678901%"}) {
    const auto parsed = parse_flood_limit(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_TRUE(parsed.error().what.starts_with("'" + std::string(text) + "' is not a limit"))
        << parsed.error().what;
  }
}

TEST(flood_limit, bytes_are_told_apart_from_bits_in_capitals) {
  for (const char* text : {"10MBps", "1Bps", "10MiBps"}) {
    const auto parsed = parse_flood_limit(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().what.find("B would be bytes"), std::string::npos) << text;
  }
}

TEST(flood_limit, each_unit_has_its_range) {
  EXPECT_EQ(flood_limit_range(), "0 to 200000000 packets/s, 1Kbps to 1Tbps, 0.01% to 100%, block");
  for (const limit& good :
       {limit(), limit(200'000'000), limit::bits(1000), limit::bits(1'000'000'000'000),
        limit::percent_hundredths(1), limit::percent_hundredths(10'000), limit::block()})
    EXPECT_EQ(check_flood_limit(good), "") << format_flood_limit(good);
  EXPECT_EQ(check_flood_limit(limit(200'000'001)),
            "200000001 is not from 0 to 200000000 packets/s");
  EXPECT_EQ(check_flood_limit(limit::bits(999)), "999bps is not from 1Kbps to 1Tbps");
  EXPECT_EQ(check_flood_limit(limit::bits(0)), "0bps is not from 1Kbps to 1Tbps");
  EXPECT_EQ(check_flood_limit(limit::bits(1'000'000'000'001)),
            "1000000000001bps is not from 1Kbps to 1Tbps");
  EXPECT_EQ(check_flood_limit(limit::percent_hundredths(0)), "0% is not from 0.01% to 100%");
  EXPECT_EQ(check_flood_limit(limit::percent_hundredths(10'001)),
            "100.01% is not from 0.01% to 100%");
}

TEST(flood_limit, what_is_written_is_read_as_the_same) {
  const std::pair<limit, const char*> cases[] = {
      {limit(), "0"},
      {limit(2000), "2000"},
      {limit::bits(10'000'000), "10Mbps"},
      {limit::bits(1'500'000), "1500Kbps"},
      {limit::bits(1001), "1001bps"},
      {limit::bits(1'000'000'000'000), "1Tbps"},
      {limit::percent_hundredths(100), "1%"},
      {limit::percent_hundredths(5), "0.05%"},
      {limit::percent_hundredths(150), "1.5%"},
      {limit::percent_hundredths(9999), "99.99%"},
      {limit::block(), "block"},
  };
  for (const auto& [value, text] : cases) {
    EXPECT_EQ(format_flood_limit(value), text);
    EXPECT_EQ(*parse_flood_limit(text), value) << text;
  }
  for (std::uint64_t n = 0; n <= 10'000; ++n)
    ASSERT_EQ(*parse_flood_limit(format_flood_limit(limit::percent_hundredths(n))),
              limit::percent_hundredths(n))
        << n;
}

TEST(flood_limit, only_zero_packets_is_none) {
  EXPECT_FALSE(limit().any());
  EXPECT_TRUE(limit(1).any() && limit::bits(1).any() && limit::block().any());
}

}  // namespace
}  // namespace coua
