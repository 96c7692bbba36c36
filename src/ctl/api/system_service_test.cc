// SPDX-License-Identifier: Apache-2.0
//
// What the daemon and its VLANs are.
#include <unistd.h>

#include "ctl/api/test_api.h"

namespace coua::ctl {
namespace {

TEST_F(api, version) {
  const auto got = good(*system_, &v1::SystemService::Stub::GetVersion, v1::GetVersionRequest());
  EXPECT_EQ(got.version(), "1.2.3");
  EXPECT_EQ(got.config(), "f.yaml");
  EXPECT_EQ(got.pid(), getpid());
  EXPECT_FALSE(got.description().empty());
}

TEST_F(api, vlans_have_port_names) {
  add_ports();
  const auto all = good(*system_, &v1::SystemService::Stub::ListVlans, v1::ListVlansRequest());
  ASSERT_EQ(all.vlans_size(), 1);
  EXPECT_EQ(all.vlans(0).vlan(), 10u);
  ASSERT_EQ(all.vlans(0).untagged_size(), 2);
  EXPECT_EQ(all.vlans(0).untagged(1), "p1");
  v1::ListVlansRequest one;
  one.set_vlan(11);
  EXPECT_EQ(
      refused(*system_, &v1::SystemService::Stub::ListVlans, one, grpc::StatusCode::NOT_FOUND),
      "VLAN 11");
  one.set_vlan(5000);
  EXPECT_EQ(refused(*system_, &v1::SystemService::Stub::ListVlans, one,
                    grpc::StatusCode::INVALID_ARGUMENT),
            "vlan");
}

}  // namespace
}  // namespace coua::ctl
