// SPDX-License-Identifier: Apache-2.0
//
// An executor by itself: what the harness of other tests, which checks it against the oracle, has
// no part in: memory for copies, and the clock of the system.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

#include "pipeline/compiler/running_bridge.h"
#include "pipeline/datapath/test_frames.h"
#include "pipeline/model/test_model.h"
#include "test_deliveries.h"

namespace coua::test {
namespace {

using namespace pipeline;
namespace act = pipeline::act;
using pipeline::test::add_rule;
using pipeline::test::output;

class lone_executor : public ::testing::Test {
 protected:
  void SetUp() override {
    bridge_params params;
    params.rules_max = 1024;
    auto made = running_bridge::create(params);
    ASSERT_TRUE(made.has_value());
    bridge_ = std::move(*made);
    for (port_no i = 1; i <= 3; ++i) must({pipeline::test::add_port(i)});
    pipeline_compiler& compiler = bridge_->compiler();
    auto worker = executor::create(compiler.published(), 0, compiler.counts(0), buffers_);
    ASSERT_TRUE(worker.has_value());
    worker_ = std::move(*worker);
  }
  void TearDown() override { worker_.reset(); }  // a reader of the bridge's grace periods
  void must(const std::vector<operation>& bundle) {
    const auto done = bridge_->apply(bundle, 0);
    ASSERT_TRUE(done.has_value()) << done.error().message();
  }
  /// Sends a burst through one rule. The ports of what is delivered.
  std::vector<port_no> send(const action_list& actions, std::size_t n_packets = n) {
    must({add_rule(0, 1, {}, pipeline::test::apply(actions))});
    return send(n_packets, 0);
  }
  std::vector<port_no> send(std::size_t n_packets, time_ns now) {
    std::vector<executor::arrival> burst;
    while (burst.size() < n_packets)
      burst.push_back({buffers_.make(pipeline::test::frames()[3]), 1});
    worker_->run(burst, now);
    std::vector<port_no> ports;
    worker_->each_delivery([&](const delivery& one, const owned_packet& what) {
      ports.push_back(one.port);
      buffers_.give_back(what);
    });
    for (const owned_packet& each : worker_->left_over()) buffers_.give_back(each);
    return ports;
  }
  std::uint64_t drops(pipeline_drop why) { return bridge_->compiler().counts(0).drops(why); }

  static constexpr std::size_t n = 3;
  test_buffers buffers_;
  std::unique_ptr<running_bridge> bridge_;
  std::unique_ptr<executor> worker_;
};

/// There is no memory: of a packet that is sent and changed afterwards what was sent is lost, and
/// counted, and so is the packet if that was all that it came to.
class no_copies : public lone_executor {
 protected:
  no_copies() { buffers_.has_memory = false; }
};

const action change = act::set(field::eth_dst, 0x0a09'0807);

TEST_F(no_copies, lose_what_was_sent_before_the_change) {
  EXPECT_EQ(send({output(2), change, output(3)}), std::vector<port_no>(n, 3));
  EXPECT_EQ(drops(pipeline_drop::no_buffer), n);
  EXPECT_EQ(drops(pipeline_drop::no_output), 0U);
  EXPECT_EQ(worker_->n_dropped(), 0U);
}

TEST_F(no_copies, drop_what_is_not_sent_again) {
  EXPECT_EQ(send({output(2), change}), std::vector<port_no>());
  EXPECT_EQ(drops(pipeline_drop::no_buffer), n);
  EXPECT_EQ(drops(pipeline_drop::no_output), n);
  EXPECT_EQ(worker_->n_dropped(), n);
  EXPECT_EQ(worker_->left_over().size(), n);
}

// Red, or out of bounds, when a packet that is noted as sent does not count as a delivery.
TEST_F(no_copies, count_as_deliveries_of_the_burst) {
  constexpr std::size_t n_each = executor::deliveries_max / executor::burst_max + 1000;
  action_list list;
  for (std::size_t i = 0; i < n_each; ++i) {
    list.push_back(output(2));
    list.push_back(change);
  }
  EXPECT_EQ(send(list, executor::burst_max), std::vector<port_no>());
  EXPECT_EQ(drops(pipeline_drop::no_buffer), executor::deliveries_max);
  EXPECT_EQ(drops(pipeline_drop::too_many), executor::burst_max * 1000);
}

TEST_F(lone_executor, tells_where_all_of_a_burst_goes) {
  EXPECT_EQ(worker_->only_port(), 0U);  // there was none
  send({output(2)});
  EXPECT_EQ(worker_->only_port(), 2U);
  send({change, output(3)});
  EXPECT_EQ(worker_->only_port(), 3U);
  send({output(2), output(3)});
  EXPECT_EQ(worker_->only_port(), 0U);
  send({output(port_controller)});
  EXPECT_EQ(worker_->only_port(), 0U);
  send({});  // dropped
  EXPECT_EQ(worker_->only_port(), 0U);
  send({output(2)}, 0);
  EXPECT_EQ(worker_->only_port(), 0U);
}

TEST_F(lone_executor, tells_of_no_port_where_one_packet_goes_elsewhere) {
  must({add_rule(0, 1, {}, pipeline::test::apply({output(2)})),
        add_rule(0, 2, pipeline::test::where({exact(field::in_port, 3)}),
                 pipeline::test::apply({output(1)}))});
  std::vector<executor::arrival> burst;
  for (port_no from : {1, 1, 3}) {
    burst.push_back({buffers_.make(pipeline::test::frames()[3]), from});
  }
  worker_->run(burst, 0);
  EXPECT_EQ(worker_->only_port(), 0U);
  burst[2].in_port = 2;  // where it would go: it is dropped
  worker_->run(burst, 0);
  EXPECT_EQ(worker_->only_port(), 0U);
  burst[2].in_port = 1;
  worker_->run(burst, 0);
  EXPECT_EQ(worker_->only_port(), 2U);
  for (const executor::arrival& each : burst) buffers_.give_back(each.what);
}

// What comes behind the push would change a tag that was there before, or send the packet without
// one: it ends. In one row (fused_ops.h), and op by op.
TEST_F(lone_executor, drops_what_has_no_headroom_for_a_tag) {
  const action to_address = act::set(field::ipv4_dst, 0x0a000001);
  const action_list hop = {to_address, act::set(field::eth_src, 1), act::set(field::eth_dst, 2),
                           act::dec_ip_ttl{}};
  const action push = act::push_vlan{0x8100}, vid = act::set(field::vlan_vid, 0x1000 | 7);
  const action pcp = act::set(field::vlan_pcp, 3), label = act::push_mpls{0x8847};
  const std::vector<action_list> behind = {{push, vid, output(2)},
                                           {push, pcp, output(2)},
                                           {label, output(2)},
                                           {push, vid, pcp, output(2)}};
  std::uint64_t n_lost = 0;
  for (const action_list& each : behind) {
    action_list actions = hop;
    actions.insert(actions.end(), each.begin(), each.end());
    must({add_rule(0, 1, pipeline::test::where({pipeline::test::ipv4()}),
                   pipeline::test::apply(actions))});
    // One between two others, and all of a burst.
    for (const std::vector<std::uint32_t>& headrooms :
         {std::vector<std::uint32_t>{4, 3, 64}, std::vector<std::uint32_t>{0, 3}}) {
      std::vector<executor::arrival> burst;
      std::size_t n_without = 0;
      for (const std::uint32_t headroom : headrooms) {
        burst.push_back({buffers_.make(pipeline::test::frames()[3]), 1});
        burst.back().what.buffer.headroom = headroom;
        n_without += headroom < 4;
      }
      const std::size_t before = burst[0].what.buffer.length;
      worker_->run(burst, 0);
      EXPECT_EQ(drops(pipeline_drop::no_headroom), n_lost += n_without);
      EXPECT_EQ(worker_->n_dropped(), n_without);
      std::size_t n_sent = 0;
      worker_->each_delivery([&](const delivery& one, const owned_packet& what) {
        ++n_sent;
        EXPECT_EQ(one.port, 2U);
        EXPECT_EQ(what.buffer.length, before + 4);
        buffers_.give_back(what);
      });
      EXPECT_EQ(n_sent, burst.size() - n_without);
      ASSERT_EQ(worker_->left_over().size(), n_without);
      for (const owned_packet& each : worker_->left_over()) buffers_.give_back(each);
    }
  }
}

// As they are at the action: later changes, and earlier bursts, leave nothing in them.
TEST_F(lone_executor, tells_the_controller_the_registers) {
  const auto set = [](field which, std::uint32_t value) { return act::set(which, value); };
  const action to_controller = output(port_controller);
  must({add_rule(0, 1, {},
                 pipeline::test::apply({set(field::reg0, 5), set(field::reg15, 6), to_controller,
                                        set(field::reg0, 7), change, to_controller}))});
  using registers = std::array<std::uint32_t, n_registers>;
  registers first{}, second{};
  first[0] = 5;
  second[0] = 7;
  first[15] = second[15] = 6;
  const auto told = [this] {
    const executor::arrival one{buffers_.make(pipeline::test::frames()[3]), 1};
    worker_->run({&one, 1}, 0);
    std::vector<registers> made;
    worker_->each_delivery([&](const delivery& each, const owned_packet& what) {
      made.push_back(each.reg);
      buffers_.give_back(what);
    });
    return made;
  };
  EXPECT_EQ(told(), (std::vector{first, second}));
  must({add_rule(0, 1, {}, pipeline::test::apply({to_controller}))});
  EXPECT_EQ(told(), std::vector{registers{}});
}

// Red when the clock is not read.
TEST_F(lone_executor, meters_by_the_clock_of_the_system) {
  rule_mod metered = add_rule(0, 1, {}, pipeline::test::apply({output(2)}));
  metered.instructions.meter = 1;
  must({pipeline::test::add_policer(1, 1000, 2), metered});
  for (int run = 0; run < 2; ++run) {
    EXPECT_LT(send(executor::burst_max, executor::when_asked).size(), executor::burst_max);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(send(2, executor::when_asked).size(), 2U);
  }
}

}  // namespace
}  // namespace coua::test
