// SPDX-License-Identifier: Apache-2.0
#include "base/reclaimer.h"

#include <gtest/gtest.h>

#include <vector>

namespace coua {
namespace {

TEST(reclaimer, runs_actions_in_order_after_the_grace_period) {
  qsbr domain;
  qsbr::reader reader = domain.register_reader().value();
  reader.online();
  reclaimer queue(domain);
  std::vector<int> ran;
  queue.defer([&] { ran.push_back(1); });
  queue.defer([&] { ran.push_back(2); });
  EXPECT_EQ(queue.pending(), 2U);
  EXPECT_EQ(queue.reclaim(), 0U);  // starts the grace period
  queue.defer([&] { ran.push_back(3); });
  EXPECT_EQ(queue.reclaim(), 0U);
  reader.quiescent();
  EXPECT_EQ(queue.reclaim(), 2U);
  EXPECT_EQ(ran, (std::vector<int>{1, 2}));
  EXPECT_EQ(queue.reclaim(), 0U) << "the third was deferred after the start";
  reader.quiescent();
  EXPECT_EQ(queue.reclaim(), 1U);
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(queue.pending(), 0U);
}

TEST(reclaimer, starts_no_grace_period_when_nothing_changed) {
  qsbr domain;
  reclaimer queue(domain);
  const qsbr::token before = domain.start();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(queue.reclaim(), 0U);
  EXPECT_EQ(domain.start(), before + 1);
}

TEST(reclaimer, one_grace_period_answers_many) {
  qsbr domain;
  reclaimer queue(domain);
  int ran = 0;
  for (int i = 0; i < 1000; ++i) queue.defer([&] { ++ran; });
  const qsbr::token before = domain.start();
  queue.reclaim();
  queue.reclaim();
  EXPECT_EQ(ran, 1000);
  EXPECT_EQ(domain.start(), before + 2);
}

TEST(reclaimer, an_action_may_defer_another) {
  qsbr domain;
  reclaimer queue(domain);
  bool inner = false;
  queue.defer([&] { queue.defer([&] { inner = true; }); });
  for (int i = 0; i < 2; ++i) queue.reclaim();
  EXPECT_FALSE(inner) << "it needs a grace period of its own";
  queue.reclaim();
  EXPECT_TRUE(inner);
}

struct tracked {
  explicit tracked(int& alive) : alive_(alive) { ++alive_; }
  ~tracked() { --alive_; }
  int& alive_;
};

TEST(reclaimer, deletes_retired_objects_once_also_when_destroyed) {
  qsbr domain;
  int alive = 0;
  {
    reclaimer queue(domain);
    queue.retire(std::make_unique<tracked>(alive));
    queue.reclaim();
    EXPECT_EQ(alive, 1);
    queue.reclaim();
    EXPECT_EQ(alive, 0);
    queue.retire(std::make_unique<tracked>(alive));
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

TEST(reclaimer_death, destruction_before_the_readers_are_gone_is_a_bug) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        qsbr domain;
        qsbr::reader reader = domain.register_reader().value();
        reader.online();
        reclaimer queue(domain);
        queue.defer([] {});
      },
      "coua: bug");
}

}  // namespace
}  // namespace coua
