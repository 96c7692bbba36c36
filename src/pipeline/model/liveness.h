// SPDX-License-Identifier: Apache-2.0
//
// What is alive, for fast failover and for select groups with watches (OpenFlow 1.3.5, section
// 5.6.1). A port is, when the switch has it and says so. A bucket is, when it watches nothing, or
// when the port or the group that it watches is. A group is, when one of its buckets is.
#pragma once

#include "pipeline/model/bridge.h"

namespace coua::pipeline {

bool is_live(const bridge& in, const bucket& one);
bool is_live(const bridge& in, const group& one);

}  // namespace coua::pipeline
