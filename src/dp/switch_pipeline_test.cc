// SPDX-License-Identifier: Apache-2.0
//
// The switch under OpenFlow rules. What rules mean is tested elsewhere (tests/pipeline compares the
// datapath with its oracle); here it is what becomes of frames, ports and counters.
#include <mutex>

#include "base/clock.h"
#include "dp/pipeline/packet_in.h"
#include "dp/pipeline/pipeline_owner.h"
#include "dp/pipeline/rate_limit.h"
#include "dp/test_switch.h"
#include "pipeline/model/test_model.h"

namespace coua::dp {
namespace {

namespace act = pipeline::act;
using pipeline::field;
using pipeline::operation;
using pipeline::port_no;
using pipeline::rule_command;
using pipeline::test::add_rule;
using pipeline::test::apply;
using pipeline::test::change_rules;
using pipeline::test::output;
using pipeline::test::where;

class pipeline_test : public switch_test {
 protected:
  void must(std::vector<operation> bundle) {
    const auto done = owner().apply(bundle);
    ASSERT_TRUE(done.has_value()) << done.error().message();
  }
  /// No rule is there any more.
  void clear() { must({change_rules(rule_command::remove, pipeline::table_all, 0, {})}); }
  pipeline_owner& owner() { return *switch_->pipeline(); }
  port_no number(const std::string& port) const { return bridge_port(numbers_.at(port)); }
  pipeline::match from(const std::string& port) const {
    return where({exact(field::in_port, number(port))});
  }
  std::uint64_t drops(const std::string& why) { return value(owner().drops(), why); }
  std::uint64_t packets_of(std::uint16_t priority, const pipeline::match& what) {
    return owner().read([&](const pipeline::running_bridge& b) {
      const auto* rule = b.model().tables()[0].find(priority, what);
      return rule == nullptr ? 0 : rule->state.counted.packets;
    });
  }
};

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
  EXPECT_FALSE(switch_->fib_find(1, host(1)));
  must({add_rule(0, 0, {}, apply({output(pipeline::port_normal)}))});
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(b.receive());
}

TEST_F(pipeline_test, can_begin_without_rules) {
  switch_config config;
  config.pipeline.start = first_rules::none;
  start(config);
  auto& a = access("a");
  auto& b = access("b");
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(counts("a", "drop_pipeline", 1));
  EXPECT_TRUE(b.silent());
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
  EXPECT_EQ(c.receive(), frame);
  EXPECT_EQ(d.receive(), frame);
  frame_bytes changed = make_frame(broadcast, 5);
  std::copy(frame.begin() + 12, frame.end(), changed.begin() + 12);
  EXPECT_EQ(d.receive(), changed);
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

TEST_F(pipeline_test, packets_for_the_controller_come_to_the_sink) {
  auto& a = access("a");
  (void)access("b");
  clear();
  std::mutex mutex;
  std::vector<packet_in> seen;
  owner().set_sink([&](const packet_in& one) {
    const std::lock_guard hold(mutex);
    seen.push_back(one);
  });
  const auto n_seen = [&] {
    const std::lock_guard hold(mutex);
    return seen.size();
  };
  auto rule = add_rule(0, 10, from("a"), apply({act::output{pipeline::port_controller, 20}}));
  rule.cookie = 77;
  must({rule});
  const frame_bytes frame = make_frame(host(2), host(1));
  ASSERT_TRUE(a.send(frame, 2));
  ASSERT_TRUE(eventually([&] { return n_seen() == 1; }));
  EXPECT_EQ(seen[0].bytes, frame_bytes(frame.begin(), frame.begin() + 20));
  EXPECT_EQ(seen[0].length, frame.size());
  EXPECT_EQ(seen[0].in_port, number("a"));
  EXPECT_EQ(seen[0].cookie, 77U);
  EXPECT_EQ(seen[0].reason, pipeline::packet_in_reason::action);
  EXPECT_TRUE(counts("a", "to_controller", 1));
  rule.instructions = apply({act::output{pipeline::port_controller, 0xffff}});
  must({rule});
  ASSERT_TRUE(a.send(frame, 2));
  ASSERT_TRUE(eventually([&] { return n_seen() == 2; }));
  EXPECT_EQ(seen[1].bytes, frame);
  // Nobody listens any more: taken and forgotten.
  owner().set_sink({});
  ASSERT_TRUE(a.send(frame));
  EXPECT_TRUE(counts("a", "to_controller", 3));
  EXPECT_EQ(n_seen(), 2U);
}

TEST_F(pipeline_test, no_more_packets_go_to_the_controller_than_it_may_get) {
  switch_config config;
  config.pipeline.packet_in_rate = 1;
  config.pipeline.packet_in_burst = 5;
  start(config);
  auto& a = access("a");
  clear();
  must({add_rule(0, 0, {}, apply({act::output{pipeline::port_controller}}))});
  const std::uint64_t begin = now_ns();
  for (unsigned i = 0; i < 50; ++i) ASSERT_TRUE(a.send(make_frame(host(2), host(1))));
  ASSERT_TRUE(eventually(
      [&] { return count("a", "to_controller") + count("a", "drop_packet_in_rate") == 50; }));
  const std::uint64_t seconds = (now_ns() - begin) / 1'000'000'000;
  EXPECT_GE(count("a", "to_controller"), 5U);
  EXPECT_LE(count("a", "to_controller"), 6U + seconds);
}

TEST_F(pipeline_test, what_the_controller_sends_leaves_by_ports) {
  auto& a = access("a");
  auto& b = access("b");
  must({pipeline::test::add_group(
      1, pipeline::group_type::all,
      {pipeline::test::to({output(number("a"))}), pipeline::test::to({output(number("b"))})})});
  const frame_bytes frame = make_frame(host(2), host(1));
  ASSERT_TRUE(owner().send({pipeline::port_controller, frame, {output(number("b"))}}));
  EXPECT_EQ(b.receive(), frame);
  ASSERT_TRUE(owner().send({pipeline::port_controller, frame, {act::group{1}}}));
  EXPECT_EQ(a.receive(), frame);
  EXPECT_EQ(b.receive(), frame);
  // Those that have a port where they came in do not go back there, and count there.
  ASSERT_TRUE(owner().send({number("a"), frame, {output(pipeline::port_all)}}));
  EXPECT_EQ(b.receive(), frame);
  EXPECT_TRUE(a.silent());
  EXPECT_TRUE(counts("a", "from_controller", 1));
  ASSERT_TRUE(owner().send({number("a"), frame, {}}));
  EXPECT_EQ(value(switch_->totals(), "from_controller"), 4U);
  EXPECT_EQ(value(switch_->totals(), "forwarded"), 4U);
  // As long as they come.
  frame_bytes longest = make_frame(host(2), host(1), -1, 9618);
  ASSERT_TRUE(owner().send({pipeline::port_controller, longest, {act::group{1}}}));
  longest.push_back(0);
  const auto refused = owner().send({pipeline::port_controller, longest, {output(number("b"))}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, pipeline::of_error::bad_request_bad_len);
}

TEST_F(pipeline_test, what_the_controller_sends_goes_through_tables_and_the_switch) {
  auto& a = access("a");
  auto& b = access("b");
  auto& other = access("other", 20);
  auto& t = trunk("t", 0, {1, 20});
  const frame_bytes frame = make_frame(broadcast, host(1));
  // Through the tables, of which the only rule says NORMAL.
  ASSERT_TRUE(owner().send({number("a"), frame, {output(pipeline::port_table)}}));
  EXPECT_EQ(b.receive(), frame);
  EXPECT_EQ(t.receive(), with_tag(frame, 1));
  ASSERT_TRUE(learned(1, host(1), "a"));
  EXPECT_TRUE(eventually([&] { return packets_of(0, {}) == 1; }));
  // Without a port: in VLAN 1, or in that of the tag, and nothing is learned.
  const frame_bytes own = make_frame(broadcast, host(7));
  ASSERT_TRUE(owner().send({pipeline::port_controller, own, {output(pipeline::port_normal)}}));
  EXPECT_EQ(a.receive(), own);
  EXPECT_EQ(b.receive(), own);
  EXPECT_EQ(t.receive(), with_tag(own, 1));
  ASSERT_TRUE(owner().send(
      {pipeline::port_controller, with_tag(own, 20), {output(pipeline::port_normal)}}));
  EXPECT_EQ(other.receive(), own);
  EXPECT_EQ(t.receive(), with_tag(own, 20));
  EXPECT_FALSE(switch_->fib_find(1, host(7)));
  const frame_bytes answer = make_frame(host(1), host(7));
  ASSERT_TRUE(owner().send({pipeline::port_controller, answer, {output(pipeline::port_normal)}}));
  EXPECT_EQ(a.receive(), answer);
  for (const unsigned reserved : {0xFFFU, 30U}) {
    ASSERT_TRUE(owner().send(
        {pipeline::port_controller, with_tag(own, reserved), {output(pipeline::port_normal)}}));
  }
  EXPECT_TRUE(eventually([&] {
    return value(switch_->totals(), "drop_ingress_vlan") == 1 &&
           value(switch_->totals(), "drop_no_member") == 1;
  }));
  for (auto* each : {&a, &b, &other, &t}) EXPECT_TRUE(each->silent());
}

TEST_F(pipeline_test, what_the_controller_sends_may_come_back_to_it) {
  (void)access("a");
  std::vector<packet_in> seen;
  owner().set_sink([&](const packet_in& one) { seen.push_back(one); });
  const frame_bytes frame = make_frame(host(2), host(1));
  ASSERT_TRUE(owner().send({number("a"), frame, {act::output{pipeline::port_controller, 20}}}));
  ASSERT_EQ(seen.size(), 1U);  // in the same thread, before it answered
  EXPECT_EQ(seen[0].bytes, frame_bytes(frame.begin(), frame.begin() + 20));
  EXPECT_EQ(seen[0].in_port, number("a"));
  owner().set_sink({});
}

TEST_F(pipeline_test, what_the_controller_may_not_send_is_refused) {
  auto& a = access("a");
  const frame_bytes frame = make_frame(host(2), host(1));
  const auto code_of = [&](const packet_out& one) {
    const auto done = owner().send(one);
    return done ? std::nullopt : std::optional(done.error().code);
  };
  EXPECT_EQ(code_of({77, frame, {output(number("a"))}}), pipeline::of_error::bad_request_bad_port);
  EXPECT_EQ(code_of({pipeline::port_controller, frame, {output(number("a")), act::group{5}}}),
            pipeline::of_error::bad_action_out_group);
  // Not even a header; and nothing at all.
  for (const std::size_t size : {13U, 0U}) {
    EXPECT_EQ(code_of({pipeline::port_controller, frame_bytes(size), {output(number("a"))}}),
              pipeline::of_error::bad_request_bad_len);
  }
  EXPECT_TRUE(a.silent());
}

TEST_F(pipeline_test, what_the_worker_does_not_take_is_counted) {
  auto& a = access("a");
  const std::size_t n = 4000;
  const frame_bytes frame = make_frame(host(2), host(1));
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_TRUE(owner().send({pipeline::port_controller, frame, {output(number("a"))}}));
  }
  std::size_t n_received = 0;
  EXPECT_TRUE(eventually([&] {
    while (a.receive(0)) ++n_received;
    return n_received + count("a", "drop_tx_full") + drops("packet_out_full") +
               drops("packet_out_no_mbuf") ==
           n;
  }));
  EXPECT_GT(n_received, 0U);
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

TEST_F(pipeline_test, packets_leave_rules_behind) {
  auto& a = access("a");
  auto& b = access("b");
  auto& c = access("c");
  act::learn source;
  using role = act::learn::part::role;
  source.parts = {
      {role::match, pipeline::field_bits{field::eth_src, 0, 48}, 0, {field::eth_dst, 0, 48}},
      {role::output, pipeline::field_bits{field::in_port, 0, 16}, 0, {}}};
  pipeline::instructions first = apply({source});
  first.goto_table = 1;
  must({change_rules(rule_command::remove, 0, 0, {}), add_rule(0, 1, {}, first),
        add_rule(1, 0, {}, apply({output(pipeline::port_flood)}))});
  const auto n_rules = [&] {
    return owner().read([](const pipeline::running_bridge& all) { return all.model().n_rules(); });
  };
  for (int again = 0; again < 3; ++again) {
    ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
    EXPECT_TRUE(b.receive());
    EXPECT_TRUE(c.receive());
  }
  ASSERT_TRUE(eventually([&] { return n_rules() == 3; }));
  const frame_bytes back = make_frame(host(1), host(2));
  ASSERT_TRUE(b.send(back));
  EXPECT_EQ(a.receive(), back);
  EXPECT_TRUE(c.silent());
  ASSERT_TRUE(eventually([&] { return n_rules() == 4; }));
  // The host moves: at once, as that is something else than what was said a moment ago.
  ASSERT_TRUE(c.send(make_frame(host(2), host(1))));
  EXPECT_TRUE(b.receive());
  EXPECT_TRUE(eventually([&] {
    return owner().read([&](const pipeline::running_bridge& all) {
      const auto* rule =
          all.model().tables()[1].find(0x8000, where({exact(field::eth_dst, host(1))}));
      return rule != nullptr && rule->rule->instructions == apply({output(number("c"))});
    });
  }));
  EXPECT_EQ(n_rules(), 4U);
  for (const char* why : {"learn_full", "learn_gone", "learn_no_field", "learn_no_match",
                          "learn_refused", "learn_too_many"})
    EXPECT_EQ(drops(why), 0U) << why;
}

TEST_F(pipeline_test, what_the_controller_sends_leaves_rules_behind) {
  access("a");
  act::learn how;
  using role = act::learn::part::role;
  how.parts = {
      {role::match, pipeline::field_bits{field::eth_src, 0, 48}, 0, {field::eth_dst, 0, 48}}};
  packet_out one;
  one.bytes = make_frame(broadcast, host(9));
  one.actions = {how};
  ASSERT_TRUE(owner().send(one));
  const auto is_there = [&] {
    return owner().read([](const pipeline::running_bridge& all) {
      return all.model().tables()[1].find(0x8000, where({exact(field::eth_dst, host(9))})) !=
             nullptr;
    });
  };
  EXPECT_TRUE(is_there());
  clear();
  one.bytes.resize(10);
  EXPECT_FALSE(owner().send(one));
  // What the packet before left is not looked at again: its values would lead to nothing.
  EXPECT_EQ(drops("learn_gone"), 0U);
  EXPECT_FALSE(is_there());
}

TEST_F(pipeline_test, a_rule_that_has_no_room_is_counted) {
  switch_config config;
  config.pipeline.rules_max = 2;
  start(config);
  auto& a = access("a");
  act::learn how;
  using role = act::learn::part::role;
  how.parts = {
      {role::match, pipeline::field_bits{field::eth_src, 0, 48}, 0, {field::eth_dst, 0, 48}}};
  must({add_rule(0, 1, {}, apply({how}))});  // beside NORMAL
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(eventually([&] { return drops("learn_refused") == 1; }));
}

TEST_F(pipeline_test, a_rule_that_has_no_room_takes_no_other_along) {
  switch_config config;
  config.pipeline.rules_max = 3;
  start(config);
  auto& a = access("a");
  // Of one packet: a rule for which there is room, one for which there is none, and one that takes
  // the place of the first.
  const auto learns = [](std::uint16_t priority, std::uint32_t to) {
    act::learn how;
    how.priority = priority;
    using role = act::learn::part::role;
    how.parts = {
        {role::match, pipeline::field_bits{field::eth_src, 0, 48}, 0, {field::eth_dst, 0, 48}},
        {role::load, {}, to, {field::reg0, 0, 32}}};
    return how;
  };
  must({add_rule(0, 1, {}, apply({learns(1, 7), learns(2, 7), learns(1, 8)}))});  // beside NORMAL
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(eventually([&] { return drops("learn_refused") == 1; }));
  owner().read([&](const pipeline::running_bridge& all) {
    const pipeline::rule_table& table = all.model().tables()[1];
    const auto* rule = table.find(1, where({exact(field::eth_dst, host(1))}));
    EXPECT_EQ(table.size(), 1U);
    ASSERT_NE(rule, nullptr);
    EXPECT_EQ(rule->rule->instructions, apply({act::set(field::reg0, 8)}));
  });
}

TEST_F(pipeline_test, what_is_not_learned_is_counted_by_its_reason) {
  auto& a = access("a");
  clear();
  using role = act::learn::part::role;
  act::learn how;
  // Not all that it takes.
  how.parts = {
      {role::match, pipeline::field_bits{field::ipv4_src, 0, 32}, 0, {field::reg1, 0, 32}}};
  packet_out one;
  one.bytes = make_frame(broadcast, host(9));
  one.actions = {how};
  ASSERT_TRUE(owner().send(one));
  EXPECT_EQ(drops("learn_no_field"), 1U);
  // A VLAN's number without a tag.
  how.parts = {
      {role::match, pipeline::field_bits{field::reg0, 0, 13}, 0, {field::vlan_vid, 0, 13}}};
  must({add_rule(0, 1, {}, apply({act::set(field::reg0, 5), how}))});
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(eventually([&] { return drops("learn_no_match") == 1; }));
  // More than a burst may leave behind.
  how.parts = {};
  pipeline::action_list many;
  for (std::uint16_t i = 0; i < pipeline::executor::learned_max + 3; ++i) {
    how.priority = i;
    many.push_back(how);
  }
  must({add_rule(0, 1, {}, apply(many))});
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(eventually([&] { return drops("learn_too_many") == 3; }));
  EXPECT_EQ(drops("learn_no_field"), 1U);
  EXPECT_EQ(drops("learn_no_match"), 1U);
  for (const char* why : {"learn_full", "learn_gone", "learn_refused"}) {
    EXPECT_EQ(drops(why), 0U) << why;
  }
}

TEST_F(pipeline_test, values_for_a_rule_that_is_gone_are_counted) {
  auto& a = access("a");
  auto& b = access("b");
  using role = act::learn::part::role;
  act::learn how;
  how.parts = {
      {role::match, pipeline::field_bits{field::eth_src, 0, 48}, 0, {field::eth_dst, 0, 48}}};
  // More than the owner takes at a time, so that some wait while the rule goes.
  pipeline::action_list many{output(number("b"))};
  for (how.priority = 0; how.priority < 250; ++how.priority) many.push_back(how);
  for (int tries = 0; tries < 1000 && drops("learn_gone") == 0; ++tries) {
    clear();
    must({add_rule(0, 1, {}, apply(many))});
    owner().settle();
    for (const unsigned from : {1U, 2U}) {
      ASSERT_TRUE(a.send(make_frame(broadcast, host(from))));
      ASSERT_TRUE(b.receive());
    }
  }
  EXPECT_GT(drops("learn_gone"), 0U);
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

TEST(rate_limit, lets_a_burst_through_and_then_the_rate) {
  rate_limit limit(100, 3);
  std::uint64_t now = 1'000'000;
  unsigned n = 0;
  while (limit.take(now)) ++n;
  EXPECT_EQ(n, 3U);
  EXPECT_FALSE(limit.take(now += 99));
  EXPECT_TRUE(limit.take(now += 1));
  EXPECT_FALSE(limit.take(now));
  now += 1'000'000;  // a long rest is not saved up
  for (n = 0; limit.take(now); ++n) {
  }
  EXPECT_EQ(n, 3U);
}

}  // namespace
}  // namespace coua::dp
