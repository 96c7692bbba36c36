// SPDX-License-Identifier: Apache-2.0
//
// The terminal as a page of lines that is drawn over again, and keys that come one by one.
//
// The few sequences that this takes (ECMA-48: cursor home, clear to the end, attributes; and the
// second page that xterm brought) are the same in every terminal of today, the Linux console and
// tmux included, so no library of terminals is asked.
#pragma once

#include <termios.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/interruption.h"

namespace coua::cli {

struct terminal_size {
  std::size_t columns = 80, lines = 24;
  bool operator==(const terminal_size&) const = default;
};

/// From create() to its end the standard input gives keys at once, unseen, and the output shows a
/// page of its own; after it all is as before.
class terminal {
 public:
  /// Errors: unsupported (no terminal, or one that cannot move its cursor).
  static result<terminal> create();
  terminal(terminal&& other) noexcept;
  terminal& operator=(terminal&&) = delete;
  ~terminal();

  static terminal_size size();
  /// The first `n_bright` lines are shown in reverse. No more lines than there are.
  result<void> draw(interruption& stop, const std::vector<std::string>& lines,
                    std::size_t n_bright);
  /// A key, or 0: none came within that time, or it is time to stop.
  static int key(const interruption& stop, int wait_ms);

 private:
  explicit terminal(const termios& before) : before_(before) {}
  termios before_;
  bool owns_ = true;
};

}  // namespace coua::cli
