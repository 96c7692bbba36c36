// SPDX-License-Identifier: Apache-2.0
//
// What is looked at in a text before libopenvswitch parses it. Its parsers are made for a program
// that runs once: some actions can drive them into an assertion, and some errors leave memory
// behind. So actions that the switch does not have never reach them, nor do lists so long that a
// length would not fit into 16 bits. Nor does what they would take for something else: a value that
// does not fit (value_check.h), a bracket that is not closed, a word that has no value or too many.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "pipeline/model/rule.h"

namespace coua::ofp {

/// Without the blanks around it.
std::string_view trimmed(std::string_view text);
/// The text as the library wants it. Errors: invalid, when it is too long or not a text.
result<std::string> checked_text(std::string_view text);
/// "table=1,tcp,tp_dst=80", without actions; tables up to `table_last`. Errors: invalid.
result<void> check_match(std::string text, pipeline::table_id table_last);
/// "output:1,write_actions(group:2),goto_table:3". Errors: unsupported, invalid.
result<void> check_actions(std::string text);
/// Of a group: "weight:1,watch_port:2,actions=output:1"
result<void> check_bucket(std::string text);
/// "meter=1,kbps,bands=type=drop,rate=1000"
result<void> check_meter(std::string_view text);

/// The error that the library allocated; `said` is freed.
error library_error(char* said);

}  // namespace coua::ofp
