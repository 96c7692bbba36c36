// SPDX-License-Identifier: Apache-2.0
//
// Lines that are typed at a terminal: edited, repeated, completed. By libedit.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/complete.h"

namespace coua::cli {

/// What may follow; `words` as complete() takes them.
using completer_of_words = std::function<completion(const std::vector<std::string>& words)>;

class line_editor {
 public:
  /// `prompt` outlives it, as does what `complete` refers to. `history`: the oldest line first.
  line_editor(const char* prompt, const std::vector<std::string>& history,
              completer_of_words complete);
  ~line_editor();
  line_editor(const line_editor&) = delete;
  line_editor& operator=(const line_editor&) = delete;

  /// A line without its end and blanks before that; empty also after Ctrl-C. Nothing: the end of
  /// the input (Ctrl-D).
  std::optional<std::string> read();
  void remember(const std::string& line);

  struct state;

 private:
  std::unique_ptr<state> state_;
};

/// How a begun line goes on: what takes the place of its last `n_replaced` characters, and the
/// candidates to show where there is nothing to add.
struct continuation {
  std::size_t n_replaced = 0;  // as a terminal counts them, not bytes
  std::string text = {};       // empty: nothing
  std::vector<candidate> shown = {};
};
continuation continue_line(const std::string& line, const completer_of_words& complete);

}  // namespace coua::cli
