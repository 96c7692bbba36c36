// SPDX-License-Identifier: Apache-2.0
//
// The words of a line that someone typed, as a shell splits them:
//
//   port set p0 --mtu 1500      blanks part words
//   'a b' "a b" a\ b            hold one together; in "..." a backslash escapes " and \ only
//   # a comment                 to the end of the line, where a word could begin
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace coua::cli {

/// Errors: invalid (a quotation or an escape without its end).
result<std::vector<std::string>> split_words(std::string_view line);

/// A line up to the cursor.
struct begun_line {
  std::vector<std::string> words;  // the last one is begun, perhaps still empty
  std::size_t start = 0;           // of the last one in the line, with its quotation mark
  bool in_comment = false;
};
begun_line split_begun(std::string_view line);

/// The word in a form that split_words reads back: as it is, where that will do.
std::string quoted_word(std::string_view word);

/// The word for a command that someone copies into a shell: as it is, where it has letters, digits,
/// '.', '_' and '-' only.
std::string shell_word(std::string_view word);

}  // namespace coua::cli
