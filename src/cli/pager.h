// SPDX-License-Identifier: Apache-2.0
//
// Long answers at a terminal, a page at a time, as git shows them.
#pragma once

#include <sys/types.h>

#include <string>

namespace coua::cli {

/// The command of the user: $COUA_PAGER, else $PAGER, else less where it is installed. Empty: none
/// is wanted ("cat" or nothing), or the standard output is no terminal that can show pages.
std::string pager_command();

/// While it lives, the standard output goes to a command of its own. One at a time.
class pager {
 public:
  /// `command` as a shell reads it; empty: everything stays as it is.
  explicit pager(const std::string& command);
  ~pager() { wait(); }
  pager(const pager&) = delete;
  pager& operator=(const pager&) = delete;

  bool runs() const { return child_ > 0; }
  /// From here on the standard output is what it was; waits until its user has left it. False: the
  /// shell could not run the command, and nobody saw what was written. Once; then true.
  bool wait();

 private:
  pid_t child_ = 0;
  int terminal_ = -1;  // what the standard output was
  void (*interrupt_)(int) = nullptr;
  void (*broken_pipe_)(int) = nullptr;
};

}  // namespace coua::cli
