// SPDX-License-Identifier: Apache-2.0
//
// Storm control in the whole switch. With a limit of one frame a second, what passes is the burst,
// and a frame or two if the machine is slow.
#include "dp/pipeline/pipeline_owner.h"
#include "dp/test_switch.h"
#include "pipeline/model/test_model.h"

namespace coua::dp {
namespace {

using pipeline::test::add_rule;
using pipeline::test::apply;
using pipeline::test::output;

constexpr std::uint64_t at_once = storm_rate::burst_min;
constexpr std::uint64_t group = 0x01005E000001u;
constexpr std::uint64_t stranger = host(999);

class storm_test : public switch_test {
 protected:
  void limit(const std::string& port, storm_limits limits) {
    port_config config = config_of(port);
    config.storm = limits;
    ASSERT_TRUE(switch_->update_port(config));
  }
  void send(test_ring_port& from, std::uint64_t to, unsigned n) {
    for (unsigned i = 0; i < n; ++i) ASSERT_TRUE(from.send(make_frame(to, host(1))));
  }
  /// Of `n` frames that were sent by "a" and that nothing else drops.
  ::testing::AssertionResult split(const char* drop, unsigned n) {
    if (!eventually([&] { return count("a", "flooded") + count("a", drop) == n; }))
      return ::testing::AssertionFailure() << count("a", "flooded") << " and " << count("a", drop);
    const std::uint64_t passed = count("a", "flooded");
    if (passed >= at_once && passed <= at_once + 3) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << passed << " of " << n << " passed";
  }
};

TEST_F(storm_test, each_kind_has_its_limit_and_its_counter) {
  auto& a = access("a");
  access("b");
  const struct {
    std::uint64_t to;
    storm_limits limits;
    const char* drop;
  } kinds[] = {{broadcast, {1, 0, 0}, "drop_storm_broadcast"},
               {group, {0, 1, 0}, "drop_storm_multicast"},
               {stranger, {0, 0, 1}, "drop_storm_unknown_unicast"}};
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind.drop);
    limit("a", kind.limits);
    for (const auto& other : kinds) {
      const std::uint64_t flooded = count("a", "flooded"), dropped = count("a", other.drop);
      send(a, other.to, 100);
      ASSERT_TRUE(eventually([&] {
        return count("a", "flooded") - flooded + count("a", other.drop) - dropped == 100;
      }));
      const std::uint64_t passed = count("a", "flooded") - flooded;
      if (other.drop == kind.drop) {
        EXPECT_GE(passed, at_once);
        EXPECT_LE(passed, at_once + 3);
      } else {
        EXPECT_EQ(passed, 100u) << other.drop;
      }
    }
  }
  EXPECT_TRUE(counts("b", "tx_packets", count("a", "flooded")));
}

// Red when a storm costs those who talk to stations that are known, or other ports.
TEST_F(storm_test, what_is_not_flooded_has_no_limit) {
  auto& a = access("a");
  auto& b = access("b");
  limit("a", {1, 1, 1});
  ASSERT_TRUE(b.send(make_frame(host(1), host(2))));
  ASSERT_TRUE(learned(1, host(2), "b"));
  send(a, broadcast, 200);
  EXPECT_TRUE(split("drop_storm_broadcast", 200));
  send(a, host(2), 200);
  EXPECT_TRUE(counts("a", "forwarded", 200));
  for (unsigned i = 0; i < 200; ++i) ASSERT_TRUE(b.send(make_frame(broadcast, host(2))));
  EXPECT_TRUE(counts("b", "flooded", 201));  // and the first, for a station that was not known
}

TEST_F(storm_test, a_frame_that_nobody_gets_takes_no_token) {
  auto& a = access("a");
  limit("a", {1, 0, 0});
  send(a, broadcast, 100);
  EXPECT_TRUE(counts("a", "drop_no_member", 100));
  access("b");
  send(a, broadcast, 40);
  EXPECT_TRUE(split("drop_storm_broadcast", 40));
}

TEST_F(storm_test, another_limit_begins_with_a_full_burst) {
  auto& a = access("a");
  access("b");
  limit("a", {1, 0, 0});
  send(a, broadcast, 100);
  EXPECT_TRUE(split("drop_storm_broadcast", 100));
  const std::uint64_t dropped = count("a", "drop_storm_broadcast");
  // Of the old limit, the tokens of half a minute are missing.
  limit("a", {1'000'000, 0, 0});
  send(a, broadcast, 500);
  EXPECT_TRUE(eventually([&] { return count("a", "flooded") >= 500 + at_once; }));
  EXPECT_EQ(count("a", "drop_storm_broadcast"), dropped);
  limit("a", {});
  send(a, broadcast, 100);
  EXPECT_TRUE(eventually([&] { return count("a", "flooded") >= 600 + at_once; }));
  EXPECT_EQ(count("a", "drop_storm_broadcast"), dropped);
}

// Rules that say NORMAL go the same way. One that names ports does what it says.
TEST_F(storm_test, normal_of_the_pipeline_has_the_limits_and_output_has_not) {
  auto& a = access("a");
  access("b");
  const auto must = [&](std::vector<pipeline::operation> bundle) {
    const auto done = switch_->pipeline({})->apply(bundle);
    ASSERT_TRUE(done.has_value()) << done.error().message();
  };
  limit("a", {1, 0, 0});
  using pipeline::test::where;
  const auto from_a =
      where({exact(pipeline::field::in_port, bridge_port(numbers_.at("a"), false))});
  must({add_rule(0, 10, from_a, apply({output(pipeline::port_normal)}))});
  send(a, broadcast, 100);
  EXPECT_TRUE(split("drop_storm_broadcast", 100));
  const std::uint64_t dropped = count("a", "drop_storm_broadcast");
  must({add_rule(0, 10, from_a, apply({output(bridge_port(numbers_.at("b"), false))}))});
  send(a, broadcast, 100);
  EXPECT_TRUE(counts("a", "forwarded", 100));
  EXPECT_EQ(count("a", "drop_storm_broadcast"), dropped);
}

TEST_F(storm_test, a_trace_names_the_limit_and_takes_nothing) {
  auto& a = access("a");
  access("b");
  limit("a", {1, 0, 0});
  const auto frame = make_frame(broadcast, host(1));
  for (unsigned i = 0; i < 2 * at_once; ++i) {
    const auto said = switch_->trace_l2(numbers_.at("a"), frame);
    ASSERT_TRUE(said);
    ASSERT_EQ(said->what, "flooded");
    EXPECT_EQ(said->limit, "storm.broadcast: at most 1 packets/s by this port, not reached now");
    EXPECT_EQ(said->copies.size(), 1u);
  }
  // Until none is left, however fast the machine is.
  ASSERT_TRUE(eventually([&] {
    if (a.waiting() == 0) send(a, broadcast, 40);  // a busy machine must not fill the ring
    const auto said = switch_->trace_l2(numbers_.at("a"), frame);
    return said && said->what == "drop_storm_broadcast" && said->copies.empty() &&
           said->limit == "storm.broadcast: at most 1 packets/s by this port, reached now";
  }));
  const auto other = switch_->trace_l2(numbers_.at("a"), make_frame(group, host(1)));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->limit, "");
}

TEST_F(storm_test, a_limit_of_bits_counts_the_length_of_frames) {
  auto& a = access("a");
  access("b");
  limit("a", {flood_limit::bits(1000), 0, 0});
  const auto pass = [&](unsigned n, unsigned size) {
    const std::uint64_t passed = count("a", "flooded");
    const std::uint64_t all = passed + count("a", "drop_storm_broadcast");
    for (unsigned i = 0; i < n; ++i) EXPECT_TRUE(a.send(make_frame(broadcast, host(1), -1, size)));
    EXPECT_TRUE(eventually(
        [&] { return count("a", "flooded") + count("a", "drop_storm_broadcast") == all + n; }));
    return count("a", "flooded") - passed;
  };
  // 16,384 bytes at once, whatever they come in; and 125 each second that the machine takes.
  EXPECT_EQ(pass(50, 1000), 16u);
  limit("a", {flood_limit::bits(1001), 0, 0});
  const std::uint64_t short_ones = pass(400, 60);
  EXPECT_GE(short_ones, 16384u / 60);
  EXPECT_LE(short_ones, 16384u / 60 + 10);
  const auto said = switch_->trace_l2(numbers_.at("a"), make_frame(broadcast, host(1), -1, 1000));
  ASSERT_TRUE(said);
  EXPECT_EQ(said->limit, "storm.broadcast: at most 1001bps by this port, reached now");
}

TEST_F(storm_test, block_lets_nothing_pass) {
  auto& a = access("a");
  access("b");
  limit("a", {0, flood_limit::block(), 0});
  send(a, group, 100);
  EXPECT_TRUE(counts("a", "drop_storm_multicast", 100));
  EXPECT_EQ(count("a", "flooded"), 0u);
  const auto said = switch_->trace_l2(numbers_.at("a"), make_frame(group, host(1)));
  EXPECT_EQ(said->what, "drop_storm_multicast");
  EXPECT_EQ(said->limit, "storm.multicast: nothing of this kind by this port");
  send(a, broadcast, 100);
  EXPECT_TRUE(counts("a", "flooded", 100));
}

// Red when the limit stays what it was at the speed before, or when no plan says so.
TEST_F(storm_test, a_share_follows_the_speed_of_the_link) {
  auto& a = access("a");
  access("b");
  const auto is_at = [&](unsigned mbps) {
    a.set_speed(mbps);
    return eventually([&] {
      const auto said = switch_->trace_l2(numbers_.at("a"), make_frame(broadcast, host(1)));
      return said &&
             said->limit.find("of " + std::to_string(mbps) + " Mbit/s") != std::string::npos;
    });
  };
  const auto pass = [&] {
    const std::uint64_t passed = count("a", "flooded");
    const std::uint64_t all = passed + count("a", "drop_storm_broadcast");
    for (unsigned i = 0; i < 100; ++i)
      EXPECT_TRUE(a.send(make_frame(broadcast, host(1), -1, 1000)));
    EXPECT_TRUE(eventually(
        [&] { return count("a", "flooded") + count("a", "drop_storm_broadcast") == all + 100; }));
    return count("a", "flooded") - passed;
  };
  a.set_speed(10);
  ASSERT_TRUE(eventually([&] { return status_of("a").link_mbps == 10; }));
  limit("a", {flood_limit::percent_hundredths(1), 0, 0});  // 1,000 bit/s
  const auto is_a_burst = [](std::uint64_t n) { return n >= 15 && n <= 17; };
  EXPECT_PRED1(is_a_burst, pass());
  ASSERT_TRUE(is_at(1'000'000));  // 100 Mbit/s, of which a tenth of a second's worth is at once
  EXPECT_EQ(pass(), 100u);
  ASSERT_TRUE(is_at(10));
  EXPECT_PRED1(is_a_burst, pass());
  // Without a link it has no speed; the one that it had stays.
  a.set_speed(0);
  ASSERT_TRUE(eventually([&] { return status_of("a").link_mbps == 0; }));
  EXPECT_LE(pass(), 2u);
}

TEST_F(storm_test, a_share_of_a_link_of_no_known_speed_is_refused) {
  auto& a = *(rings_["a"] = std::make_unique<test_ring_port>("a"));
  a.set_speed(0);
  add(config_of("a"));
  port_config config = config_of("a");
  config.storm.multicast = flood_limit::percent_hundredths(150);
  config.mac_limit = 7;
  const auto done = switch_->update_port(config);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::unsupported);
  EXPECT_EQ(done.error().where, "port a: storm.multicast");
  EXPECT_EQ(done.error().what,
            "1.5% of what is not known: driver net_ring does not say how fast the link is; give "
            "packets or bits a second");
  EXPECT_EQ(status_of("a").config.mac_limit, 0u) << "nothing was changed";
  config.storm.multicast = flood_limit::bits(1'000'000);
  EXPECT_TRUE(switch_->update_port(config));
  ASSERT_TRUE(switch_->remove_port("a"));
  a.make();
  a.set_speed(0);
  config.storm.multicast = flood_limit::percent_hundredths(150);
  EXPECT_EQ(switch_->add_port(config).error().code, errc::unsupported);
  a.make();
  config = config_of("a");
  config.bond.members = {std::exchange(config.devargs, {})};
  config.storm.multicast = flood_limit::percent_hundredths(150);
  EXPECT_EQ(switch_->add_port(config).error().code, errc::unsupported) << "as a bond, too";
}

TEST_F(storm_test, trace_says_that_no_speed_is_known_yet) {
  auto& a = *(rings_["a"] = std::make_unique<test_ring_port>("a"));
  a.set_speed(0);
  add(config_of("a"));
  access("b");
  a.set_link(false);
  ASSERT_TRUE(eventually([&] { return !status_of("a").link_up; }));
  limit("a", {flood_limit::percent_hundredths(150), 0, 0});
  const auto said = switch_->trace_l2(status_of("a").number, make_frame(broadcast, host(1)));
  ASSERT_TRUE(said);
  EXPECT_EQ(said->what, "drop_storm_broadcast");
  EXPECT_EQ(said->limit,
            "storm.broadcast: at most 1.5% of the link by this port, but no speed is known yet: "
            "nothing passes");
}

TEST_F(storm_test, who_has_no_speed_any_more_can_be_changed) {
  auto& a = access("a");
  limit("a", {flood_limit::percent_hundredths(150), 0, 0});
  a.set_speed(0);
  ASSERT_TRUE(eventually([&] { return status_of("a").link_mbps == 0; }));
  port_config config = config_of("a");
  config.storm = {flood_limit::percent_hundredths(150), 0, 0};
  config.enabled = false;
  EXPECT_TRUE(switch_->update_port(config));
  config.enabled = true;
  config.storm.broadcast = flood_limit::percent_hundredths(200);
  EXPECT_TRUE(switch_->update_port(config)) << "of the last speed";
}

TEST_F(storm_test, a_port_of_the_same_number_begins_anew) {
  switch_config two_ports;
  two_ports.port_bits = 1;
  start(two_ports);
  auto& a = access("a");
  access("b");
  const unsigned number = numbers_["a"];
  limit("a", {1, 0, 0});
  send(a, broadcast, 100);
  EXPECT_TRUE(split("drop_storm_broadcast", 100));
  ASSERT_TRUE(switch_->remove_port("a"));
  rings_["a"]->make();
  port_config config = config_of("a");
  config.storm.broadcast = 1;
  add(config);
  ASSERT_EQ(numbers_["a"], number);
  send(a, broadcast, 100);
  EXPECT_TRUE(split("drop_storm_broadcast", 100));
}

}  // namespace
}  // namespace coua::dp
