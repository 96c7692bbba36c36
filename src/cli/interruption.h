// SPDX-License-Identifier: Apache-2.0
//
// The end of a command that runs until it is told to stop: by Ctrl-C, by SIGTERM, or because who
// reads its output went away.
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <string_view>
#include <thread>

#include "base/result.h"

namespace coua::cli {

/// From here on SIGINT and SIGTERM do not end the process, they call `stop` once, in a thread of
/// this object; SIGPIPE is ignored. A second SIGINT ends the process. One object at a time.
class interruption {
 public:
  /// `to_pager`: a file that a pager reads, else -1. Ctrl-C reaches the pager, too, which may stay
  /// and read no more: from the first signal on what is written there goes nowhere, and no SIGINT
  /// ends the process.
  explicit interruption(std::function<void()> stop, int to_pager = -1);
  ~interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

  /// Also stops when nobody reads `fd` any more, if it is a pipe or a socket.
  void watch(int fd);
  bool is_stopped() const;
  /// Returns when that time has passed, or at a stop: true.
  bool wait(std::chrono::milliseconds time) const;
  /// SIGINT or SIGTERM, or 0: it was another reason, or no stop yet.
  int signal() const;
  /// The same of the last object, also of one that is gone, as no signal that it took is to be
  /// lost. Once: then 0.
  static int take_last();
  /// Readable from the stop on: for poll().
  int fd() const { return wake_[0]; }

  /// Writes all of it. False: nobody reads it any more, or after a stop not for a second. Errors:
  /// io, on `name`.
  result<bool> write(int fd, const char* name, std::string_view bytes);

 private:
  void run();
  bool wait_for_room(int fd) const;

  const std::function<void()> stop_;
  int wake_[2] = {-1, -1};     // written by the handler, never read: it stays readable
  int changed_[2] = {-1, -1};  // something to watch, or the end of this object
  struct sigaction before_[3] = {};
  std::thread thread_;
};

}  // namespace coua::cli
