// SPDX-License-Identifier: Apache-2.0
#include "ctl/socket_claim.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace coua::ctl {
namespace {

namespace fs = std::filesystem;

class claim : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(dir_); }
  void TearDown() override { fs::remove_all(dir_); }

  static int listen_on(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(fd, 1), 0);
    return fd;
  }

  const fs::path dir_ = "/tmp/coua-claim-" + std::to_string(getpid());
  const std::string path_ = dir_ / "a.sock";
};

TEST_F(claim, a_second_one_is_refused_and_says_who_has_it) {
  const auto first = socket_claim::take(path_);
  ASSERT_TRUE(first) << first.error().message();
  const auto second = socket_claim::take(path_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::busy);
  EXPECT_NE(second.error().what.find(std::to_string(getpid())), std::string::npos);
  EXPECT_TRUE(fs::exists(path_ + ".lock")) << "the refused one removed the lock of the first";
}

TEST_F(claim, a_directory_of_another_user_is_refused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to be two users";
  fs::permissions(dir_, fs::perms::all);
  ASSERT_EQ(chown(dir_.c_str(), 65533, 65533), 0);
  ASSERT_EQ(seteuid(65534), 0);
  const auto taken = socket_claim::take(path_);
  ASSERT_EQ(seteuid(0), 0);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, errc::denied);
  EXPECT_EQ(taken.error().where, dir_);
}

TEST_F(claim, it_leaves_nothing_and_can_be_taken_again) {
  for (int i = 0; i < 3; i++) {
    const auto taken = socket_claim::take(path_);
    ASSERT_TRUE(taken) << taken.error().message();
  }
  EXPECT_TRUE(fs::is_empty(dir_));
}

TEST_F(claim, the_directory_is_made_for_the_owner_alone) {
  const std::string path = dir_ / "sub/a.sock";
  const auto taken = socket_claim::take(path);
  ASSERT_TRUE(taken) << taken.error().message();
  struct stat status {};
  ASSERT_EQ(stat((dir_ / "sub").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0007, 0u);
  EXPECT_FALSE(socket_claim::take(dir_ / "no/sub/a.sock"));
}

TEST_F(claim, what_a_dead_holder_left_is_replaced) {
  const pid_t child = fork();
  if (child == 0) {
    const auto taken = socket_claim::take(path_);
    listen_on(path_);
    _exit(taken ? 0 : 1);  // without destructors, as after kill -9
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_TRUE(fs::exists(path_));
  ASSERT_TRUE(fs::exists(path_ + ".lock"));
  const auto taken = socket_claim::take(path_);
  ASSERT_TRUE(taken) << taken.error().message();
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(claim, a_stranger_who_listens_is_left_alone) {
  const int fd = listen_on(path_);
  const auto taken = socket_claim::take(path_);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, errc::busy);
  EXPECT_TRUE(fs::exists(path_));
  EXPECT_FALSE(fs::exists(path_ + ".lock"));
  close(fd);
}

TEST_F(claim, a_file_in_the_way_is_not_removed) {
  std::ofstream(path_) << "precious";
  const auto taken = socket_claim::take(path_);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, errc::invalid);
  EXPECT_EQ(fs::file_size(path_), 8u);
}

TEST_F(claim, a_path_too_long_is_refused) {
  EXPECT_EQ(socket_claim::take("/tmp/" + std::string(103, 'x')).error().code, errc::invalid);
  EXPECT_EQ(socket_claim::take("").error().code, errc::invalid);
}

}  // namespace
}  // namespace coua::ctl
