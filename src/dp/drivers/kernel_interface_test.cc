// SPDX-License-Identifier: Apache-2.0
#include "dp/drivers/kernel_interface.h"

#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <climits>
#include <cstring>

namespace coua::dp {
namespace {

bool is_lo_working() {
  ifaddrs* all = nullptr;
  EXPECT_EQ(getifaddrs(&all), 0);
  bool working = false;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next)
    if (std::strcmp(each->ifa_name, "lo") == 0)
      working = (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_RUNNING) != 0;
  freeifaddrs(all);
  return working;
}

TEST(kernel_interface, is_asked_of_drivers_that_stand_on_one) {
  const unsigned lo = if_nametoindex("lo");
  ASSERT_NE(lo, 0u);
  for (const char* driver : {"net_af_packet", "net_af_xdp", "net_tap"}) {
    const auto found = kernel_interface::of(driver, lo);
    ASSERT_TRUE(found.any()) << driver;
    EXPECT_EQ(found.look(),
              is_lo_working() ? kernel_interface::state::up : kernel_interface::state::down);
    EXPECT_FALSE(kernel_interface::of(driver, 0).any()) << driver;
  }
  // Cards have one, too, which their driver knows best.
  EXPECT_FALSE(kernel_interface::of("mlx5_pci", lo).any());
  EXPECT_FALSE(kernel_interface().any());
}

TEST(kernel_interface, is_gone_when_there_is_none_of_its_index) {
  EXPECT_EQ(kernel_interface::of("net_af_packet", INT_MAX).look(), kernel_interface::state::gone);
}

}  // namespace
}  // namespace coua::dp
