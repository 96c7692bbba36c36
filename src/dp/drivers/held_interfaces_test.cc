// SPDX-License-Identifier: Apache-2.0
#include "dp/drivers/held_interfaces.h"

#include <gtest/gtest.h>
#include <net/if.h>

#include "dp/drivers/devargs.h"
#include "dp/drivers/kernel_interface.h"

namespace coua::dp {
namespace {

using names = std::set<std::string>;

TEST(devargs, names_the_interfaces_of_a_device) {
  EXPECT_EQ(interfaces_in("net_af_packet0,iface=v1,qpairs=2"), names{"v1"});
  EXPECT_EQ(interfaces_in("net_pcap0,rx_iface_in=v1,tx_iface=v2"), (names{"v1", "v2"}));
  EXPECT_EQ(interfaces_in("net_pcap0,rx_iface=v1,tx_iface=v1,iface=v3"), (names{"v1", "v3"}));
  for (const char* none : {"0000:03:00.0", "net_null0,size=64", "net_tap0", "net_tap0,iface",
                           "net_tap0,iface=", "net_tap0,", "net_tap0,iface=v%d",
                           "net_tap0,xiface=v1", "net_vhost0,iface=/run/vhost.sock"})
    EXPECT_EQ(interfaces_in(none), names{}) << none;
}

TEST(held_interfaces, are_of_one_port_at_a_time) {
  auto first = held_interfaces::take("net_af_xdp1,iface=v1,queue_count=2", "port p1");
  ASSERT_TRUE(first);
  const auto second = held_interfaces::take("net_af_xdp2,start_queue=2,iface=v1", "port p2");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::exists);
  EXPECT_EQ(second.error().message(),
            "port p2: interface v1 is that of port p1: one port has an interface (queue_count= "
            "gives it more queues)");
  EXPECT_TRUE(held_interfaces::take("net_af_xdp3,iface=v10", "port p3"));
  for (const char* other :
       {"net_af_packet1,iface=v1", "net_tap1,iface=v1", "net_pcap1,rx_iface=v2,tx_iface=v1"})
    EXPECT_FALSE(held_interfaces::take(other, "port p4")) << other;
  EXPECT_TRUE(held_interfaces::take("net_tap1,iface=v2", "port p4")) << "left by who was refused";
  *first = held_interfaces();
  EXPECT_TRUE(held_interfaces::take("net_af_xdp2,iface=v1", "port p2"));
}

TEST(held_interfaces, are_not_what_another_program_may_have) {
  const unsigned lo = if_nametoindex("lo");
  const auto state = kernel_interface::of("net_af_packet", lo).look();
  const auto taken = held_interfaces::take("net_tap1,iface=lo", "port p1");
  ASSERT_EQ(taken.has_value(), state != kernel_interface::state::up);
  if (!taken) {
    EXPECT_NE(taken.error().what.find("interface lo is there"), std::string::npos);
  }
  EXPECT_TRUE(held_interfaces::take("net_af_packet1,iface=lo", "port p1"));
}

TEST(held_interfaces, moves_without_being_free_meanwhile) {
  auto first = held_interfaces::take("net_af_xdp1,iface=v2", "port p1");
  ASSERT_TRUE(first);
  held_interfaces held;
  held = std::move(*first);
  { const held_interfaces gone = std::move(*first); }
  EXPECT_FALSE(held_interfaces::take("net_af_xdp2,iface=v2", "port p2"));
}

TEST(held_interfaces, knows_whether_a_queue_was_left) {
  {
    auto first = held_interfaces::take("net_af_xdp1,iface=v3", "port p1");
    ASSERT_TRUE(first);
    EXPECT_FALSE(first->was_left_lately());
    first->left_queue();
  }
  auto again = held_interfaces::take("net_af_xdp1,iface=v3", "port p1");
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->was_left_lately());
  EXPECT_FALSE(held_interfaces::take("net_af_xdp2,iface=v4", "port p2")->was_left_lately());
  EXPECT_FALSE(held_interfaces().was_left_lately());
}

}  // namespace
}  // namespace coua::dp
