// SPDX-License-Identifier: Apache-2.0
//
// The grammar of `couad`.
#pragma once

#include "cli/grammar.h"

namespace coua::cli {

const command& couad_command();

}  // namespace coua::cli
