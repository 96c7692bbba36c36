// SPDX-License-Identifier: Apache-2.0
//
// Ports that come, change, lose their link and go.
#include <atomic>
#include <cerrno>
#include <thread>

#include "dp/bench_hooks.h"
#include "dp/test_switch.h"

namespace coua::dp {
namespace {

TEST_F(switch_test, entries_of_a_removed_or_disabled_port_go) {
  auto& a = access("a");
  access("b");
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  ASSERT_TRUE(learned(1, host(1), "a"));
  port_config off = config_of("a");
  off.enabled = false;
  ASSERT_TRUE(switch_->update_port(off));
  EXPECT_TRUE(eventually([&] { return switch_->fib().entries == 0; }));
  off.enabled = true;
  ASSERT_TRUE(switch_->update_port(off));
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  ASSERT_TRUE(learned(1, host(1), "a"));
  const fib_entry fixed{1, host(9), numbers_["a"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&fixed, 1)));
  ASSERT_TRUE(switch_->remove_port("a"));
  EXPECT_EQ(switch_->fib().entries, 0u);
  EXPECT_FALSE(switch_->remove_port("a"));
}

TEST_F(switch_test, a_port_that_loses_its_link_loses_its_entries) {
  auto& a = access("a");
  auto& b = access("b");
  ASSERT_TRUE(b.send(make_frame(broadcast, host(2))));
  ASSERT_TRUE(learned(1, host(2), "b"));
  EXPECT_TRUE(a.receive());
  const fib_entry fixed{1, host(3), numbers_["b"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&fixed, 1)));
  b.set_link(false);
  EXPECT_TRUE(eventually([&] { return switch_->fib().entries == 1; }));
  EXPECT_FALSE(switch_->ports()[1].link_up);
  ASSERT_TRUE(a.send(make_frame(host(3), host(1))));
  ASSERT_TRUE(a.send(make_frame(host(2), host(1))));
  EXPECT_TRUE(counts("a", "drop_port_down", 1));
  EXPECT_TRUE(counts("a", "drop_no_member", 1));
  b.set_link(true);
  EXPECT_TRUE(eventually([&] { return switch_->ports()[1].link_up; }));
  const frame_bytes again = make_frame(host(3), host(1));
  ASSERT_TRUE(a.send(again));
  EXPECT_EQ(b.receive(), again);
}

// By what DPDK answers when it is asked, and by the word of the driver.
TEST_F(switch_test, a_device_that_goes_away_under_traffic_takes_its_entries_along) {
  auto& a = access("a");
  for (const bool is_told : {false, true}) {
    auto& b = access("b");
    ASSERT_TRUE(b.send(make_frame(broadcast, host(2))));
    ASSERT_TRUE(learned(1, host(2), "b"));
    std::atomic<bool> over{false};
    std::thread traffic([&] {
      while (!over) {
        if (!a.send(make_frame(host(2), host(1)))) std::this_thread::yield();
        while (b.came_out() > 0) (void)b.receive();
      }
    });
    is_told ? b.say_removed() : b.vanish();
    EXPECT_TRUE(eventually([&] { return status_of("b").lost; })) << is_told;
    EXPECT_FALSE(status_of("b").link_up);
    EXPECT_TRUE(eventually([&] { return !switch_->fib_find({}, 1, host(2)); })) << is_told;
    EXPECT_TRUE(eventually([&] { return count("a", "drop_no_member") > 0; }));
    const auto removed = switch_->remove_port("b");
    EXPECT_TRUE(removed) << removed.error().message();
    over = true;
    traffic.join();
    EXPECT_TRUE(eventually([&] { return a.waiting() == 0; }));
    rings_.erase("b");  // what comes next has the number of its device
  }
}

// Red when the driver's answer is ignored.
TEST_F(switch_test, a_link_that_cannot_be_set_leaves_the_port_as_it_was) {
  auto& a = access("a");
  auto& b = access("b");
  port_config off = config_of("b");
  off.enabled = false;
  off.native_vlan = 9;
  test_ring_port::fail_links(-EIO);
  const auto refused = switch_->update_port(off);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, "port b");
  EXPECT_NE(refused.error().what.find("cannot take the link down"), std::string::npos)
      << refused.error().message();
  EXPECT_TRUE(switch_->ports()[1].config.enabled);
  const frame_bytes frame = make_frame(broadcast, host(1));
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(b.receive(), frame);

  rings_["c"] = std::make_unique<test_ring_port>("c");
  port_config born_off = config_of("c");
  born_off.enabled = false;
  EXPECT_FALSE(switch_->add_port(born_off));
  EXPECT_EQ(switch_->ports().size(), 2u);
}

TEST_F(switch_test, a_disabled_port_forwards_nothing_also_when_its_driver_keeps_the_link) {
  auto& a = access("a");
  auto& b = access("b");
  test_ring_port::fail_links(-ENOTSUP);
  const fib_entry to_b{1, host(2), numbers_["b"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&to_b, 1)));
  port_config config = config_of("b");
  config.enabled = false;
  const auto done = switch_->update_port(config);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_FALSE(switch_->ports()[1].config.enabled);
  const frame_bytes known = make_frame(host(2), host(1));
  ASSERT_TRUE(a.send(known));
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(counts("a", "drop_port_down", 1));
  EXPECT_TRUE(counts("a", "drop_no_member", 1));
  ASSERT_TRUE(b.send(make_frame(broadcast, host(2))));
  EXPECT_TRUE(a.silent());
  EXPECT_TRUE(b.silent());
  EXPECT_EQ(count("b", "rx_packets"), 0u);
  config.enabled = true;
  ASSERT_TRUE(switch_->update_port(config));
  EXPECT_TRUE(a.receive());  // what had waited
  ASSERT_TRUE(a.send(known));
  EXPECT_EQ(b.receive(), known);
}

TEST_F(switch_test, entries_of_a_vlan_that_a_port_leaves_go) {
  auto& t = trunk("t", 0, {10, 20});
  for (const int vlan : {10, 20}) ASSERT_TRUE(t.send(make_frame(broadcast, host(1), vlan)));
  ASSERT_TRUE(learned(10, host(1), "t"));
  ASSERT_TRUE(learned(20, host(1), "t"));
  port_config config = config_of("t");
  config.mode = vlan_mode::trunk;
  config.native_vlan = 0;
  config.tagged = {20};
  ASSERT_TRUE(switch_->update_port(config));
  EXPECT_TRUE(eventually([&] { return switch_->fib().entries == 1; }));
  EXPECT_TRUE(switch_->fib_find({}, 20, host(1)));
}

TEST_F(switch_test, ports_come_and_go_under_traffic) {
  auto& a = access("a");
  access("b");
  std::atomic<bool> stop{false};
  std::thread traffic([&] {
    for (unsigned i = 0; !stop; ++i) {
      const bool sent =
          a.send(make_frame(i % 3 == 0 ? broadcast : host(1000 + i % 7), host(i % 50)));
      while (rings_["b"]->receive(0)) {
      }
      if (!sent) std::this_thread::yield();
    }
  });
  rings_["c"] = std::make_unique<test_ring_port>("c");
  for (unsigned i = 0; i < 100; ++i) {
    add(config_of("c"));
    ASSERT_TRUE(rings_["c"]->send(make_frame(broadcast, host(1000 + i % 7))));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto gone = switch_->remove_port("c");
    ASSERT_TRUE(gone) << gone.error().message();
    rings_["c"]->make();
  }
  stop = true;
  traffic.join();
  EXPECT_TRUE(eventually([&] { return a.waiting() == 0; }));
  while (rings_["b"]->receive(20)) {
  }
  check_sums();
  ASSERT_TRUE(switch_->remove_port("a"));
  ASSERT_TRUE(switch_->remove_port("b"));
  EXPECT_EQ(packets_in_use(*switch_), 0u);
  EXPECT_EQ(switch_->fib().entries, 0u);
  add(config_of("c"));  // its device was made a last time, and goes with the port
}

TEST_F(switch_test, ports_with_one_transmit_queue_are_shared_or_not_by_the_number_of_workers) {
  access("a");
  const port_status status = switch_->ports()[0];
  EXPECT_EQ(status.tx_shared, switch_->workers().size() > 1);
  EXPECT_EQ(status.driver, "net_ring");
  EXPECT_TRUE(status.link_up);
}

}  // namespace
}  // namespace coua::dp
