// SPDX-License-Identifier: Apache-2.0
//
// Devices that a port opens, and those that it cannot open.
#include "dp/test_switch.h"

namespace coua::dp {
namespace {

TEST_F(switch_test, virtual_devices_are_probed_at_run_time) {
  port_config config;
  config.name = "null";
  config.devargs = "net_null7,no-rx=1";
  add(config);
  const auto twice = switch_->add_port(config);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, errc::exists);
  config.name = "other";
  EXPECT_EQ(switch_->add_port(config).error().code, errc::exists);
  config.devargs = "net_nonsense0";
  const auto unknown = switch_->add_port(config);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("port other"), std::string::npos);
  EXPECT_NE(unknown.error().message().find("net_nonsense0"), std::string::npos);
  ASSERT_TRUE(switch_->remove_port("null"));
  config.devargs = "net_null7,no-rx=1";
  add(config);
  config.mtu = 60;
  EXPECT_EQ(switch_->update_port(config).error().code, errc::invalid);
  config.mtu = 1500;
  config.rx_descriptors = 77;
  EXPECT_EQ(switch_->update_port(config).error().code, errc::unsupported);
}

TEST_F(switch_test, a_port_that_does_not_start_says_what_its_driver_says) {
  const auto expect = [&](const std::string& devargs, const std::string& reason) {
    port_config config;
    config.name = "bad";
    config.devargs = devargs;
    const auto added = switch_->add_port(config);
    ASSERT_FALSE(added) << devargs;
    EXPECT_NE(added.error().what.find(reason), std::string::npos) << added.error().message();
  };
  expect("net_af_packet9,iface=nosuch0", "No such device");
  expect("net_pcap9,rx_pcap=/nonexistent.pcap", "/nonexistent.pcap: No such file");
  expect("net_pcap9", "No rx or tx queues provided");
  expect("nosuch9", "no driver for 'nosuch9'");
}

TEST_F(switch_test, too_few_packets_say_how_much_is_missing) {
  switch_config config;
  config.mbufs = 2'000'000;
  start(config);
  rings_["a"] = std::make_unique<test_ring_port>("a");
  const auto failed = switch_->add_port(config_of("a"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, errc::no_memory);
  EXPECT_NE(failed.error().message().find("raise memory.packet_mib"), std::string::npos)
      << failed.error().message();
  EXPECT_TRUE(switch_->ports().empty());
}

}  // namespace
}  // namespace coua::dp
