// SPDX-License-Identifier: Apache-2.0
#include "dp/pipeline/grace_gate.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace coua::dp {
namespace {

using std::chrono::milliseconds;

class a_gate : public testing::Test {
 protected:
  a_gate() : worker_(*plan_.grace.register_reader()) { worker_.online(); }

  void publish() { plan_.version.fetch_add(1, std::memory_order_release); }
  std::future<void> wait() {
    return std::async(std::launch::async, [this] { gate_.wait(); });
  }
  static bool is_over(std::future<void>& waiting, milliseconds within) {
    return waiting.wait_for(within) == std::future_status::ready;
  }

  pipeline::published_plan plan_;
  qsbr::reader worker_;
  grace_gate gate_{plan_};
};

constexpr milliseconds soon(30), at_last(60'000);

TEST_F(a_gate, opens_when_the_worker_has_begun_another_burst) {
  publish();
  auto waiting = wait();
  EXPECT_FALSE(is_over(waiting, soon));
  worker_.quiescent();
  EXPECT_TRUE(is_over(waiting, at_last));
}

TEST_F(a_gate, does_not_wait_for_a_version_that_has_been_everywhere) {
  publish();
  auto first = wait();
  EXPECT_FALSE(is_over(first, soon));
  worker_.quiescent();
  first.wait();
  gate_.wait();
  gate_.wait();
}

TEST_F(a_gate, waits_again_for_the_next_version) {
  publish();
  auto first = wait();
  EXPECT_FALSE(is_over(first, soon));
  worker_.quiescent();
  first.wait();
  publish();
  auto second = wait();
  EXPECT_FALSE(is_over(second, soon));
  worker_.quiescent();
  EXPECT_TRUE(is_over(second, at_last));
}

TEST_F(a_gate, has_one_grace_period_for_all_who_wait) {
  publish();
  std::vector<std::future<void>> all;
  for (int i = 0; i < 8; ++i) all.push_back(wait());
  EXPECT_FALSE(is_over(all.front(), soon));
  const qsbr::token before = plan_.grace.start();
  worker_.quiescent();
  for (auto& each : all) EXPECT_TRUE(is_over(each, at_last));
  // Nobody has begun another one since.
  EXPECT_EQ(plan_.grace.start(), before + 1);
}

TEST_F(a_gate, does_not_wait_for_a_worker_that_is_idle) {
  worker_.offline();
  publish();
  gate_.wait();
}

}  // namespace
}  // namespace coua::dp
