// SPDX-License-Identifier: Apache-2.0
//
// What may follow on a command line that is being typed, by the same table that parses it.
//
//   coua port set <TAB>            the names of the ports
//   coua port set p0 --e<TAB>      --enabled
//   coua port set p0 --enabled <TAB>  on off
//
// A shell asks `coua complete -- WORD...` at each TAB; its script (script_of) only shows the
// answer.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/grammar.h"

namespace coua::cli {

/// A whole word that may stand where the cursor is; what it means, or nothing.
struct candidate {
  std::string word, help = {};
  bool operator==(const candidate&) const = default;
};

struct completion {
  std::vector<candidate> words;
  bool files = false;  // the names of files, too
};

/// Names of things that only the daemon knows. `options`: what was given so far, by name
/// ("socket"). Empty where it does not answer.
using name_source = std::function<std::vector<std::string>(
    thing what, const std::map<std::string, std::string>& options)>;

/// `words`: those after the command's name, the last one begun, perhaps still empty. Words that no
/// verb has lead to no answer.
completion complete(const command& command, const std::vector<std::string>& words,
                    const name_source& names);

/// A script for "bash" or "zsh" that completes this command; empty for another shell.
std::string script_of(const command& command, std::string_view shell);

}  // namespace coua::cli
