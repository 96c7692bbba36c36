// SPDX-License-Identifier: Apache-2.0
//
// One worker with nobody at the other end of its learning ring.
#include "dp/worker.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "dp/eal.h"
#include "dp/learn/fib_owner.h"
#include "dp/pipeline/pipeline_owner.h"
#include "dp/plan_builder.h"
#include "dp/port.h"
#include "dp/test_ring_port.h"

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
    const port_view view{3, device->get(), !lost, lost};
    const auto built = build_plan(std::span(&view, 1), std::span(&place, 1));
    EXPECT_EQ(built->workers[0].rx.size(), lost ? 0u : 1u);
    EXPECT_EQ(built->up, lost ? 0u : port_bit(3));
    EXPECT_EQ(built->present, port_bit(3));
  }
}

TEST(worker, a_full_ring_drops_reports_and_counts_them) {
  eal_params eal;
  eal.huge_pages = false;
  eal.memory_mib = 256;
  const auto environment = start_eal(eal);
  ASSERT_TRUE(environment) << environment.error().message();
  fib_owner_params table;
  table.entries = 1000;
  auto owner = fib_owner::create(table);
  ASSERT_TRUE(owner);
  const worker_place place{environment->cores.front(), 0};

  test_ring_port ring("lonely");
  port_config config;
  config.name = "lonely";
  config.devargs = ring.devargs();
  port_limits limits;
  limits.places = std::span(&place, 1);
  auto device = port::open(config, limits);
  ASSERT_TRUE(device) << device.error().message();
  const port_view view{0, device->get(), true, false};
  const auto current = build_plan(std::span(&view, 1), std::span(&place, 1));

  worker_shared shared;
  shared.current = current.get();
  worker_params params;
  params.core = place.core;
  params.suppress_cycles = static_cast<std::uint64_t>(60 * cycles_hz());
  auto bridge = pipeline_owner::create({}, 1);  // an L2 switch
  ASSERT_TRUE(bridge) << bridge.error().message();
  coua_fib_reader* reader = nullptr;
  ASSERT_EQ(coua_fib_reader_create((*owner)->fib(), &reader), 0);
  worker tested(shared, params, reader, shared.readers.register_reader().value());
  tested.follow((*bridge)->make_executor(0, tested.copier()).value());
  tested.start();

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
  shared.stop = true;
  tested.join();
}

}  // namespace
}  // namespace coua::dp
