// SPDX-License-Identifier: Apache-2.0
//
// Devices that a port opens, and those that it cannot open.
#include <rte_dev.h>
#include <rte_eal.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>

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
  config.devargs = "vdev:net_null7";
  EXPECT_EQ(switch_->add_port(config).error().code, errc::exists) << "the same one";
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

/// DPDK has it then: it would stay for good.
TEST_F(switch_test, what_is_no_network_device_goes_again) {
  const auto is_there = [] {
    rte_dev_iterator iterator;
    rte_device* found = nullptr;
    bool any = false;
    RTE_DEV_FOREACH(found, "bus=vdev,name=crypto_null9", &iterator) any = true;
    return any;
  };
  ASSERT_EQ(rte_dev_probe("crypto_null9"), 0);
  EXPECT_TRUE(is_there());
  port_config config;
  config.name = "bad";
  config.devargs = "crypto_null9";
  const auto added = switch_->add_port(config);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().what, "crypto_null9 is no network device");
  EXPECT_FALSE(is_there());
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
  expect("0000:7f:1f.7", "needs 'dpdk.pci: on' in its file");
}

std::size_t open_files() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

// The driver leaves its socket open. Red when that stays so: an abstract address is then in use,
// and each removal of a socket with a file leaves a descriptor.
TEST_F(switch_test, a_memif_server_comes_back_and_leaves_no_file_open) {
  const std::string name = "/tmp/coua-memif-" + std::to_string(getpid());
  for (const std::string abstract : {"yes", "no"}) {
    port_config port;
    port.name = "server";
    port.devargs = "net_memif0,role=server,socket=" + name + ",socket-abstract=" + abstract;
    add(port);
    ASSERT_TRUE(switch_->remove_port("server"));
    const std::size_t before = open_files();
    for (int round = 0; round < 5; ++round) {
      add(port);
      EXPECT_EQ(open_files(), before + 1);
      ASSERT_TRUE(switch_->remove_port("server"));
    }
    EXPECT_EQ(open_files(), before) << "socket-abstract=" << abstract;
  }
}

// Red when the socket is closed with the first of them.
TEST_F(switch_test, memif_servers_share_a_socket_until_the_last_one_goes) {
  const std::string socket = ",role=server,socket=/tmp/coua-memif-" + std::to_string(getpid());
  port_config one, other;
  one.name = "one";
  one.devargs = "net_memif0,id=0" + socket;
  other.name = "other";
  other.devargs = "net_memif1,id=1" + socket;
  const std::size_t before = open_files();
  add(one);
  add(other);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(switch_->remove_port("one"));
    EXPECT_EQ(open_files(), before + 1);
    add(one);
  }
  ASSERT_TRUE(switch_->remove_port("one"));
  ASSERT_TRUE(switch_->remove_port("other"));
  EXPECT_EQ(open_files(), before);
}

// Its driver would write beyond the packet, or lose the frame. Red without the check.
TEST_F(switch_test, packets_that_a_frame_does_not_fit_are_refused_where_it_cannot_be_spread) {
  switch_config config;
  config.mbuf_bytes = 1024;
  start(config);
  port_config port;
  port.name = "null";
  port.devargs = "net_null8,size=1500";
  const auto refused = switch_->add_port(port);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid);
  EXPECT_EQ(refused.error().where, "port null: memory.mbuf_bytes");
  EXPECT_NE(refused.error().what.find("1024 is less than the 1500 bytes"), std::string::npos)
      << refused.error().message();
  EXPECT_TRUE(switch_->ports().empty());
  port.devargs = "net_null8,size=1024,no-rx=0";
  add(port);
  port.name = "silent";
  port.devargs = "net_null9,size=1500,no-rx=1";
  add(port);
  access("a");  // its driver spreads frames
}

// Its driver asks nobody how large a packet is. Red when only the MTU decides that.
TEST_F(switch_test, packets_hold_the_frames_that_a_driver_makes_whatever_the_mtu) {
  auto& b = access("b");
  port_config port;
  port.name = "null";
  port.devargs = "net_null8,size=4000,copy=1";  // of zeros: to and from the same station
  port.learning = false;                        // which is never known, so each frame is flooded
  add(port);
  for (int i = 0; i < 100; ++i) {
    const auto frame = b.receive();
    ASSERT_TRUE(frame);
    ASSERT_EQ(frame->size(), 4000u);
  }
  ASSERT_TRUE(switch_->remove_port("null"));
  port.devargs = "net_null9,size=65408";
  const auto refused = switch_->add_port(port);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, "port null: devargs");
  EXPECT_NE(refused.error().what.find("size=65408 is more than the 65407 bytes"), std::string::npos)
      << refused.error().message();
}

TEST_F(switch_test, frames_that_do_not_fit_the_packets_that_ports_share_are_refused) {
  switch_config config;
  config.mbufs = 4000;
  start(config);
  port_config port;
  port.name = "first";  // of its node: it decides
  port.devargs = "net_null7,no-rx=1";
  add(port);
  port.name = "null";
  port.devargs = "net_null8,size=4000";
  const auto refused = switch_->add_port(port);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, "port null: devargs");
  EXPECT_NE(refused.error().what.find("size=4000 does not fit the node's packets of 2176 bytes"),
            std::string::npos)
      << refused.error().message();
  port.devargs = "net_null8,size=1500";
  port.mtu = 9000;
  const auto too_large = switch_->add_port(port);
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().where, "port null: mtu");
}

TEST_F(switch_test, an_mtu_that_cannot_be_changed_stays_and_the_rest_with_it) {
  auto& a = access("a", 10);
  port_config config = config_of("a");
  config.mtu = 1400;
  config.native_vlan = 20;
  config.promiscuous = false;
  const auto refused = switch_->update_port(config);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::unsupported);
  EXPECT_EQ(refused.error().where, "port a: mtu");
  EXPECT_NE(refused.error().what.find("net_ring cannot change it, so it stays at 1500"),
            std::string::npos)
      << refused.error().message();
  const port_config now = switch_->ports()[0].config;
  EXPECT_EQ(now.mtu, 1500u);
  EXPECT_EQ(now.native_vlan, 10u);
  EXPECT_TRUE(now.promiscuous);
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(learned(10, host(1), "a"));
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
  // None of them crosses a page of 4 KiB.
  const bool says_pages = failed.error().message().find(" need 7813 MiB, ") != std::string::npos;
  EXPECT_TRUE(says_pages || rte_eal_has_hugepages() != 0) << failed.error().message();
  EXPECT_TRUE(switch_->ports().empty());
}

}  // namespace
}  // namespace coua::dp
