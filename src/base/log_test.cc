// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace coua {
namespace {

/// Sends stderr to a file while it lives.
class captured_stderr {
 public:
  captured_stderr() : file_(std::tmpfile()), saved_(dup(STDERR_FILENO)) {
    dup2(fileno(file_), STDERR_FILENO);
  }
  ~captured_stderr() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    std::fclose(file_);
  }
  std::string text() const {
    std::string content;
    std::rewind(file_);
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) {
      content += static_cast<char>(c);
    }
    return content;
  }

 private:
  std::FILE* file_;
  int saved_;
};

TEST(log, writes_time_level_and_text) {
  captured_stderr captured;
  log_warning("port %s: %d%%", "p0", 42);
  std::string text = captured.text();
  EXPECT_NE(text.find("port p0: 42%"), std::string::npos) << text;
  for (char& c : text) {
    if (c >= '0' && c <= '9') c = '9';
  }
  EXPECT_EQ(text, "9999-99-99T99:99:99.999Z warning: port p9: 99%\n");
}

TEST(log, drops_what_is_above_the_level) {
  captured_stderr captured;
  log_debug("not at start");
  set_log_level(log_level::error);
  log_warning("not this");
  log(log_level::error, "but this");
  set_log_level(log_level::debug);
  log_debug("and this");
  set_log_level(log_level::info);
  const std::string text = captured.text();
  EXPECT_EQ(text.find("not"), std::string::npos) << text;
  EXPECT_NE(text.find("error: but this\n"), std::string::npos) << text;
  EXPECT_NE(text.find("debug: and this\n"), std::string::npos) << text;
}

TEST(log, text_from_outside_cannot_forge_a_line) {
  captured_stderr captured;
  log_info("name '%s'", "a\n<3>b\x1b[31m\x7f");
  const std::string text = captured.text();
  EXPECT_NE(text.find("name 'a <3>b [31m '\n"), std::string::npos) << text;
}

TEST(log, long_and_empty_lines_are_whole_and_errno_survives) {
  captured_stderr captured;
  errno = ENOENT;
  log_info("%s", std::string(100'000, 'x').c_str());
  EXPECT_EQ(errno, ENOENT);
  log_info("%m");
  log_info("%s", "");
  const std::string text = captured.text();
  EXPECT_NE(text.find("info: " + std::string(100'000, 'x') + "\n"), std::string::npos);
  EXPECT_NE(text.find("info: No such file or directory\n"), std::string::npos);
  EXPECT_NE(text.find("info: \n"), std::string::npos);
}

TEST(log, lines_of_several_threads_do_not_mix) {
  captured_stderr captured;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      const std::string word(200, static_cast<char>('a' + t));
      for (int i = 0; i < 200; ++i) log_info("%s", word.c_str());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::istringstream lines(captured.text());
  int n = 0;
  for (std::string line; std::getline(lines, line); ++n) {
    ASSERT_GE(line.size(), 200U);
    const std::string word = line.substr(line.size() - 200);
    EXPECT_EQ(word, std::string(200, word[0]));
    EXPECT_EQ(line[line.size() - 201], ' ') << line;
  }
  EXPECT_EQ(n, 800);
}

TEST(log, words_and_levels_match) {
  for (const log_level level :
       {log_level::error, log_level::warning, log_level::info, log_level::debug}) {
    log_level parsed{};
    EXPECT_TRUE(parse_log_level(to_string(level), parsed));
    EXPECT_EQ(parsed, level);
  }
  log_level untouched = log_level::debug;
  EXPECT_FALSE(parse_log_level("trace", untouched));
  EXPECT_EQ(untouched, log_level::debug);
}

std::string stderr_identity() {
  struct stat status {};
  fstat(STDERR_FILENO, &status);
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

TEST(log_death, speaks_to_the_journal_only_when_stderr_is_the_journal) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("JOURNAL_STREAM", stderr_identity().c_str(), 1);
        log_error("one");
        log_info("two");
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^<3>one\n<6>two\n$");
  EXPECT_EXIT(
      {
        setenv("JOURNAL_STREAM", "1:2", 1);
        log_error("one");
        std::exit(0);
      },
      testing::ExitedWithCode(0), "Z error: one\n$");
}

}  // namespace
}  // namespace coua
