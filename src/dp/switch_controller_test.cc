// SPDX-License-Identifier: Apache-2.0
//
// Packets to the controller, and those that it sends.
#include <mutex>

#include "base/clock.h"
#include "dp/pipeline/packet_in.h"
#include "dp/pipeline/rate_limit.h"
#include "dp/test_pipeline.h"

namespace coua::dp {
namespace {

namespace act = pipeline::act;
using pipeline::test::add_rule;
using pipeline::test::apply;
using pipeline::test::output;
using pipeline::test::where;

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
  EXPECT_EQ(seen[0].bytes, frame);  // all of it, whatever the rule asked for
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
  config.bridges[0].pipeline.packet_in_rate = 1;
  config.bridges[0].pipeline.packet_in_burst = 5;
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
  EXPECT_FALSE(switch_->fib_find({}, 1, host(7)));
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
  EXPECT_EQ(seen[0].bytes, frame);
  EXPECT_EQ(seen[0].in_port, number("a"));
  EXPECT_EQ(seen[0].reg, decltype(seen[0].reg){});
  ASSERT_TRUE(owner().send({number("a"),
                            frame,
                            {act::set_field{pipeline::field::reg3, 0x33, 0xffff'ffff},
                             act::output{pipeline::port_controller, 20}}}));
  ASSERT_EQ(seen.size(), 2U);
  decltype(seen[1].reg) of_three{};
  of_three[3] = 0x33;
  EXPECT_EQ(seen[1].reg, of_three);
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
