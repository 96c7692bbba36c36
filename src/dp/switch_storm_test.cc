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
    const auto done = switch_->pipeline()->apply(bundle);
    ASSERT_TRUE(done.has_value()) << done.error().message();
  };
  limit("a", {1, 0, 0});
  using pipeline::test::where;
  const auto from_a = where({exact(pipeline::field::in_port, bridge_port(numbers_.at("a")))});
  must({add_rule(0, 10, from_a, apply({output(pipeline::port_normal)}))});
  send(a, broadcast, 100);
  EXPECT_TRUE(split("drop_storm_broadcast", 100));
  const std::uint64_t dropped = count("a", "drop_storm_broadcast");
  must({add_rule(0, 10, from_a, apply({output(bridge_port(numbers_.at("b")))}))});
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
    send(a, broadcast, 40);
    const auto said = switch_->trace_l2(numbers_.at("a"), frame);
    return said && said->what == "drop_storm_broadcast" && said->copies.empty() &&
           said->limit == "storm.broadcast: at most 1 packets/s by this port, reached now";
  }));
  const auto other = switch_->trace_l2(numbers_.at("a"), make_frame(group, host(1)));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->limit, "");
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
