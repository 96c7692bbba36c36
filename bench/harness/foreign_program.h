// SPDX-License-Identifier: Apache-2.0
//
// Programs of others: those that answer and end, and those that run beside us.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace coua::bench {

using word_list = std::vector<std::string>;

/// Where in $PATH a program is; empty: nowhere.
std::string find_program(const std::string& name);

/// Runs it to its end; what it printed. `environment` are settings ("NAME=value") besides ours.
/// Errors: io (its status and the end of what it printed, or that it took longer than `seconds`).
result<std::string> run_program(const word_list& words, const word_list& environment,
                                double seconds);

/// Runs until this, or this process, goes, and is then killed; when a signal ends us, before that.
class foreign_program {
 public:
  /// Errors: io. What it prints is lost.
  static result<std::unique_ptr<foreign_program>> start(const word_list& words,
                                                        const word_list& environment);
  /// One that was started otherwise, and noted in `leftovers`.
  explicit foreign_program(pid_t process) : process_(process) {}
  ~foreign_program();
  foreign_program(const foreign_program&) = delete;
  foreign_program& operator=(const foreign_program&) = delete;

  pid_t process() const { return process_; }  // -1: it has ended
  bool has_ended();
  /// Stops it where it is, and waits until it is.
  void pause();
  void go_on();

 private:
  pid_t process_;
};

}  // namespace coua::bench
