// SPDX-License-Identifier: Apache-2.0
//
// Whether what an action says fits it, as value_check.h has it for single values.
#pragma once

#include <string_view>

#include "base/result.h"

namespace coua::ofp {

/// Of "mod_vlan_vid:7" or "load(5->reg0[])": the name and the rest. Errors: invalid.
result<void> check_action_value(const char* name, std::string_view value);

}  // namespace coua::ofp
