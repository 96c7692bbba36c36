// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coua/v1/flow.grpc.pb.h"
#include "ctl/api/core.h"
#include "ctl/api/stream_slots.h"

namespace coua::ctl {

class flow_service final : public v1::FlowService::CallbackService {
 public:
  explicit flow_service(api_core& core) : core_(core), dumps_(core.params.dumps) {}

  grpc::ServerReadReactor<v1::ApplyFlowsRequest>* ApplyFlows(grpc::CallbackServerContext*,
                                                             v1::ApplyFlowsResponse*) override;
  grpc::ServerWriteReactor<v1::FlowBatch>* DumpFlows(grpc::CallbackServerContext*,
                                                     const v1::DumpFlowsRequest*) override;
  grpc::ServerWriteReactor<v1::GroupBatch>* DumpGroups(grpc::CallbackServerContext*,
                                                       const v1::DumpGroupsRequest*) override;
  grpc::ServerWriteReactor<v1::MeterBatch>* DumpMeters(grpc::CallbackServerContext*,
                                                       const v1::DumpMetersRequest*) override;
  grpc::ServerUnaryReactor* GetFlowStats(grpc::CallbackServerContext*,
                                         const v1::GetFlowStatsRequest*,
                                         v1::GetFlowStatsResponse*) override;

  grpc::ServerUnaryReactor* TracePacket(grpc::CallbackServerContext*, const v1::TracePacketRequest*,
                                        v1::TracePacketResponse*) override;
  grpc::ServerUnaryReactor* ExplainBridge(grpc::CallbackServerContext*,
                                          const v1::ExplainBridgeRequest*,
                                          v1::ExplainBridgeResponse*) override;

 private:
  api_core& core_;
  stream_slots dumps_;
};

}  // namespace coua::ctl
