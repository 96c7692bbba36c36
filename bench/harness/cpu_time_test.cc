// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/cpu_time.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/clock.h"
#include "base/cpu.h"

namespace coua::bench {
namespace {

TEST(cpu_time, sleeping_costs_none_and_work_costs_its_time) {
  const std::uint64_t start = this_thread_cpu_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  const std::uint64_t slept = this_thread_cpu_ns();
  EXPECT_LT(slept - start, 5'000'000U);
  while (this_thread_cpu_ns() - slept < 20'000'000) {
  }
  EXPECT_GE(foreign_cpu_ns(getpid(), {getpid()}), 10'000'000U) << "but for a few milliseconds";
}

TEST(cpu_time, finds_threads_by_name_and_reads_their_clocks) {
  std::atomic<bool> stop = false;
  std::atomic<bool> named = false;
  std::thread busy([&] {
    name_this_thread("spinner-1");
    named = true;
    while (!stop) {
    }
  });
  while (!named) std::this_thread::yield();
  const std::vector<pid_t> found = threads_named(getpid(), "spinner");
  const std::uint64_t before = threads_cpu_ns(found);
  std::uint64_t after = before;
  for (int i = 0; i < 500 && after - before < 10'000'000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    after = threads_cpu_ns(found);
  }
  stop = true;
  busy.join();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GE(after - before, 10'000'000U);
  EXPECT_TRUE(threads_named(getpid(), "nobody").empty());
  EXPECT_EQ(foreign_cpu_ns(getpid(), {-5}), 0U);
}

}  // namespace
}  // namespace coua::bench
