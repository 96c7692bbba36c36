// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ctl/ofp/ovs.h"
#include "ctl/ofp/reply.h"

namespace coua::ofp {

/// A port that has no number in the library's range is told as ANY; there is none.
ofputil_phy_port to_ovs(const port_facts& ours);

}  // namespace coua::ofp
