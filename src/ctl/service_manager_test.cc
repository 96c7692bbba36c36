// SPDX-License-Identifier: Apache-2.0
#include "ctl/service_manager.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace coua::ctl {
namespace {

dp::worker_status worker(unsigned number, std::uint64_t rounds) {
  dp::worker_status made{};
  made.number = number;
  made.counters = {{"bursts", 7}, {"rounds", rounds}};
  return made;
}

using numbers = std::vector<unsigned>;

TEST(pulse, names_workers_that_stand) {
  pulse of;
  EXPECT_EQ(of.standing({worker(0, 0), worker(1, 5)}), numbers{});
  EXPECT_EQ(of.standing({worker(0, 1), worker(1, 5)}), numbers{1});
  EXPECT_EQ(of.standing({worker(0, 1), worker(1, 6)}), numbers{0});
  EXPECT_EQ(of.standing({worker(0, 2), worker(1, 7), worker(2, 0)}), numbers{});
  EXPECT_EQ(of.standing({worker(0, 2), worker(1, 7), worker(2, 0)}), (numbers{0, 1, 2}));
}

TEST(watchdog, is_there_when_the_unit_has_one) {
  unsetenv("WATCHDOG_USEC");
  EXPECT_FALSE(watchdog_period());
  setenv("WATCHDOG_USEC", "3000000", 1);
  EXPECT_EQ(watchdog_period(), std::chrono::microseconds(1'000'000));
  setenv("WATCHDOG_PID", "1", 1);  // meant for another process
  EXPECT_FALSE(watchdog_period());
  unsetenv("WATCHDOG_USEC");
  unsetenv("WATCHDOG_PID");
}

}  // namespace
}  // namespace coua::ctl
