// SPDX-License-Identifier: Apache-2.0
//
// The switch under OpenFlow rules. What rules mean is tested elsewhere (tests/pipeline compares the
// datapath with its oracle); here it is what becomes of frames, ports and counters.
#include "dp/bench_hooks.h"
#include "dp/test_pipeline.h"

namespace coua::dp {
namespace {

namespace act = pipeline::act;
using pipeline::field;
using pipeline::operation;
using pipeline::rule_command;
using pipeline::test::add_rule;
using pipeline::test::apply;
using pipeline::test::change_rules;
using pipeline::test::output;
using pipeline::test::where;

TEST_F(pipeline_test, a_new_switch_has_one_rule_which_counts) {
  auto& a = access("a");
  auto& b = access("b");
  EXPECT_EQ(owner().read([](const pipeline::running_bridge& all) { return all.model().n_rules(); }),
            1U);
  const frame_bytes frame = make_frame(broadcast, host(1));
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(b.receive(), frame);
  EXPECT_TRUE(eventually([&] { return packets_of(0, {}) == 1; }));
  EXPECT_EQ(owner().read([](const pipeline::running_bridge& all) {
    return all.model().tables()[0].lookups;
  }),
            1U);
}

TEST_F(pipeline_test, without_rules_all_is_dropped_and_counted) {
  auto& a = access("a");
  auto& b = access("b");
  clear();
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(counts("a", "drop_pipeline", 1));
  EXPECT_EQ(drops("no_rule"), 1U);
  EXPECT_TRUE(b.silent());
  EXPECT_FALSE(switch_->fib_find({}, 1, host(1)));
  must({add_rule(0, 0, {}, apply({output(pipeline::port_normal)}))});
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(b.receive());
}

TEST_F(pipeline_test, can_begin_without_rules) {
  switch_config config;
  config.bridges[0].pipeline.start = first_rules::none;
  start(config);
  auto& a = access("a");
  auto& b = access("b");
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(counts("a", "drop_pipeline", 1));
  EXPECT_TRUE(b.silent());
}

/// Frames that all leave by one port, more of them than a transmit buffer holds: none is lost,
/// those of a port keep their order, and each is counted once.
TEST_F(pipeline_test, bursts_leave_by_one_port) {
  for (const unsigned burst : {1U, 7U, 32U, 64U}) {
    switch_config config;
    config.burst = burst;
    start(config);
    const std::string suffix = std::to_string(burst);
    auto& a = access("a" + suffix);
    auto& b = access("b" + suffix);
    auto& c = access("c" + suffix);
    clear();
    must({add_rule(0, 10, {}, apply({output(number("c" + suffix))}))});
    const auto frame_of = [](unsigned from, unsigned i) {
      frame_bytes made = make_frame(host(2), host(from));
      made[20] = static_cast<std::uint8_t>(i);
      return made;
    };
    constexpr unsigned n_a = 140, n_b = 135;
    set_paused(*switch_, true);
    for (unsigned i = 0; i < n_a; ++i) ASSERT_TRUE(a.send(frame_of(10, i)));
    for (unsigned i = 0; i < n_b; ++i) ASSERT_TRUE(b.send(frame_of(11, i)));
    set_paused(*switch_, false);
    unsigned next_a = 0, next_b = 0;
    while (next_a + next_b < n_a + n_b) {
      const auto got = c.receive();
      ASSERT_TRUE(got) << next_a << " " << next_b;
      if (next_a < n_a && *got == frame_of(10, next_a)) {
        ++next_a;
      } else {
        ASSERT_EQ(*got, frame_of(11, next_b));
        ++next_b;
      }
    }
    EXPECT_TRUE(c.silent());
    EXPECT_TRUE(counts("a" + suffix, "forwarded", n_a));
    EXPECT_TRUE(counts("b" + suffix, "forwarded", n_b));
    EXPECT_TRUE(counts("c" + suffix, "tx_packets", n_a + n_b));
    EXPECT_TRUE(counts("c" + suffix, "tx_bytes", (n_a + n_b) * frame_of(10, 0).size()));
    EXPECT_TRUE(eventually([&] { return packets_of(10, {}) == n_a + n_b; }));
  }
}

TEST_F(pipeline_test, rules_change_frames_and_send_them) {
  auto& a = access("a");
  auto& b = access("b");
  auto& c = access("c");
  clear();
  must({add_rule(0, 10, from("a"),
                 apply({act::push_vlan{0x8100}, act::set(field::vlan_vid, 0x1000 | 7),
                        output(number("b"))})),
        add_rule(0, 10, from("b"), apply({output(number("a")), output(number("c"))}))});
  const frame_bytes frame = make_frame(host(2), host(1));
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(b.receive(), with_tag(frame, 7));
  ASSERT_TRUE(b.send(frame));
  EXPECT_EQ(a.receive(), frame);
  EXPECT_EQ(c.receive(), frame);
  EXPECT_TRUE(counts("a", "forwarded", 1));
  EXPECT_TRUE(counts("b", "forwarded", 2));
  EXPECT_TRUE(counts("b", "pipeline_copies", 1));
  EXPECT_TRUE(counts("b", "tx_bytes", 64));
  EXPECT_TRUE(eventually([&] { return packets_of(10, from("b")) == 1; }));
}

TEST_F(pipeline_test, a_frame_that_others_hold_is_copied_before_it_is_changed) {
  auto& a = access("a");
  auto& b = access("b");
  auto& c = access("c");
  auto& d = access("d");
  const frame_bytes frame = make_frame(broadcast, host(1));
  ASSERT_TRUE(a.send(frame));
  ASSERT_TRUE(counts("a", "flooded", 1));  // three ports have the same bytes
  clear();
  must({add_rule(0, 10, from("a"), apply({act::set(field::eth_src, 5), output(number("d"))}))});
  ASSERT_TRUE(a.send_from(b));
  ASSERT_TRUE(counts("a", "forwarded", 1));  // it is changed by now
  EXPECT_EQ(c.receive(), frame);
  EXPECT_EQ(d.receive(), frame);
  frame_bytes changed = make_frame(broadcast, 5);
  std::copy(frame.begin() + 12, frame.end(), changed.begin() + 12);
  EXPECT_EQ(d.receive(), changed);
}

/// In a burst with others, which keep their places around it; also where there is no packet for the
/// copy.
TEST_F(pipeline_test, a_frame_that_others_hold_comes_between_others) {
  auto& a = access("a");
  auto& b = access("b");
  auto& c = access("c");
  auto& d = access("d");
  const auto changed = [](frame_bytes frame) {
    const frame_bytes macs = make_frame(broadcast, 5);
    std::copy(macs.begin() + 6, macs.begin() + 12, frame.begin() + 6);
    return frame;
  };
  const frame_bytes held = make_frame(broadcast, host(1));
  const frame_bytes first = make_frame(host(2), host(1)), last = make_frame(host(3), host(1));
  for (unsigned i = 0; i < 2; ++i) ASSERT_TRUE(a.send(held));
  ASSERT_TRUE(counts("a", "flooded", 2));
  for (unsigned i = 0; i < 2; ++i) ASSERT_EQ(d.receive(), held);
  clear();
  must({add_rule(0, 10, from("a"), apply({act::set(field::eth_src, 5), output(number("d"))}))});
  const auto send_all = [&] {
    set_paused(*switch_, true);
    ASSERT_TRUE(a.send(first));
    ASSERT_TRUE(a.send_from(b));
    ASSERT_TRUE(a.send(last));
  };
  send_all();
  set_paused(*switch_, false);
  for (const frame_bytes& each : {first, held, last}) EXPECT_EQ(d.receive(), changed(each));
  send_all();
  test_ring_port::exhaust(0);
  set_paused(*switch_, false);
  for (const frame_bytes& each : {first, last}) EXPECT_EQ(d.receive(), changed(each));
  EXPECT_TRUE(counts("a", "drop_no_headroom", 1));
  test_ring_port::relax();
  EXPECT_TRUE(d.silent());
  for (unsigned i = 0; i < 2; ++i) EXPECT_EQ(c.receive(), held);
  EXPECT_TRUE(counts("a", "rx_packets", 8));
  EXPECT_TRUE(eventually([&] { return packets_of(10, from("a")) == 5; }));
}

TEST_F(pipeline_test, what_goes_to_normal_is_learned_and_forwarded_by_vlan) {
  auto& a = access("a", 10);
  auto& b = access("b", 10);
  auto& other = access("other", 20);
  auto& t = trunk("t", 0, {10, 20});
  const auto special = where({exact(field::eth_dst, host(9))});
  must({add_rule(0, 10, special, apply({output(number("other"))}))});
  ASSERT_TRUE(b.send(make_frame(broadcast, host(2))));
  EXPECT_TRUE(a.receive());
  EXPECT_TRUE(t.receive());
  ASSERT_TRUE(learned(10, host(2), "b"));
  const frame_bytes to_b = make_frame(host(2), host(1)), to_other = make_frame(host(9), host(1));
  for (unsigned i = 0; i < 100; ++i) ASSERT_TRUE(a.send(i % 2 == 0 ? to_b : to_other));
  for (unsigned i = 0; i < 50; ++i) ASSERT_EQ(b.receive(), to_b);
  for (unsigned i = 0; i < 50; ++i) ASSERT_EQ(other.receive(), to_other);
  EXPECT_TRUE(t.silent());
  ASSERT_TRUE(learned(10, host(1), "a"));
  // A rule may send a frame to another VLAN's ports; the L2 switch may not.
  ASSERT_TRUE(t.send(make_frame(broadcast, host(3), 20)));
  EXPECT_TRUE(other.receive());
  EXPECT_TRUE(a.silent());
  EXPECT_TRUE(counts("a", "rx_packets", 100));
}

TEST_F(pipeline_test, a_group_fails_over_with_the_link) {
  auto& a = access("a");
  auto& b = access("b");
  auto& c = access("c");
  clear();
  must({pipeline::test::add_group(1, pipeline::group_type::fast_failover,
                                  {pipeline::test::to({output(number("b"))}, 0, number("b")),
                                   pipeline::test::to({output(number("c"))}, 0, number("c"))}),
        add_rule(0, 0, {}, apply({act::group{1}}))});
  const frame_bytes frame = make_frame(host(2), host(1));
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(b.receive(), frame);
  b.set_link(false);
  ASSERT_TRUE(eventually([&] {
    return owner().read([&](const pipeline::running_bridge& all) {
      return !all.model().find_port(number("b"))->live;
    });
  }));
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(c.receive(), frame);
  EXPECT_TRUE(b.silent());
  b.set_link(true);
  ASSERT_TRUE(eventually([&] {
    return owner().read([&](const pipeline::running_bridge& all) {
      return all.model().find_port(number("b"))->live;
    });
  }));
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(b.receive(), frame);
}

TEST_F(pipeline_test, ports_come_and_go_under_the_rules) {
  auto& a = access("a");
  auto& b = access("b");
  clear();
  must({add_rule(0, 10, from("a"), apply({output(number("b"))}))});
  const frame_bytes frame = make_frame(host(2), host(1));
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(b.receive(), frame);
  ASSERT_TRUE(switch_->remove_port("b"));
  ASSERT_TRUE(eventually([&] {
    return owner().read([&](const pipeline::running_bridge& all) {
      return all.model().find_port(number("b")) == nullptr;
    });
  }));
  ASSERT_TRUE(a.send(frame));
  ASSERT_TRUE(eventually([&] { return drops("no_port") == 1; }));
  EXPECT_TRUE(counts("a", "drop_pipeline", 1));
}

// Else a barrier is answered while a worker still goes by the rules of before.
TEST_F(pipeline_test, a_change_is_not_settled_while_a_worker_is_in_a_round_begun_before) {
  access("a").poll_slowly(100);
  unsigned n_waited = 0;
  for (unsigned i = 0; i < 5; ++i) {
    ASSERT_TRUE(eventually(test_ring_port::in_poll));
    must(
        {add_rule(0, static_cast<std::uint16_t>(10 + i), where({}), apply({output(number("a"))}))});
    n_waited += owner().settle_within(std::chrono::milliseconds(1)) ? 0 : 1;
    EXPECT_TRUE(owner().settle_within(std::chrono::seconds(20)));
    EXPECT_TRUE(owner().settle_within({})) << "what is settled is not waited for again";
  }
  // A round may end just then, once.
  EXPECT_GE(n_waited, 4U);
}

// By the rules and by the short way of a bridge that is nothing but an L2 switch.
TEST_F(pipeline_test, nothing_is_forwarded_to_a_port_with_no_fwd) {
  auto& a = access("a");
  auto& b = access("b");
  auto& c = access("c");
  const frame_bytes from_b = make_frame(host(1), host(2)), to_b = make_frame(host(2), host(1));
  const frame_bytes flood = make_frame(broadcast, host(1));
  const auto special = where({exact(field::eth_dst, host(9))});
  ASSERT_TRUE(b.send(from_b));
  ASSERT_TRUE(a.receive() && c.receive());
  ASSERT_TRUE(learned(1, host(2), "b"));
  std::uint64_t n_dropped = 0;
  for (const bool by_rules : {false, true}) {
    if (by_rules) must({add_rule(0, 10, special, apply({output(number("a"))}))});
    const auto set = [&](bool no_fwd) {
      ASSERT_TRUE(owner().change_port(number("b"), [&](auto& one) { one.no_fwd = no_fwd; }));
      owner().settle();
    };
    set(true);
    const auto said = switch_->trace_l2(numbers_.at("a"), to_b);
    ASSERT_TRUE(said);
    EXPECT_EQ(said->what, "drop_no_fwd");
    ASSERT_TRUE(a.send(to_b));
    EXPECT_TRUE(counts("a", "drop_no_fwd", ++n_dropped));
    ASSERT_TRUE(a.send(flood));
    EXPECT_EQ(c.receive(), flood);
    EXPECT_TRUE(b.silent());
    // What it sends is forwarded.
    ASSERT_TRUE(b.send(make_frame(host(1), host(2))));
    EXPECT_TRUE(a.receive());
    set(false);
    ASSERT_TRUE(a.send(to_b));
    EXPECT_EQ(b.receive(), to_b);
    ASSERT_TRUE(a.send(flood));
    EXPECT_EQ(b.receive(), flood);
    EXPECT_EQ(c.receive(), flood);
  }
}

TEST_F(pipeline_test, a_rule_that_is_not_used_goes) {
  auto& a = access("a");
  auto& b = access("b");
  clear();
  auto rule = add_rule(0, 10, from("a"), apply({output(number("b"))}));
  rule.idle_timeout_s = 1;
  must({rule});
  ASSERT_TRUE(a.send(make_frame(host(2), host(1))));
  EXPECT_TRUE(b.receive());
  EXPECT_TRUE(eventually([&] {
    return owner().read(
               [](const pipeline::running_bridge& all) { return all.model().n_rules(); }) == 0;
  }));
}

TEST_F(pipeline_test, a_bundle_that_fails_leaves_the_rules_as_they_were) {
  auto& a = access("a");
  auto& b = access("b");
  clear();
  must({add_rule(0, 10, from("a"), apply({output(number("b"))}))});
  const std::vector<operation> bad{change_rules(rule_command::remove, pipeline::table_all, 0, {}),
                                   add_rule(0, 10, from("a"), apply({act::group{77}}))};
  EXPECT_FALSE(owner().apply(bad).has_value());
  const frame_bytes frame = make_frame(host(2), host(1));
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(b.receive(), frame);
}

}  // namespace
}  // namespace coua::dp
