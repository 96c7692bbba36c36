// SPDX-License-Identifier: Apache-2.0
//
// Between the messages of the flow API and the pipeline.
#pragma once

#include "coua/v1/flow.pb.h"
#include "ctl/api/core.h"
#include "ctl/pipeline_control.h"

namespace coua::ctl {

/// Errors: invalid.
result<ofp::line_defaults> to_line_defaults(const v1::ApplyFlowsRequest& request);

void to_message(const rule_record& one, pipeline::time_ns now, const ofp::port_names& names,
                v1::Flow& out);
void to_message(const group_record& one, pipeline::time_ns now, const ofp::port_names& names,
                v1::Group& out);
void to_message(const meter_record& one, pipeline::time_ns now, v1::Meter& out);
void to_message(const pipeline_status& status, v1::GetFlowStatsResponse& out);

}  // namespace coua::ctl
