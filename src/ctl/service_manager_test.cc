// SPDX-License-Identifier: Apache-2.0
#include "ctl/service_manager.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace coua::ctl {
namespace {

using names = std::vector<std::string>;

TEST(liveness, names_workers_that_stand) {
  liveness of;
  EXPECT_EQ(of.standing({{0, 5}, 1}), names{});
  EXPECT_EQ(of.standing({{1, 5}, 2}), names{"worker 1"});
  EXPECT_EQ(of.standing({{1, 6}, 3}), names{"worker 0"});
  EXPECT_EQ(of.standing({{2, 7, 0}, 4}), names{});
  EXPECT_EQ(of.standing({{2, 7, 0}, 5}), (names{"worker 0", "worker 1", "worker 2"}));
}

TEST(liveness, names_the_owner_of_the_tables_unless_a_driver_keeps_it) {
  constexpr std::uint64_t s = 1'000'000'000;
  liveness of;
  EXPECT_EQ(of.standing({{0}, 7}), names{});
  EXPECT_EQ(of.standing({{1}, 7}), names{"thread coua-tables"});
  EXPECT_EQ(of.standing({{2}, 7, s}), names{});
  EXPECT_EQ(of.standing({{3}, 7, 300 * s}), names{});
  EXPECT_EQ(of.standing({{4}, 7, 301 * s}), names{"thread coua-tables (in a driver for 301 s)"});
  // It is in a driver again, and was not in between.
  EXPECT_EQ(of.standing({{5}, 8, 301 * s}), names{});
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
