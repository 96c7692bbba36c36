// SPDX-License-Identifier: Apache-2.0
//
// What the daemon and its VLANs are.
#include <unistd.h>

#include "base/log.h"
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

TEST_F(api, controllers_are_shown) {
  v1::ListControllersRequest nothing;
  controllers_.connect_after(1);
  const auto list = [&] {
    return good(*system_, &v1::SystemService::Stub::ListControllers, nothing);
  };
  const auto before = list();
  ASSERT_EQ(before.controllers_size(), 3);
  const v1::Controller& first = before.controllers(0);
  EXPECT_EQ(first.target(), "tcp:10.0.0.1:6653");
  EXPECT_EQ(first.origin(), v1::Controller::ORIGIN_CONFIGURED);
  EXPECT_TRUE(first.connected());
  EXPECT_EQ(first.for_s(), 90u);
  EXPECT_EQ(first.role(), "master");
  EXPECT_EQ(first.connections(), 2u);
  EXPECT_EQ(first.received(), 1000u);
  EXPECT_EQ(first.sent(), 1001u);
  EXPECT_EQ(first.trouble(), "end of file");
  EXPECT_FALSE(before.controllers(1).connected());
  EXPECT_EQ(before.controllers(1).role(), "");
  EXPECT_EQ(before.controllers(2).origin(), v1::Controller::ORIGIN_CAME);
  EXPECT_FALSE(before.standalone());
  EXPECT_TRUE(list().controllers(1).connected());
}

TEST_F(api, log_level_is_shown_and_set) {
  const auto set = [this](const char* level) {
    v1::SetLogLevelRequest request;
    if (level != nullptr) request.set_level(level);
    return good(*system_, &v1::SystemService::Stub::SetLogLevel, request);
  };
  EXPECT_EQ(set(nullptr).level(), "info");
  EXPECT_EQ(set("debug").before(), "info");
  EXPECT_TRUE(log_enabled(log_level::debug));
  EXPECT_EQ(set(nullptr).level(), "debug");
  EXPECT_EQ(set("error").level(), "error");
  EXPECT_FALSE(log_enabled(log_level::warning));
  v1::SetLogLevelRequest wrong;
  wrong.set_level("loud");
  EXPECT_EQ(refused(*system_, &v1::SystemService::Stub::SetLogLevel, wrong,
                    grpc::StatusCode::INVALID_ARGUMENT),
            "level");
  EXPECT_EQ(set("info").before(), "error");
}

}  // namespace
}  // namespace coua::ctl
