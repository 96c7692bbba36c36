// SPDX-License-Identifier: Apache-2.0
//
// What is looked at in a text before libopenvswitch parses it. Its parsers are made for a program
// that runs once: some actions can drive them into an assertion, and some errors leave memory
// behind. So actions that the switch does not have never reach them, nor do lists so long that a
// length would not fit into 16 bits.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace coua::ofp {

/// The text as the library wants it. Errors: invalid, when it is too long or not a text.
result<std::string> checked_text(std::string_view text);
/// "output:1,write_actions(group:2),goto_table:3". Errors: unsupported, invalid.
result<void> check_actions(std::string text);
/// Of a group: "weight:1,watch_port:2,actions=output:1"
result<void> check_bucket(std::string text);

/// The error that the library allocated; `said` is freed.
error library_error(char* said);

}  // namespace coua::ofp
