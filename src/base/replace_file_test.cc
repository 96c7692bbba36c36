// SPDX-License-Identifier: Apache-2.0
#include "base/replace_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {
int umask_calls = 0;
}  // namespace

/// Instead of the C library's, to know who calls it.
extern "C" mode_t umask(mode_t mask) noexcept {
  ++umask_calls;
  return static_cast<mode_t>(syscall(SYS_umask, mask));
}

namespace coua {
namespace {

namespace fs = std::filesystem;

class replace : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("coua-replace-" + std::to_string(getpid()));
    fs::create_directories(directory_);
    path_ = directory_ / "f.yaml";
  }
  void TearDown() override { fs::remove_all(directory_); }

  static std::string read(const fs::path& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_), {}));
  }

  fs::path directory_, path_;
};

TEST_F(replace, makes_a_file_with_the_mode_of_the_umask) {
  const mode_t before = umask(0027);
  ASSERT_TRUE(replace_file(path_, "new\n"));
  umask(before);
  EXPECT_EQ(read(path_), "new\n");
  struct stat now {};
  ASSERT_EQ(stat(path_.c_str(), &now), 0);
  EXPECT_EQ(now.st_mode & 07777, 0640u);
  EXPECT_EQ(files(), 1u);
}

TEST_F(replace, leaves_the_umask_alone) {
  umask_calls = 0;  // even for a moment it would be that of all threads
  ASSERT_TRUE(replace_file(path_, "new"));
  ASSERT_TRUE(replace_file(path_, "newer"));
  EXPECT_EQ(umask_calls, 0);
}

TEST_F(replace, a_secret_is_for_its_owner) {
  const mode_t before = umask(0700);
  const auto made = replace_file(path_, "key", file_mode::owner_alone);
  umask(before);
  ASSERT_TRUE(made);
  struct stat now {};
  ASSERT_EQ(stat(path_.c_str(), &now), 0);
  EXPECT_EQ(now.st_mode & 07777, 0600u);
  ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  ASSERT_TRUE(replace_file(path_, "key", file_mode::owner_alone));
  ASSERT_EQ(stat(path_.c_str(), &now), 0);
  EXPECT_EQ(now.st_mode & 07777, 0600u);
}

TEST_F(replace, keeps_mode_and_follows_links) {
  std::ofstream(path_) << "old";
  ASSERT_EQ(chmod(path_.c_str(), 0604), 0);
  const fs::path link = directory_ / "link";
  fs::create_symlink("f.yaml", link);
  ASSERT_TRUE(replace_file(link, "new"));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read(path_), "new");
  struct stat now {};
  ASSERT_EQ(stat(path_.c_str(), &now), 0);
  EXPECT_EQ(now.st_mode & 07777, 0604u);
  EXPECT_EQ(files(), 2u);
}

TEST_F(replace, keeps_the_owner) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  std::ofstream(path_) << "old";
  ASSERT_EQ(chown(path_.c_str(), 12, 34), 0);
  ASSERT_TRUE(replace_file(path_, "new"));
  struct stat now {};
  ASSERT_EQ(stat(path_.c_str(), &now), 0);
  EXPECT_EQ(now.st_uid, 12u);
  EXPECT_EQ(now.st_gid, 34u);
}

TEST_F(replace, an_error_leaves_the_old_file_and_nothing_else) {
  std::ofstream(path_) << "old";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto done = replace_file(path_, std::string(5000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::no_room);
  EXPECT_EQ(done.error().where, path_);
  EXPECT_EQ(read(path_), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(replace, what_is_no_file_is_left_alone) {
  EXPECT_EQ(replace_file(directory_, "x").error().code, errc::invalid);
  EXPECT_EQ(replace_file("/dev/null", "x").error().code, errc::invalid);
  EXPECT_EQ(replace_file(directory_ / "none" / "f", "x").error().code, errc::not_found);
}

}  // namespace
}  // namespace coua
