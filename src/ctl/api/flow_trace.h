// SPDX-License-Identifier: Apache-2.0
//
// What the pipeline would do with a packet, and how its tables are served, as messages.
#pragma once

#include "ctl/api/flow_convert.h"

namespace coua::ctl {

/// Errors: not_found (the bridge), invalid (the packet; which bridge).
result<void> trace_packet(const api_core& core, const v1::TracePacketRequest& asked,
                          v1::TracePacketResponse& out);
/// Errors: not_found, invalid (which bridge).
result<void> explain_bridge(const api_core& core, const v1::ExplainBridgeRequest& asked,
                            v1::ExplainBridgeResponse& out);

}  // namespace coua::ctl
