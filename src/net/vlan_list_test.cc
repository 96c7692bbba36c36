// SPDX-License-Identifier: Apache-2.0
#include "net/vlan_list.h"

#include <gtest/gtest.h>

#include <vector>

namespace coua::net {
namespace {

using vlans = std::vector<std::uint16_t>;

TEST(vlan_list, is_short) {
  EXPECT_EQ(format_vlans({}), "");
  EXPECT_EQ(format_vlans(vlans{1, 2, 3, 7, 9, 10}), "1-3,7,9-10");
}

TEST(vlan_list, of_a_port_says_where_its_entries_may_be) {
  const vlans few{1, 20, 21};
  for (const unsigned vlan : {1U, 20U, 21U}) EXPECT_EQ(check_carried("p0", few, vlan), "");
  EXPECT_EQ(check_carried("p0", few, 2), "port p0 does not carry VLAN 2; it carries 1,20-21");
  EXPECT_EQ(check_carried("span", {}, 1), "port span is a mirror port, which carries no VLAN");
}

TEST(vlan_list, of_a_refusal_ends_behind_a_whole_vlan) {
  vlans many;
  for (std::uint16_t vlan = 1001; vlan < 1100; vlan += 2) many.push_back(vlan);
  const std::string reason = check_carried("p0", many, 1000);
  EXPECT_TRUE(reason.ends_with(",1029,1031...")) << reason;
}

}  // namespace
}  // namespace coua::net
