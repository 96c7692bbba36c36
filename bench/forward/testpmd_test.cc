// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/testpmd.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "bench/harness/leftovers.h"
#include "bench/harness/scratch_folder.h"

namespace coua::bench {
namespace {

constexpr const char* obedient_shell = R"(#!/bin/sh
echo rte-worker-1 > /proc/$$/comm
printf 'testpmd> '
while read -r command; do
  case $command in show*) echo 'TX-packets: 5' ;; esac
  printf 'testpmd> '
done
)";

/// While it lives, a shell script is dpdk-testpmd.
class fake_program {
 public:
  fake_program() : folder_(scratch_folder::create().value()), before_(std::getenv("PATH")) {
    const std::string file = folder_->path() + "/dpdk-testpmd";
    std::ofstream(file) << obedient_shell;
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    setenv("PATH", (folder_->path() + ":" + before_).c_str(), 1);
  }
  ~fake_program() { setenv("PATH", before_.c_str(), 1); }

 private:
  std::unique_ptr<scratch_folder> folder_;
  std::string before_;
};

// Red when run() waits for it and leaves its number noted: another program may have it by then.
TEST(testpmd, one_that_ended_by_itself_is_forgotten) {
  const fake_program fake;
  auto made = testpmd::start({}, 1, 32, false);
  if (!made && made.error().code == errc::unsupported) GTEST_SKIP() << made.error().message();
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_TRUE((*made)->run(0.001));
  {
    const leftovers::locked now;
    ASSERT_EQ(now->programs.size(), 1U);
    const pid_t process = *now->programs.begin();
    kill(process, SIGKILL);
    siginfo_t ended;
    waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOWAIT);
  }
  EXPECT_FALSE((*made)->run(0.001));
  const leftovers::locked now;
  EXPECT_EQ(now->programs, std::set<pid_t>());
}

}  // namespace
}  // namespace coua::bench
