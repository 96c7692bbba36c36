// SPDX-License-Identifier: Apache-2.0
//
// How a port that the switch has shut down comes back by itself, or stays shut.
#include "dp/test_switch.h"

namespace coua::dp {
namespace {

class shut_test : public switch_test {
 protected:
  void SetUp() override {
    switch_test::SetUp();
    access("a");
    access("b");
    access("watched", 2);
    access("beside", 2);  // which it floods to
  }
  template <typename Change>
  result<void> change(Change apply) {
    port_config config = status_of("a").config;
    apply(config);
    return switch_->update_port(config);
  }
  void send(std::uint64_t to, unsigned n = 1, unsigned from = 1) {
    for (unsigned i = 0; i < n; ++i) ASSERT_TRUE(rings_["a"]->send(make_frame(to, host(from))));
  }
  /// Of what port a brought: that is to be flooded, whatever became of it.
  std::uint64_t taken() {
    std::uint64_t n = 0;
    for (const char* each :
         {"flooded", "drop_storm_broadcast", "drop_storm_multicast", "drop_storm_unknown_unicast"})
      n += count("a", each);
    return n;
  }
  /// Waits until `n` frames are counted, which makes that many of a, and all ports have been looked
  /// at for storms since: as often as another port was shut down. The look that does it the first
  /// time may have begun before.
  void looked_at(std::uint64_t n) {
    ASSERT_TRUE(eventually([&] { return taken() == n; })) << taken() << " of " << n;
    port_config config = status_of("watched").config;
    config.storm.broadcast = flood_limit::block();
    config.storm.action = storm_action::shutdown;
    ASSERT_TRUE(switch_->update_port(config));
    for (int look = 0; look < 2; ++look) {
      ASSERT_TRUE(rings_["watched"]->send(make_frame(broadcast, host(9))));
      ASSERT_TRUE(eventually([&] { return status_of("watched").shut_down != ""; }));
      ASSERT_TRUE(switch_->reopen_port("watched"));
    }
  }
  bool is_shut(const std::string& by) {
    return eventually([&] { return status_of("a").shut_down == by; });
  }
  /// By one broadcast frame.
  void shut(unsigned recover_s) {
    ASSERT_TRUE(change([&](port_config& c) {
      c.storm.broadcast = flood_limit::block();
      c.storm.action = storm_action::shutdown;
      c.recover_s = recover_s;
    }));
    send(broadcast);
    ASSERT_TRUE(is_shut("storm_broadcast"));
  }
};

TEST_F(shut_test, a_storm_shuts_its_port_and_no_other) {
  const struct {
    std::uint64_t to;
    flood_limit storm_limits::*limit;
    const char* by;
  } kinds[] = {{broadcast, &storm_limits::broadcast, "storm_broadcast"},
               {0x01005E000001u, &storm_limits::multicast, "storm_multicast"},
               {host(999), &storm_limits::unknown_unicast, "storm_unknown_unicast"}};
  std::uint64_t n = 0;
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind.by);
    ASSERT_TRUE(change([&](port_config& c) {
      c.storm = {};
      c.storm.*kind.limit = 1;
      c.storm.action = storm_action::shutdown;
    }));
    const std::uint64_t before = taken();
    for (const auto& other : kinds)
      if (other.to != kind.to) send(other.to, 50);
    send(kind.to, 20);
    // Not one too many: red when the drops of others count, or those of before.
    ASSERT_NO_FATAL_FAILURE(looked_at(before + 120));
    ASSERT_EQ(status_of("a").shut_down, "");
    send(kind.to, 50);
    ASSERT_TRUE(is_shut(kind.by));
    EXPECT_EQ(status_of("b").shut_down, "");
    EXPECT_EQ(count("a", "shut_downs"), ++n);
    EXPECT_TRUE(status_of("a").config.enabled);
    // What waited in the device meanwhile, and what was dropped before, does not shut it again.
    send(kind.to, 100);
    ASSERT_TRUE(switch_->reopen_port("a"));
    // It begins with a full burst, as new.
    const std::uint64_t reopened = taken();
    send(kind.to, 20);
    ASSERT_NO_FATAL_FAILURE(looked_at(reopened + 20));
    ASSERT_EQ(status_of("a").shut_down, "");
  }
  EXPECT_EQ(count("a", "recoveries"), 0u);
  // No frame is forgotten: what was not received was freed, and counted.
  EXPECT_GE(count("a", "drop_shut_down"), std::size(kinds) * 100);
  EXPECT_EQ(count("a", "rx_packets") + count("a", "drop_shut_down"),
            std::size(kinds) * (100 + 20 + 50 + 100 + 20));
}

// Red when what a port and its device have counted goes with the port.
TEST_F(shut_test, totals_keep_what_a_port_that_goes_has_counted) {
  ASSERT_NO_FATAL_FAILURE(shut(0));
  send(host(2), 10);
  ASSERT_TRUE(switch_->reopen_port("a"));
  test_ring_port::say_dropped({{1, 20, 300, 4000}});
  const std::vector<counter> before = switch_->totals();
  ASSERT_EQ(value(before, "shut_downs"), 1u);
  ASSERT_EQ(value(before, "rx_missed"), 4u);
  for (const char* port : {"a", "b", "watched", "beside"}) {
    ASSERT_TRUE(switch_->remove_port(port));
    const std::vector<counter> now = switch_->totals();
    ASSERT_EQ(now.size(), before.size());
    for (std::size_t i = 0; i < now.size(); ++i) {
      EXPECT_EQ(now[i].name, before[i].name);
      EXPECT_EQ(now[i].value, before[i].value) << now[i].name << " without " << port;
    }
  }
}

// Red nearly always without a look at the speed: links are watched less often than drops.
TEST_F(shut_test, a_share_of_an_old_speed_shuts_nothing) {
  test_ring_port& a = *rings_["a"];
  a.set_speed(10);
  ASSERT_TRUE(eventually([&] { return status_of("a").link_mbps == 10; }));
  ASSERT_TRUE(change([](port_config& c) {
    c.storm.broadcast = flood_limit::percent_hundredths(1);
    c.storm.action = storm_action::shutdown;
  }));
  a.set_speed(1'000'000);
  for (unsigned i = 0; i < 60; ++i) ASSERT_TRUE(a.send(make_frame(broadcast, host(1), -1, 1000)));
  ASSERT_NO_FATAL_FAILURE(looked_at(60));
  EXPECT_EQ(status_of("a").shut_down, "");
  a.set_speed(10);
  ASSERT_TRUE(eventually([&] { return status_of("a").link_mbps == 10; }));
  for (unsigned i = 0; i < 60; ++i) ASSERT_TRUE(a.send(make_frame(broadcast, host(1), -1, 1000)));
  EXPECT_TRUE(is_shut("storm_broadcast"));
}

// Red nearly always when the look ends with the share: what else was dropped would be forgotten.
TEST_F(shut_test, a_share_of_an_old_speed_hides_no_other_storm) {
  test_ring_port& a = *rings_["a"];
  a.set_speed(10);
  ASSERT_TRUE(eventually([&] { return status_of("a").link_mbps == 10; }));
  ASSERT_TRUE(change([](port_config& c) {
    c.storm = {flood_limit::percent_hundredths(1), flood_limit::percent_hundredths(1),
               flood_limit::block()};
    c.storm.action = storm_action::shutdown;
  }));
  a.set_speed(1'000'000);
  for (const std::uint64_t to : {broadcast, std::uint64_t{0x01005E000001u}})
    for (unsigned i = 0; i < 60; ++i) ASSERT_TRUE(a.send(make_frame(to, host(1), -1, 1000)));
  send(host(999));
  EXPECT_TRUE(is_shut("storm_unknown_unicast")) << status_of("a").shut_down;
}

TEST_F(shut_test, drop_leaves_the_port_open_and_its_drops_are_forgotten) {
  ASSERT_TRUE(change([](port_config& c) { c.storm.broadcast = flood_limit::block(); }));
  send(broadcast, 100);
  ASSERT_TRUE(counts("a", "drop_storm_broadcast", 100));
  ASSERT_TRUE(change([](port_config& c) { c.storm.action = storm_action::shutdown; }));
  ASSERT_NO_FATAL_FAILURE(looked_at(100));
  EXPECT_EQ(status_of("a").shut_down, "") << "by what it brought before";
  send(broadcast);
  EXPECT_TRUE(is_shut("storm_broadcast"));
}

TEST_F(shut_test, it_comes_back_when_its_time_is_over) {
  const auto start = std::chrono::steady_clock::now();
  shut(1);
  EXPECT_EQ(status_of("a").recovers_in_s, 1u);
  ASSERT_TRUE(is_shut(""));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  EXPECT_EQ(status_of("a").recovers_in_s, 0u);
  EXPECT_EQ(count("a", "recoveries"), 1u);
  send(0x01005E000001u);
  EXPECT_TRUE(rings_["b"]->receive());
  // And is shut down again, as often as it must be.
  send(broadcast);
  ASSERT_TRUE(eventually([&] { return count("a", "shut_downs") == 2; }));
  ASSERT_TRUE(eventually([&] { return count("a", "recoveries") == 2; }));
  const auto all = switch_->totals();
  EXPECT_EQ(value(all, "shut_downs"), 2u);
  EXPECT_EQ(value(all, "recoveries"), 2u);
}

TEST_F(shut_test, also_after_its_limit_of_addresses) {
  ASSERT_TRUE(change([](port_config& c) {
    c.mac_limit = 1;
    c.mac_limit_action = limit_action::shutdown;
    c.recover_s = 1;
  }));
  send(broadcast);
  ASSERT_TRUE(learned(1, host(1), "a"));
  send(broadcast, 1, 2);
  ASSERT_TRUE(is_shut("mac_limit"));
  ASSERT_TRUE(is_shut(""));
  EXPECT_EQ(count("a", "recoveries"), 1u);
}

TEST_F(shut_test, the_time_can_be_changed_while_it_runs) {
  shut(0);
  EXPECT_EQ(status_of("a").recovers_in_s, 0u);
  ASSERT_TRUE(change([](port_config& c) { c.recover_s = 1000; }));
  const unsigned left = status_of("a").recovers_in_s;
  EXPECT_GE(left, 900u);
  EXPECT_LE(left, 1000u);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_LT(status_of("a").recovers_in_s, left);
  EXPECT_EQ(status_of("a").shut_down, "storm_broadcast");
  // More than a second ago: now.
  ASSERT_TRUE(change([](port_config& c) { c.recover_s = 1; }));
  EXPECT_TRUE(is_shut(""));
}

// What takes a change back: red when the port is open again, or was for a moment.
TEST_F(shut_test, a_port_is_restored_as_shut_as_it_was) {
  shut(1000);
  const port_status was = status_of("a");
  const auto is_as_before = [&] {
    const port_status now = status_of("a");
    EXPECT_EQ(now.shut_down, "storm_broadcast");
    EXPECT_EQ(now.shut_ns, was.shut_ns);
    EXPECT_NE(now.recovers_in_s, 0u);
    EXPECT_EQ(now.config, was.config);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(rings_["b"]->silent());
  };
  ASSERT_TRUE(change([](port_config& c) { c.enabled = false; }));
  ASSERT_EQ(status_of("a").shut_down, "");
  send(0x01005E000001u, 10);
  ASSERT_TRUE(switch_->restore_port(was));
  is_as_before();
  EXPECT_EQ(count("a", "shut_downs"), 1u) << "it is the same time";
  // One that stayed shut.
  ASSERT_TRUE(change([](port_config& c) { c.mac_limit = 7; }));
  ASSERT_TRUE(switch_->restore_port(was));
  is_as_before();
  // One that was removed. Its device brings something before it is there.
  ASSERT_TRUE(switch_->remove_port("a"));
  rings_["a"]->make();
  send(0x01005E000001u, 10);
  ASSERT_TRUE(switch_->restore_port(was));
  is_as_before();
  ASSERT_TRUE(switch_->reopen_port("a"));
  send(0x01005E000001u);
  EXPECT_TRUE(rings_["b"]->receive());
}

TEST_F(shut_test, a_port_that_was_open_is_restored_open) {
  const port_status was = status_of("a");
  ASSERT_TRUE(change([](port_config& c) { c.enabled = false; }));
  ASSERT_TRUE(switch_->restore_port(was));
  send(broadcast);
  EXPECT_TRUE(rings_["b"]->receive());
  EXPECT_EQ(status_of("a").shut_down, "");
  // Its time was over meanwhile.
  shut(1);
  const port_status shut_then = status_of("a");
  ASSERT_TRUE(is_shut(""));
  ASSERT_TRUE(switch_->restore_port(shut_then));
  EXPECT_TRUE(is_shut(""));
}

// As when an apply fails after its new limits have shut the port.
TEST_F(shut_test, a_port_that_was_shut_since_is_restored_open) {
  const port_status was = status_of("a");
  shut(0);
  ASSERT_TRUE(switch_->restore_port(was));
  EXPECT_EQ(status_of("a").shut_down, "");
  EXPECT_EQ(status_of("a").config, was.config);
  EXPECT_TRUE(eventually([&] { return status_of("a").link_up; }));
  EXPECT_TRUE(rings_["b"]->silent());
  send(broadcast);
  EXPECT_TRUE(rings_["b"]->receive());
}

TEST_F(shut_test, a_driver_that_refuses_is_asked_again) {
  shut(1);
  test_ring_port::fail_links(-EIO);
  std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  EXPECT_EQ(status_of("a").shut_down, "storm_broadcast");
  test_ring_port::fail_links(0);
  EXPECT_TRUE(is_shut(""));
  EXPECT_EQ(count("a", "recoveries"), 1u);
}

}  // namespace
}  // namespace coua::dp
