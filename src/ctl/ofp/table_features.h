// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ctl/ofp/reply.h"
#include "ctl/ofp/wire_message.h"

namespace coua::ofp {

/// All tables can do the same: match every field, with masks where the field may have one, and do
/// every instruction and action.
ofputil_table_features features_of(const table_facts& one);

}  // namespace coua::ofp
