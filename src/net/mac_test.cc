// SPDX-License-Identifier: Apache-2.0
#include "net/mac.h"

#include <gtest/gtest.h>

namespace coua::net {
namespace {

TEST(mac, reads_the_three_ways_of_writing) {
  for (const char* text : {"02:11:22:aa:bb:ff", "02-11-22-aa-bb-ff", "02:11:22:AA:Bb:fF",
                           "0211.22aa.bbff", "0211.22AA.BBFF"}) {
    const std::optional<std::uint64_t> mac = parse_mac(text);
    ASSERT_TRUE(mac) << text;
    EXPECT_EQ(*mac, 0x0211'22aa'bbffU) << text;
  }
}

TEST(mac, rejects_everything_else) {
  for (const char* text : {"",
                           "02",
                           "0:11:22:aa:bb:ff",
                           "02:11:22:aa:bb",
                           "02:11:22:aa:bb:ff:00",
                           "02:11:22:aa:bb:fg",
                           "02:11-22:aa:bb:ff",
                           "02 11 22 aa bb ff",
                           "021122aabbff",
                           " 02:11:22:aa:bb:ff",
                           "02:11:22:aa:bb:ff ",
                           "02.11.22.aa.bb.ff",
                           "0211:22aa:bbff",
                           "0211.22aa-bbff",
                           "0211.22aa.bbf",
                           "0211.22aa.bbfg",
                           "021.122aa.bbff",
                           "+2:11:22:aa:bb:ff",
                           "0x:11:22:aa:bb:ff",
                           "02::11:22:aa:bb:f"}) {
    EXPECT_FALSE(parse_mac(text)) << text;
  }
}

TEST(mac, writes_what_it_reads) {
  EXPECT_EQ(format_mac(0), "00:00:00:00:00:00");
  EXPECT_EQ(format_mac(0xffff'ffff'ffff), "ff:ff:ff:ff:ff:ff");
  EXPECT_EQ(format_mac(0x0123'4567'89ab), "01:23:45:67:89:ab");
  for (int bit = 0; bit < 48; ++bit) {
    const std::uint64_t mac = std::uint64_t{1} << bit;
    EXPECT_EQ(parse_mac(format_mac(mac)), mac);
  }
}

}  // namespace
}  // namespace coua::net
