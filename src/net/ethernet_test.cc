// SPDX-License-Identifier: Apache-2.0
#include "net/ethernet.h"

#include <gtest/gtest.h>

#include <array>

namespace coua::net {
namespace {

TEST(ethernet, first_byte_on_the_wire_is_the_highest) {
  const std::array<std::uint8_t, 6> wire{0x02, 0x11, 0x22, 0x33, 0x44, 0xff};
  EXPECT_EQ(load_mac(wire.data()), 0x0211'2233'44ffU);
  std::array<std::uint8_t, 8> out{};
  store_mac(out.data() + 1, 0x0211'2233'44ff);
  EXPECT_EQ(out, (std::array<std::uint8_t, 8>{0, 0x02, 0x11, 0x22, 0x33, 0x44, 0xff, 0}));
}

TEST(ethernet, knows_the_kinds_of_addresses) {
  EXPECT_TRUE(is_broadcast(0xffff'ffff'ffff));
  EXPECT_TRUE(is_multicast(0xffff'ffff'ffff));
  EXPECT_TRUE(is_multicast(0x0100'5e00'0001));
  EXPECT_FALSE(is_multicast(0x0200'0000'0001));
  EXPECT_FALSE(is_broadcast(0xffff'ffff'fffe));
  EXPECT_TRUE(is_station(0x0200'0000'0001));
  EXPECT_FALSE(is_station(0));
  EXPECT_FALSE(is_station(0x0300'0000'0001));
}

TEST(ethernet, a_tag_has_its_parts_where_the_standard_says) {
  EXPECT_EQ(make_tci(0xabc, 5, true), 0xbabc);
  EXPECT_EQ(make_tci(0xffff), 0x0fff);
  EXPECT_EQ(make_tci(0, 8), 0);
}

}  // namespace
}  // namespace coua::net
