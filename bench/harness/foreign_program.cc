// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/foreign_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/clock.h"
#include "bench/harness/leftovers.h"

namespace coua::bench {
namespace {

constexpr std::size_t shown_of_output = 300;

std::vector<char*> pointers(const word_list& words) {
  std::vector<char*> made;
  for (const std::string& word : words) made.push_back(const_cast<char*>(word.c_str()));
  made.push_back(nullptr);
  return made;
}

/// These settings, and of ours those that have other names: of two with one name, some take the
/// first, and some, as LD_PRELOAD, the last.
word_list with_ours(const word_list& given) {
  word_list all = given;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view ours = *each;
    const auto name = ours.substr(0, ours.find('=') + 1);
    const auto has_name = [name](const std::string& one) { return one.starts_with(name); };
    if (std::ranges::none_of(given, has_name)) all.emplace_back(ours);
  }
  return all;
}

/// In a process group of its own: Ctrl-C is for us.
result<pid_t> spawn(const word_list& words, const word_list& environment, int output) {
  word_list settings = with_ours(environment);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (output >= 0) {
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  sigset_t none;
  sigemptyset(&none);  // we hold some back for ourselves
  posix_spawnattr_setsigmask(&attributes, &none);
  pid_t process = -1;
  const leftovers::locked now;
  const int code = posix_spawnp(&process, words[0].c_str(), &files, &attributes,
                                pointers(words).data(), pointers(settings).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (code != 0) return fail(errc::io, words[0], std::strerror(code));
  now->programs.insert(process);
  return process;
}

/// Whether it ended well.
bool has_succeeded(pid_t process) {
  siginfo_t ended;
  waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOWAIT);
  const leftovers::locked now;
  int status = 0;
  return now->wait_for(process, status, 0) == process && status == 0;
}

/// Until all that may write have closed it.
bool read_all(int from, std::uint64_t deadline, std::string& text) {
  std::array<char, 4096> buffer;
  while (now_ns() < deadline) {
    pollfd waiting = {from, POLLIN, 0};
    if (poll(&waiting, 1, 100) <= 0) continue;
    const ssize_t count = read(from, buffer.data(), buffer.size());
    if (count <= 0) return true;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return false;
}

}  // namespace

std::string find_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  // Daemons lie where an ordinary user does not look.
  std::string rest = std::string(path == nullptr ? "" : path) + ":/usr/sbin:/sbin";
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string place = rest.substr(0, colon) + "/" + name;
    if (access(place.c_str(), X_OK) == 0) return place;
    rest.erase(0, colon + 1);
  }
  return "";
}

result<std::string> run_program(const word_list& words, const word_list& environment,
                                double seconds) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return fail(errc::io, words[0], std::strerror(errno));
  const auto process = spawn(words, environment, ends[1]);
  close(ends[1]);
  std::string text;
  const bool whole =
      process && read_all(ends[0], now_ns() + static_cast<std::uint64_t>(seconds * 1e9), text);
  close(ends[0]);
  if (!process) return tl::unexpected(process.error());
  const std::string said = text.substr(text.size() - std::min(text.size(), shown_of_output));
  if (!whole) {
    const leftovers::locked now;
    now->end(*process);
    return fail(errc::io, words[0], "does not end; it said: " + said);
  }
  if (!has_succeeded(*process)) return fail(errc::io, words[0], "failed: " + said);
  return text;
}

result<std::unique_ptr<foreign_program>> foreign_program::start(const word_list& words,
                                                                const word_list& environment) {
  // Our death is its own, also where nothing of ours can be done about it any more.
  word_list mortal = {"setpriv", "--pdeathsig", "KILL"};
  mortal.insert(mortal.end(), words.begin(), words.end());
  const auto process = spawn(mortal, environment, -1);
  if (!process) return tl::unexpected(process.error());
  return std::unique_ptr<foreign_program>(new foreign_program(*process));
}

foreign_program::~foreign_program() {
  if (process_ <= 0) return;
  const leftovers::locked now;
  now->end(process_);
}

bool foreign_program::has_ended() {
  if (process_ <= 0) return true;
  const leftovers::locked now;
  int status = 0;
  if (now->wait_for(process_, status, WNOHANG) == process_) process_ = -1;
  return process_ < 0;
}

void foreign_program::pause() {
  if (process_ <= 0) return;
  const leftovers::locked now;
  kill(process_, SIGSTOP);
  int status = 0;
  if (now->wait_for(process_, status, WUNTRACED) == process_ && !WIFSTOPPED(status)) process_ = -1;
}

void foreign_program::go_on() {
  if (process_ <= 0) return;
  const leftovers::locked now;
  kill(process_, SIGCONT);
}

}  // namespace coua::bench
