// SPDX-License-Identifier: Apache-2.0
//
// The lines that were typed before: one to a line of a file that only its owner reads. Each is
// added when it is typed, so shells side by side keep each other's, and none is lost with a
// terminal.
#pragma once

#include <string>
#include <vector>

namespace coua::cli {

/// $XDG_STATE_HOME/coua/history, else ~/.local/state/coua/history; empty: neither is known.
std::string history_path();

class history_file {
 public:
  /// `path` empty: nothing is kept.
  explicit history_file(std::string path) : path_(std::move(path)) {}

  /// The newest ones, the oldest of them first. A file that has grown long is made shorter.
  std::vector<std::string> read();
  /// Makes the file, and its folder, where they are not there. What cannot be written is not kept.
  void add(const std::string& line);

 private:
  const std::string path_;
};

}  // namespace coua::cli
