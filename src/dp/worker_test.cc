// SPDX-License-Identifier: Apache-2.0
//
// One worker with nobody at the other end of its learning ring.
#include "dp/worker.h"

#include <gtest/gtest.h>
#include <rte_ethdev.h>

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "base/clock.h"
#include "dp/eal.h"
#include "dp/learn/fib_owner.h"
#include "dp/pipeline/pipeline_owner.h"
#include "dp/plan_builder.h"
#include "dp/port.h"
#include "dp/test_ring_port.h"
#include "dp/test_switch.h"
#include "pipeline/model/test_model.h"

namespace coua::dp {
namespace {

frame_bytes frame_from(unsigned host) {
  frame_bytes frame(60);
  frame[0] = frame[6] = 2;
  frame[1] = 0xEE;
  frame[10] = static_cast<std::uint8_t>(host >> 8);
  frame[11] = static_cast<std::uint8_t>(host);
  return frame;
}

TEST(plan, a_lost_port_is_neither_polled_nor_sent_to) {
  eal_params eal;
  eal.huge_pages = false;
  eal.memory_mib = 256;
  ASSERT_TRUE(start_eal(eal));
  const worker_place place{0, 0};
  test_ring_port ring("lost");
  port_config config;
  config.name = "lost";
  config.devargs = ring.devargs();
  port_limits limits;
  limits.places = std::span(&place, 1);
  auto device = port::open(config, limits);
  ASSERT_TRUE(device) << device.error().message();
  for (const bool lost : {false, true}) {
    const port_view view{3, 0, device->get(), !lost, lost};
    const vlan_domains domains{};
    const bridge_view bridge{0, &domains, {nullptr}};
    const auto built = build_plan(std::span(&view, 1), std::span(&place, 1), std::span(&bridge, 1));
    EXPECT_EQ(built->workers[0].rx.size(), lost ? 0u : 1u);
    EXPECT_EQ(built->up, lost ? 0u : port_bit(3));
    EXPECT_EQ(built->present, port_bit(3));
  }
}

/// A worker without a switch: its plan is what the ports of a test are.
class worker_test : public ::testing::Test {
 protected:
  void SetUp() override {
    eal_params eal;
    eal.huge_pages = false;
    eal.memory_mib = 256;
    const auto environment = start_eal(eal);
    ASSERT_TRUE(environment) << environment.error().message();
    place_ = {environment->cores.front(), 0};
    fib_owner_params table;
    table.entries = 1000;
    auto owner = fib_owner::create(table);
    ASSERT_TRUE(owner);
    owner_ = std::move(*owner);
  }
  void TearDown() override { stop(); }
  void stop() {
    shared_.stop = true;
    if (tested_) tested_->join();
    tested_.reset();
  }

  /// Ports have the numbers 0, 1... in this order.
  const port& add(const std::string& devargs, std::uint16_t vlan = 1) {
    port_config config;
    config.name = "p" + std::to_string(ports_.size());
    config.devargs = devargs;
    config.native_vlan = vlan;
    port_limits limits;
    limits.places = std::span(&place_, 1);
    for (const auto& each : ports_) limits.devices_used |= each->devices();
    auto opened = port::open(config, limits);
    COUA_CHECK(opened.has_value());
    ports_.push_back(std::move(*opened));
    return *ports_.back();
  }
  worker& start(worker_params params, first_rules rules = first_rules::normal) {
    std::vector<port_view> views;
    for (unsigned n = 0; n < ports_.size(); ++n)
      views.push_back({n, 0, ports_[n].get(), true, false});
    pipeline_config config;
    config.start = rules;
    pipeline_ = pipeline_owner::create(config, 1).value();
    end_ = std::make_unique<worker_bridge>(worker_bridge_params{});
    end_->executor = pipeline_->make_executor(0, end_->copier).value();
    vlan_domains domains{};
    for (const std::uint16_t vlan : {1, 2}) domains[vlan] = vlan;
    const bridge_view bridge{0, &domains, {end_.get()}};
    plan_ = build_plan(views, std::span(&place_, 1), std::span(&bridge, 1));
    plan_->ports[0].strips_tags = strips_tags_;
    shared_.current = plan_.get();
    params.core = place_.core;
    coua_fib_reader* reader = nullptr;
    COUA_CHECK(coua_fib_reader_create(owner_->fib(), &reader) == 0);
    tested_ = std::make_unique<worker>(shared_, params, reader,
                                       shared_.readers.register_reader().value());
    EXPECT_TRUE(tested_->start());
    return *tested_;
  }

  worker_place place_{};
  bool strips_tags_ = false;  // the driver of port 0 takes tags out
  std::unique_ptr<fib_owner> owner_;
  std::vector<std::unique_ptr<port>> ports_;
  std::unique_ptr<plan> plan_;
  worker_shared shared_;
  std::unique_ptr<pipeline_owner> pipeline_;
  std::unique_ptr<worker_bridge> end_;
  std::unique_ptr<worker> tested_;
};

TEST_F(worker_test, a_full_ring_drops_reports_and_counts_them) {
  test_ring_port ring("lonely");
  add(ring.devargs());
  worker_params params;
  params.suppress_cycles = static_cast<std::uint64_t>(60 * cycles_hz());
  worker& tested = start(params);
  const auto count = [&](port_counter::id id) { return tested.port_counters().value(0, id); };
  const auto send = [&](unsigned first, unsigned n) {
    // A frame is through when it is dropped: there is no other port.
    const std::uint64_t before = count(port_counter::drop_no_member);
    for (unsigned host = first; host < first + n; ++host)
      while (!ring.send(frame_from(host))) std::this_thread::yield();
    while (count(port_counter::drop_no_member) < before + n) std::this_thread::yield();
  };
  send(0, 1);
  send(0, 1);  // a repeat
  EXPECT_EQ(count(port_counter::learn_reports), 1u);
  EXPECT_EQ(count(port_counter::learn_suppressed), 1u);
  send(1, 9000);
  EXPECT_EQ(count(port_counter::learn_reports), learn_ring_size);
  EXPECT_EQ(count(port_counter::learn_ring_full), 9001 - learn_ring_size);
  // Frames go on their way all the same.
  EXPECT_EQ(count(port_counter::drop_no_member), 9002u);

  std::vector<learn_report> reports(learn_ring_size);
  EXPECT_EQ(tested.reports().pop(reports), learn_ring_size);
  for (unsigned i = 0; i < learn_ring_size; ++i) ASSERT_EQ(reports[i].key & 0xFFFF, i);
  send(9000, 1);  // lost before, so it is no repeat
  EXPECT_EQ(tested.reports().pop(reports), 1u);
}

/// Of what a device of net_null brings, which is as much as is asked for, one frame.
std::uint16_t keep_one(std::uint16_t, std::uint16_t, rte_mbuf** frames, std::uint16_t n,
                       std::uint16_t, void*) {
  for (unsigned i = 1; i < n; ++i) rte_pktmbuf_free(frames[i]);
  return std::min<std::uint16_t>(n, 1);
}

constexpr double an_hour = 3600, a_millisecond = 1e-3;

/// Two hosts, and a port that has a full burst at each round.
class busy_worker_test : public worker_test {
 protected:
  void SetUp() override {
    worker_test::SetUp();
    add(a_.emplace("a").devargs());
    add(b_.emplace("b").devargs());
    busy_ = &add("net_null_worker", 2);
    broadcast_ = frame_from(1);
    std::fill_n(broadcast_.begin(), 6, std::uint8_t{0xff});
  }

  /// A worker that lets frames wait for others for that many seconds.
  worker& start_patient(double seconds) {
    worker_params params;
    params.tx_flush_cycles = static_cast<std::uint64_t>(seconds * cycles_hz());
    return start(params);
  }

  std::optional<test_ring_port> a_, b_;
  const port* busy_ = nullptr;
  frame_bytes broadcast_;
};

TEST_F(busy_worker_test, a_round_of_less_than_a_burst_sends_at_once) {
  const auto* kept = rte_eth_add_rx_callback(busy_->device(), 0, keep_one, nullptr);
  ASSERT_NE(kept, nullptr);
  start_patient(an_hour);
  // No round finds nothing.
  ASSERT_TRUE(a_->send(broadcast_));
  EXPECT_EQ(b_->receive(), broadcast_);
  stop();
  // DPDK leaves it to the next device of this number.
  EXPECT_EQ(rte_eth_remove_rx_callback(busy_->device(), 0, kept), 0);
}

TEST_F(busy_worker_test, frames_wait_for_others_while_bursts_are_full) {
  worker& tested = start_patient(an_hour);
  ASSERT_TRUE(a_->send(broadcast_));
  while (tested.port_counters().value(0, port_counter::rx_packets) == 0) std::this_thread::yield();
  EXPECT_TRUE(b_->silent(50));
  // A quarter of a burst goes.
  for (unsigned i = 1; i < worker_params().burst / 4; ++i) ASSERT_TRUE(a_->send(broadcast_));
  EXPECT_EQ(b_->receive(), broadcast_);
}

// Red when only a round of less than a burst sends what waits for others.
TEST_F(busy_worker_test, no_frame_waits_longer_than_its_time_while_bursts_are_full) {
  start_patient(a_millisecond);
  ASSERT_TRUE(a_->send(broadcast_));
  EXPECT_EQ(b_->receive(), broadcast_);
}

/// To the L2 switch, and to rules.
class worker_rules_test : public worker_test, public ::testing::WithParamInterface<first_rules> {};

TEST_P(worker_rules_test, a_tag_that_finds_no_room_in_its_frame_again_is_a_drop) {
  test_ring_port a("a"), b("b");
  add(a.devargs());
  add(b.devargs());
  a.leave_no_headroom();
  strips_tags_ = true;
  worker& tested = start({}, GetParam());
  const auto count = [&](port_counter::id id) { return tested.port_counters().value(0, id); };
  ASSERT_TRUE(a.send_stripped(frame_from(1), 1));
  while (count(port_counter::rx_packets) == 0) std::this_thread::yield();
  EXPECT_EQ(count(port_counter::drop_no_headroom), 1u);
  stop();
  EXPECT_TRUE(b.silent(0));
  EXPECT_EQ(test_ring_port::in_use(), 0u);
}
INSTANTIATE_TEST_SUITE_P(all, worker_rules_test,
                         ::testing::Values(first_rules::normal, first_rules::none));

/// Tags that a driver took out are there again when rules look at a frame, in a burst with frames
/// that had none.
TEST_F(worker_test, rules_see_tags_that_a_driver_took_out) {
  using pipeline::test::add_rule;
  using pipeline::test::apply;
  using pipeline::test::output;
  test_ring_port a("a"), b("b");
  add(a.devargs());
  add(b.devargs());
  strips_tags_ = true;
  shared_.paused = true;
  start({}, first_rules::none);
  packet_out_ring packet_outs(packet_out_ring_size);
  const unsigned cpus[] = {place_.core};
  ASSERT_TRUE(pipeline_->start("of", {{&end_->packet_ins}, {&end_->learned}}, packet_outs, cpus));
  std::vector<pipeline::operation> bundle;
  for (const pipeline::port_no number : {1U, 2U}) {
    pipeline::port one;
    one.number = number;
    bundle.emplace_back(pipeline::port_mod{pipeline::mod_command::add, one});
  }
  const auto tagged = pipeline::test::where({exact(pipeline::field::vlan_vid, 0x1000 | 7)});
  bundle.emplace_back(add_rule(0, 10, tagged, apply({output(2)})));
  bundle.emplace_back(add_rule(0, 5, {}, apply({pipeline::act::push_vlan{0x8100}, output(2)})));
  const auto done = pipeline_->apply(bundle);
  ASSERT_TRUE(done.has_value()) << done.error().message();
  ASSERT_TRUE(a.send(frame_from(1)));
  ASSERT_TRUE(a.send_stripped(frame_from(2), 7));
  ASSERT_TRUE(a.send(frame_from(3)));
  ASSERT_TRUE(a.send_stripped(frame_from(4), 7));
  shared_.paused = false;
  for (const unsigned host : {1U, 2U, 3U, 4U})
    EXPECT_EQ(b.receive(), with_tag(frame_from(host), host % 2 == 0 ? 7 : 0)) << host;
  stop();
  pipeline_->stop();
}

}  // namespace
}  // namespace coua::dp
