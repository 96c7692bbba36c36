// SPDX-License-Identifier: Apache-2.0
//
// Which worker polls what, on machines with more NUMA nodes than this one may have.
#include "dp/plan_builder.h"

#include <gtest/gtest.h>

namespace coua::dp {
namespace {

constexpr worker_place four_on_two_nodes[] = {{2, 0}, {3, 0}, {6, 1}, {7, 1}};

struct spreading {
  explicit spreading(std::span<const worker_place> places)
      : workers(places), plans(places.size()) {}

  /// Gives the port's queues to workers.
  void add(int node, unsigned n_queues) {
    for (unsigned q = 0; q < n_queues; ++q) {
      const std::size_t worker = worker_for_queue(node, workers, plans);
      ASSERT_LT(worker, plans.size());
      plans[worker].rx.push_back({.device = n_ports, .queue = static_cast<std::uint16_t>(q)});
    }
    ++n_ports;
  }
  std::vector<std::size_t> polled() const {
    std::vector<std::size_t> counts;
    for (const worker_plan& plan : plans) counts.push_back(plan.rx.size());
    return counts;
  }

  std::span<const worker_place> workers;
  std::vector<worker_plan> plans;
  std::uint16_t n_ports = 0;
};

using counts = std::vector<std::size_t>;

TEST(plan_builder, a_port_has_a_queue_for_each_worker_of_its_node) {
  EXPECT_EQ(workers_for_node(0, four_on_two_nodes), 2u);
  EXPECT_EQ(workers_for_node(1, four_on_two_nodes), 2u);
  EXPECT_EQ(workers_for_node(-1, four_on_two_nodes), 4u);
  EXPECT_EQ(workers_for_node(2, four_on_two_nodes), 4u);  // nobody is near: all are as far
}

TEST(plan_builder, workers_poll_ports_of_their_node_only) {
  spreading ports(four_on_two_nodes);
  ports.add(1, 2);
  EXPECT_EQ(ports.polled(), (counts{0, 0, 1, 1}));
  ports.add(1, 3);
  EXPECT_EQ(ports.polled(), (counts{0, 0, 3, 2}));
  ports.add(0, 1);
  EXPECT_EQ(ports.polled(), (counts{1, 0, 3, 2}));
  ports.add(1, 1);
  EXPECT_EQ(ports.polled(), (counts{1, 0, 3, 3}));
}

TEST(plan_builder, queues_of_no_node_or_of_one_without_workers_go_to_the_least_busy_of_all) {
  spreading ports(four_on_two_nodes);
  ports.add(0, 4);
  ports.add(-1, 4);
  EXPECT_EQ(ports.polled(), (counts{2, 2, 2, 2}));
  ports.add(3, 3);
  EXPECT_EQ(ports.polled(), (counts{3, 3, 3, 2}));
}

TEST(plan_builder, there_may_be_more_workers_than_queues_and_more_ports_than_workers) {
  spreading few(four_on_two_nodes);
  few.add(0, 1);
  EXPECT_EQ(few.polled(), (counts{1, 0, 0, 0}));
  spreading many(std::span<const worker_place>(four_on_two_nodes, 1));
  for (int port = 0; port < 5; ++port) many.add(0, 1);
  many.add(1, 2);  // the only worker is at the other node
  EXPECT_EQ(many.polled(), (counts{7}));
}

TEST(plan_builder, a_queue_that_moves_is_left_out) {
  plan before, built;
  for (plan* each : {&before, &built}) each->workers.resize(2);
  before.workers[0].rx = {{.device = 1}, {.device = 2, .queue = 1}};
  before.workers[1].rx = {{.device = 2}};
  // The second queue of one device and the first of another do not stand for each other.
  built.workers[0].rx = {{.device = 2, .queue = 1}, {.device = 3}};
  built.workers[1].rx = {{.device = 1, .queue = 2}, {.device = 2}};
  EXPECT_FALSE(leave_out_moving(built, before));
  std::swap(built.workers[0].rx, built.workers[1].rx);
  EXPECT_TRUE(leave_out_moving(built, before));
  ASSERT_EQ(built.workers[0].rx.size(), 1u);
  EXPECT_EQ(built.workers[0].rx[0].device, 1u);
  ASSERT_EQ(built.workers[1].rx.size(), 1u);
  EXPECT_EQ(built.workers[1].rx[0].device, 3u);
}

}  // namespace
}  // namespace coua::dp
