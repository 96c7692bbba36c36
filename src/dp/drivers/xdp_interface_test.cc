// SPDX-License-Identifier: Apache-2.0
#include "dp/drivers/xdp_interface.h"

#include <gtest/gtest.h>

namespace coua::dp {
namespace {

TEST(xdp_interface, is_of_one_port_at_a_time) {
  auto first = xdp_interface::take("net_af_xdp1,iface=v1,queue_count=2", "port p1");
  ASSERT_TRUE(first);
  const auto second = xdp_interface::take("net_af_xdp2,start_queue=2,iface=v1", "port p2");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::exists);
  EXPECT_EQ(second.error().where, "port p2");
  EXPECT_NE(second.error().what.find("interface v1 is that of port p1"), std::string::npos);
  EXPECT_TRUE(xdp_interface::take("net_af_xdp3,iface=v10", "port p3"));
  EXPECT_TRUE(xdp_interface::take("net_af_packet1,iface=v1", "port p4")) << "of another driver";
  *first = xdp_interface();
  EXPECT_TRUE(xdp_interface::take("net_af_xdp2,iface=v1", "port p2"));
}

TEST(xdp_interface, moves_without_being_free_meanwhile) {
  auto first = xdp_interface::take("net_af_xdp1,iface=v2", "port p1");
  ASSERT_TRUE(first);
  xdp_interface held;
  held = std::move(*first);
  { const xdp_interface gone = std::move(*first); }
  EXPECT_FALSE(xdp_interface::take("net_af_xdp2,iface=v2", "port p2"));
}

TEST(xdp_interface, knows_whether_a_queue_was_left) {
  {
    auto first = xdp_interface::take("net_af_xdp1,iface=v3", "port p1");
    ASSERT_TRUE(first);
    EXPECT_FALSE(first->was_left_lately());
    first->left_queue();
  }
  auto again = xdp_interface::take("net_af_xdp1,iface=v3", "port p1");
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->was_left_lately());
  EXPECT_FALSE(xdp_interface::take("net_af_xdp2,iface=v4", "port p2")->was_left_lately());
  EXPECT_FALSE(xdp_interface().was_left_lately());
}

}  // namespace
}  // namespace coua::dp
