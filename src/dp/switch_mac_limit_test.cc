// SPDX-License-Identifier: Apache-2.0
//
// What becomes of frames from addresses above a port's limit.
#include "base/log.h"
#include "dp/l2/storm.h"
#include "dp/test_switch.h"

namespace coua::dp {
namespace {

class mac_limit_test : public switch_test {
 protected:
  void limit(const std::string& port, std::uint64_t n, limit_action action) {
    port_config config = config_of(port);
    config.mac_limit = n;
    config.mac_limit_action = action;
    ASSERT_TRUE(switch_->update_port(config));
  }
  /// The trunk "a", with native VLAN 1, drops strangers above two.
  void drop_above_two(std::vector<std::uint16_t> tagged) {
    port_config config = config_of("a");
    config.mode = vlan_mode::trunk;
    config.tagged = std::move(tagged);
    config.mac_limit = 2;
    config.mac_limit_action = limit_action::drop;
    ASSERT_TRUE(switch_->update_port(config));
  }
  /// A frame that is flooded teaches where its sender is.
  void teach(const std::string& from, unsigned n) {
    ASSERT_TRUE(rings_[from]->send(make_frame(broadcast, host(n))));
    ASSERT_TRUE(learned(1, host(n), from));
  }
};

TEST_F(mac_limit_test, forward_lets_strangers_pass) {
  auto& a = access("a");
  access("b");
  limit("a", 2, limit_action::forward);
  teach("a", 1);
  teach("a", 2);
  for (unsigned i = 0; i < 50; ++i) ASSERT_TRUE(a.send(make_frame(broadcast, host(3))));
  EXPECT_TRUE(counts("a", "flooded", 52));
  EXPECT_TRUE(eventually([&] { return switch_->fib().limited != 0; }));
  EXPECT_FALSE(switch_->fib_find({}, 1, host(3)));
  EXPECT_EQ(count("a", "drop_mac_limit"), 0u);
}

// Strangers among those who are known, tagged and not: the rest of a burst goes on whole and in
// order. Red when what is moved up loses its VLAN or its destination.
TEST_F(mac_limit_test, drop_keeps_strangers_out_and_nobody_else) {
  auto& a = trunk("a", 1, {10, 20});
  auto& b = access("b", 10);
  auto& c = access("c", 20);
  drop_above_two({10, 20});
  ASSERT_TRUE(b.send(make_frame(broadcast, host(50))));
  ASSERT_TRUE(c.send(make_frame(broadcast, host(60))));
  ASSERT_TRUE(a.receive() && a.receive());
  ASSERT_TRUE(learned(10, host(50), "b") && learned(20, host(60), "c"));
  ASSERT_TRUE(a.send(make_frame(host(50), host(1), 10)));
  ASSERT_TRUE(learned(10, host(1), "a"));
  ASSERT_TRUE(a.send(make_frame(host(60), host(2), 20)));
  ASSERT_TRUE(learned(20, host(2), "a"));
  ASSERT_TRUE(b.receive() && c.receive());

  std::vector<frame_bytes> to_b, to_c;
  unsigned strangers = 0;
  for (unsigned i = 0; i < 600; ++i) {
    const unsigned size = 64 + i % 100;
    if (i % 3 == 0 || i % 7 == 0) {
      ASSERT_TRUE(a.send(make_frame(host(50), host(100 + i), 10, size)));
      ++strangers;
    } else if (i % 2 == 0) {
      const frame_bytes frame = make_frame(host(50), host(1), 10, size);
      ASSERT_TRUE(a.send(frame));
      to_b.push_back(without_tag(frame));
    } else {
      const frame_bytes frame = make_frame(host(60), host(2), 20, size);
      ASSERT_TRUE(a.send(frame));
      to_c.push_back(without_tag(frame));
    }
    if (i % 50 == 0) {
      for (const frame_bytes& each : std::exchange(to_b, {})) ASSERT_EQ(b.receive(), each);
      for (const frame_bytes& each : std::exchange(to_c, {})) ASSERT_EQ(c.receive(), each);
    }
  }
  for (const frame_bytes& each : to_b) ASSERT_EQ(b.receive(), each);
  for (const frame_bytes& each : to_c) ASSERT_EQ(c.receive(), each);
  EXPECT_TRUE(counts("a", "drop_mac_limit", strangers));
  EXPECT_TRUE(b.silent() && c.silent());
  EXPECT_TRUE(status_of("a").shut_down.empty());
}

// The rest of a burst keeps, beside its VLAN, the form that each frame came in: red when a frame
// takes over that of a stranger before it.
TEST_F(mac_limit_test, drop_leaves_the_others_their_tags) {
  auto& a = trunk("a", 1, {10});
  auto& d = trunk("d", 30, {1, 10});
  ASSERT_TRUE(d.send(make_frame(broadcast, host(50), 1)));
  ASSERT_TRUE(d.send(make_frame(broadcast, host(60), 10)));
  ASSERT_TRUE(a.receive() && a.receive());
  ASSERT_TRUE(learned(1, host(50), "d") && learned(10, host(60), "d"));
  teach("a", 1);
  ASSERT_TRUE(a.send(make_frame(host(60), host(2), 10)));
  ASSERT_TRUE(learned(10, host(2), "a"));
  ASSERT_TRUE(d.receive() && d.receive());
  drop_above_two({10});
  for (unsigned i = 0; i < 200; ++i) {
    const frame_bytes plain = make_frame(host(50), host(1), -1, 60 + i % 50);
    const frame_bytes tagged = make_frame(host(60), host(2), 10, 64 + i % 50);
    // Each after a stranger of the other form.
    ASSERT_TRUE(a.send(make_frame(host(60), host(1000 + i), 10)));
    ASSERT_TRUE(a.send(plain));
    ASSERT_TRUE(a.send(make_frame(host(50), host(2000 + i))));
    ASSERT_TRUE(a.send(tagged));
    ASSERT_EQ(d.receive(), with_tag(plain, 1));
    ASSERT_EQ(d.receive(), tagged);
  }
  EXPECT_TRUE(counts("a", "drop_mac_limit", 400));
}

// And what kind of frame each is to storm control, which asks for the address it is sent to.
TEST_F(mac_limit_test, drop_leaves_the_others_their_destinations) {
  auto& a = access("a");
  access("b");
  teach("a", 1);
  port_config config = config_of("a");
  config.mac_limit = 1;
  config.mac_limit_action = limit_action::drop;
  config.storm.unknown_unicast = 1;
  ASSERT_TRUE(switch_->update_port(config));
  constexpr unsigned n = 300;
  const std::uint64_t before = count("a", "flooded");
  for (unsigned i = 0; i < n; ++i) {
    ASSERT_TRUE(a.send(make_frame(broadcast, host(1000 + i))));
    ASSERT_TRUE(a.send(make_frame(host(99), host(1))));
  }
  EXPECT_TRUE(counts("a", "drop_mac_limit", n));
  ASSERT_TRUE(eventually([&] {
    return count("a", "flooded") - before + count("a", "drop_storm_unknown_unicast") == n;
  }));
  EXPECT_LE(count("a", "flooded") - before, storm_rate::burst_min + 3);
}

TEST_F(mac_limit_test, drop_in_untagged_bursts) {
  auto& a = access("a");
  auto& b = access("b");
  limit("a", 1, limit_action::drop);
  teach("b", 50);
  ASSERT_TRUE(a.receive());
  teach("a", 1);
  ASSERT_TRUE(b.receive());
  for (unsigned i = 0; i < 500; ++i) {
    const bool known = i % 4 == 1;
    const frame_bytes frame = make_frame(host(50), host(known ? 1 : 100 + i), -1, 60 + i % 9);
    ASSERT_TRUE(a.send(frame));
    if (known) {
      ASSERT_EQ(b.receive(), frame);
    }
  }
  EXPECT_TRUE(counts("a", "drop_mac_limit", 375));
  EXPECT_TRUE(counts("a", "forwarded", 125));
  EXPECT_TRUE(b.silent());
}

TEST_F(mac_limit_test, what_is_loaded_is_not_refused_and_counts) {
  auto& a = access("a");
  access("b");
  limit("a", 2, limit_action::drop);
  const fib_entry loaded[] = {{1, host(1), numbers_["a"], false, 0},
                              {1, host(2), numbers_["a"], false, 0},
                              {1, host(3), numbers_["a"], false, 0}};
  ASSERT_EQ(switch_->fib_insert(loaded).value(), 3u);
  ASSERT_TRUE(a.send(make_frame(broadcast, host(99))));
  EXPECT_TRUE(counts("a", "drop_mac_limit", 1));
  ASSERT_TRUE(a.send(make_frame(broadcast, host(3))));
  EXPECT_TRUE(counts("a", "flooded", 1));
  EXPECT_EQ(switch_->fib().entries, 3u);
}

// Static entries are known, here and elsewhere; an address that was learned at another port is not.
TEST_F(mac_limit_test, who_is_a_stranger) {
  auto& a = access("a");
  auto& b = access("b");
  const fib_entry fixed[] = {{1, host(7), numbers_["a"], true, 0},
                             {1, host(8), numbers_["b"], true, 0}};
  ASSERT_TRUE(switch_->fib_insert(fixed));
  teach("b", 50);
  ASSERT_TRUE(a.receive());
  teach("a", 1);
  ASSERT_TRUE(b.receive());
  limit("a", 1, limit_action::drop);
  const auto passes = [&](unsigned from) {
    const std::uint64_t dropped = count("a", "drop_mac_limit"), passed = count("a", "flooded");
    EXPECT_EQ(switch_->trace_l2(numbers_["a"], make_frame(broadcast, host(from)))->what,
              from == 50 || from == 99 ? "drop_mac_limit" : "flooded");
    EXPECT_TRUE(a.send(make_frame(broadcast, host(from))));
    EXPECT_TRUE(eventually([&] {
      return count("a", "drop_mac_limit") + count("a", "flooded") == dropped + passed + 1;
    }));
    return count("a", "flooded") > passed;
  };
  EXPECT_TRUE(passes(1));
  EXPECT_TRUE(passes(7));
  EXPECT_TRUE(passes(8));
  EXPECT_FALSE(passes(50));
  EXPECT_FALSE(passes(99));
  EXPECT_EQ(switch_->fib_find({}, 1, host(50))->port, numbers_["b"]) << "it stays where it is";
  // Room again: the limit is raised, or addresses go.
  limit("a", 2, limit_action::drop);
  teach("a", 99);
  EXPECT_FALSE(passes(50));
  fib_filter all;
  all.port = numbers_["a"];
  ASSERT_TRUE(switch_->fib_flush(all));
  teach("a", 3);
  limit("a", 1, limit_action::drop);
  EXPECT_FALSE(passes(99));
  limit("a", 0, limit_action::drop);
  EXPECT_EQ(switch_->trace_l2(numbers_["a"], make_frame(broadcast, host(50)))->what, "flooded");
}

TEST_F(mac_limit_test, shutdown_takes_the_port_down_until_it_is_brought_back) {
  auto& a = access("a");
  auto& b = access("b");
  limit("a", 1, limit_action::shutdown);
  teach("b", 50);
  ASSERT_TRUE(a.receive());
  teach("a", 1);
  ASSERT_TRUE(b.receive());
  EXPECT_TRUE(status_of("a").shut_down.empty());
  ASSERT_TRUE(a.send(make_frame(host(50), host(2))));
  ASSERT_TRUE(eventually([&] { return status_of("a").shut_down == "mac_limit"; }));
  EXPECT_TRUE(counts("a", "drop_mac_limit", 1));
  EXPECT_TRUE(b.silent());
  EXPECT_TRUE(status_of("a").config.enabled) << "what the operator asked for stays";
  EXPECT_TRUE(eventually([&] { return !switch_->fib_find({}, 1, host(1)); }));
  ASSERT_TRUE(b.send(make_frame(broadcast, host(50))));
  EXPECT_TRUE(counts("b", "drop_no_member", 1));
  // Another change leaves it shut.
  limit("a", 2, limit_action::shutdown);
  EXPECT_EQ(status_of("a").shut_down, "mac_limit");
  // What comes meanwhile waits in the device, and does not shut it down again.
  const auto strangers = [&] {
    for (unsigned i = 0; i < 20; ++i) ASSERT_TRUE(a.send(make_frame(host(50), host(100 + i))));
  };
  strangers();
  ASSERT_TRUE(switch_->reopen_port("a"));
  EXPECT_TRUE(status_of("a").shut_down.empty());
  teach("a", 1);
  ASSERT_TRUE(b.receive());
  teach("a", 2);
  ASSERT_TRUE(b.receive());
  ASSERT_TRUE(a.send(make_frame(host(50), host(3))));
  ASSERT_TRUE(eventually([&] { return status_of("a").shut_down == "mac_limit"; }));
  // To disable and to enable it does the same as to bring it back.
  port_config config = config_of("a");
  config.enabled = false;
  ASSERT_TRUE(switch_->update_port(config));
  EXPECT_TRUE(status_of("a").shut_down.empty());
  strangers();
  config.enabled = true;
  ASSERT_TRUE(switch_->update_port(config));
  teach("a", 4);
  EXPECT_TRUE(b.receive());
  EXPECT_FALSE(switch_->reopen_port("nobody"));
  EXPECT_TRUE(switch_->reopen_port("b")) << "nothing was shut";
}

}  // namespace
}  // namespace coua::dp
