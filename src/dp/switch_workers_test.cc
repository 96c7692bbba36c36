// SPDX-License-Identifier: Apache-2.0
//
// Where the threads of the switch run, and what workers count of their own.
#include <filesystem>
#include <fstream>

#include "base/cpu.h"
#include "dp/test_switch.h"

namespace coua::dp {
namespace {

/// Of the thread of this name, as the kernel lists them: "1-3,5"; empty: there is no such thread.
std::string cpus_of(const std::string& thread) {
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name, line;
    if (!std::getline(std::ifstream(each.path() / "comm"), name) || name != thread) continue;
    std::ifstream status(each.path() / "status");
    const std::string field = "Cpus_allowed_list:\t";
    while (std::getline(status, line))
      if (line.starts_with(field)) return line.substr(field.size());
  }
  return {};
}

TEST_F(switch_test, a_worker_has_its_core_for_itself) {
  const std::vector<unsigned> cpus = allowed_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "needs two CPUs";
  for (const unsigned core : {cpus.back(), cpus.front()}) {
    cores_ = {core};
    start({});
    EXPECT_EQ(switch_->workers()[0].core, core);
    const std::string own = std::to_string(core);
    EXPECT_TRUE(eventually([&] { return cpus_of("coua-worker0") == own; }))
        << cpus_of("coua-worker0");
    EXPECT_NE(cpus_of("coua-tables"), "");
    if (cpus.size() == 2) {
      const unsigned other = core == cpus.back() ? cpus.front() : cpus.back();
      EXPECT_EQ(cpus_of("coua-tables"), std::to_string(other));
    }
  }
}

// Red when a worker polls a queue that another one has not let go of yet: no driver bears that.
TEST_F(switch_test, a_queue_moves_to_a_worker_when_the_other_one_has_left_it) {
  const std::vector<unsigned> cpus = allowed_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "needs two CPUs";
  cores_ = {cpus[0], cpus[1]};
  start({});
  const auto polled_by = [&](unsigned worker) { return switch_->workers()[worker].queues; };
  using names = std::vector<std::string>;
  for (const char* name : {"a", "b", "c"}) access(name);
  ASSERT_EQ(polled_by(0), (names{"a:0", "c:0"}));
  rings_["c"]->poll_slowly(5);
  port_config a = status_of("a").config;
  for (unsigned i = 0; i < 10; ++i) {
    a.enabled = false;
    ASSERT_TRUE(switch_->update_port(a));
    EXPECT_EQ(polled_by(1), names{"c:0"});
    a.enabled = true;
    ASSERT_TRUE(switch_->update_port(a));
    EXPECT_EQ(polled_by(0), (names{"a:0", "c:0"}));
  }
  EXPECT_TRUE(eventually(test_ring_port::in_poll));
  EXPECT_EQ(test_ring_port::most_in_poll(), 1u);
}

// The kernel keeps 15 characters of a name.
TEST_F(switch_test, the_pipeline_of_each_bridge_has_a_thread_and_its_name_tells_which) {
  const std::string longest(32, 'b');
  ASSERT_TRUE(switch_->add_bridge({longest, {}}));
  EXPECT_TRUE(eventually([&] { return !cpus_of("coua-flows-1").empty(); }));
  EXPECT_EQ(cpus_of("coua-flows-1"), cpus_of("coua-flows"));
  ASSERT_TRUE(switch_->remove_bridge(longest));
  EXPECT_EQ(cpus_of("coua-flows-1"), "");
  EXPECT_NE(cpus_of("coua-flows"), "");
}

TEST_F(switch_test, workers_count_bursts_and_the_cycles_of_a_packet) {
  auto& a = access("a");
  auto& b = access("b");
  const fib_entry to_b{1, host(2), numbers_["b"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&to_b, 1)));
  constexpr unsigned n = 300;
  for (unsigned i = 0; i < n; ++i) ASSERT_TRUE(a.send(make_frame(host(2), host(1))));
  for (unsigned i = 0; i < n; ++i) ASSERT_TRUE(b.receive());
  EXPECT_TRUE(counts("b", "tx_packets", n));
  std::uint64_t counted = 0, in_bursts = 0;
  EXPECT_TRUE(eventually([&] {
    counted = in_bursts = 0;
    for (const worker_status& each : switch_->workers()) {
      counted += value(each.counters, "rx_packets");
      for (std::size_t size = 0; size < each.burst_histogram.size(); ++size)
        in_bursts += size * each.burst_histogram[size];
    }
    return counted == n && in_bursts == n;
  })) << counted
      << " " << in_bursts;
  EXPECT_GT(switch_->workers()[0].burst_histogram[0], 0u);
  // Of the last second.
  worker_status seen;
  EXPECT_TRUE(eventually([&] {
    for (const worker_status& each : switch_->workers())
      if (each.cycles_per_packet > 0) return seen = each, true;
    return false;
  }));
  EXPECT_GT(seen.busy, 0);
  EXPECT_LT(seen.busy, 1);
}

}  // namespace
}  // namespace coua::dp
