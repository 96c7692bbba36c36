// SPDX-License-Identifier: Apache-2.0
//
// Rule sets as text, one line for each rule, the first with the highest priority.
#pragma once

#include <string>

#include "bench/rules/rule_set.h"

namespace coua::bench {

/// In the format of ClassBench: @SOURCE DESTINATION LOW : HIGH LOW : HIGH PROTOCOL/MASK FLAGS/MASK,
/// with tabs between them. No rule looks at TCP flags.
std::string to_text(const five_tuple_set&);

/// "priority=N" and what is matched, in the words of ovs-ofctl, with ", " between them.
std::string to_text(const wide_set&);

}  // namespace coua::bench
