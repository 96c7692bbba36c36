// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/foreign_program.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "bench/harness/leftovers.h"

namespace coua::bench {
namespace {

std::set<pid_t> noted() {
  const leftovers::locked now;
  return now->programs;
}

std::unique_ptr<foreign_program> sleeper() {
  auto made = foreign_program::start({"sleep", "600"}, {});
  EXPECT_TRUE(made) << made.error().message();
  return std::move(*made);
}

TEST(foreign_program, ends_with_its_owner_also_when_it_stands_still) {
  auto one = sleeper();
  const pid_t process = one->process();
  EXPECT_EQ(noted(), std::set{process});
  one->pause();
  EXPECT_FALSE(one->has_ended());
  EXPECT_EQ(noted(), std::set{process});
  one.reset();
  EXPECT_EQ(noted(), std::set<pid_t>());
  EXPECT_EQ(kill(process, 0), -1);
}

// LD_PRELOAD takes the last of two with one name, getenv() the first.
TEST(foreign_program, gets_each_setting_once) {
  setenv("COUA_TESTED", "of the environment", 1);
  setenv("COUA_TESTED_TOO", "as it is", 1);
  const auto said = run_program({"/usr/bin/env"}, {"COUA_TESTED=given"}, 10);
  unsetenv("COUA_TESTED");
  unsetenv("COUA_TESTED_TOO");
  ASSERT_TRUE(said) << said.error().message();
  EXPECT_NE(said->find("COUA_TESTED=given\n"), std::string::npos);
  EXPECT_EQ(said->find("COUA_TESTED=of"), std::string::npos);
  EXPECT_NE(said->find("COUA_TESTED_TOO=as it is\n"), std::string::npos);
}

// Red when the number of a program that is waited for stays noted: another may have it by then.
TEST(foreign_program, one_that_ended_by_itself_is_forgotten) {
  for (const bool by_pause : {false, true}) {
    const auto one = sleeper();
    kill(one->process(), SIGKILL);
    siginfo_t ended;
    waitid(P_PID, static_cast<id_t>(one->process()), &ended, WEXITED | WNOWAIT);
    if (by_pause) one->pause();
    EXPECT_TRUE(one->has_ended());
    EXPECT_EQ(one->process(), -1);
    EXPECT_EQ(noted(), std::set<pid_t>());
  }
}

}  // namespace
}  // namespace coua::bench
