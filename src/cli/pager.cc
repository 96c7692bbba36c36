// SPDX-License-Identifier: Apache-2.0
#include "cli/pager.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace coua::cli {
namespace {

bool is_installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

/// The shell that runs the command, with `input` as its standard input; 0: there is none.
pid_t start(const std::string& command, int input) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;  // that this process may ignore
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  char shell[] = "sh", option[] = "-c";
  std::string text = command;
  char* const words[] = {shell, option, text.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawn(&child, "/bin/sh", &files, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failed == 0 ? child : 0;
}

}  // namespace

std::string pager_command() {
  const char* kind = std::getenv("TERM");
  if (isatty(STDOUT_FILENO) != 1 || kind == nullptr || std::strcmp(kind, "dumb") == 0) return "";
  const char* chosen = std::getenv("COUA_PAGER");
  if (chosen == nullptr) chosen = std::getenv("PAGER");
  const std::string command = chosen != nullptr ? chosen : is_installed("less") ? "less" : "";
  return command == "cat" ? "" : command;
}

pager::pager(const std::string& command) {
  int ends[2] = {-1, -1};
  if (command.empty() || pipe2(ends, O_CLOEXEC) != 0) return;
  // A page that fits the terminal ends it, and what was shown stays there.
  setenv("LESS", "FRX", 0);
  std::fflush(stdout);
  child_ = start(command, ends[0]);
  close(ends[0]);
  if (child_ > 0) {
    interrupt_ = std::signal(SIGINT, SIG_IGN);  // it is for the pager, and for verbs that take it
    broken_pipe_ = std::signal(SIGPIPE, SIG_IGN);  // its user may leave before the end
    terminal_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    dup2(ends[1], STDOUT_FILENO);
  }
  close(ends[1]);
}

bool pager::wait() {
  if (!runs()) return true;
  std::fflush(stdout);
  dup2(terminal_, STDOUT_FILENO);  // the last one who could write to the pager: it sees the end
  close(terminal_);
  std::clearerr(stdout);
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = 0;
  std::signal(SIGINT, interrupt_);
  std::signal(SIGPIPE, broken_pipe_);
  // So says a shell of a command that it cannot run, or does not find.
  return !WIFEXITED(status) || (WEXITSTATUS(status) != 126 && WEXITSTATUS(status) != 127);
}

}  // namespace coua::cli
