// SPDX-License-Identifier: Apache-2.0
//
// Lines of verbs, from a terminal or from a file: `coua` without a verb.
#pragma once

#include <optional>

#include "cli/runner.h"

namespace coua::cli {

/// Reads lines at the terminal until Ctrl-D or `exit`; a line that fails ends nothing. `given`: the
/// options that stand for all lines.
int run_shell(runner& lines, const invocation& given);

/// Carries out the lines of the standard input up to the first that fails, and returns its status.
/// Nothing: there was no line but empty ones.
std::optional<int> run_script(runner& lines, const invocation& given, const char* name);

}  // namespace coua::cli
