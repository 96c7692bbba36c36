// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coua/v1/bridge.grpc.pb.h"
#include "ctl/api/core.h"

namespace coua::ctl {

class bridge_service final : public v1::BridgeService::CallbackService {
 public:
  explicit bridge_service(api_core& core) : core_(core) {}

  grpc::ServerUnaryReactor* ListBridges(grpc::CallbackServerContext*, const v1::ListBridgesRequest*,
                                        v1::ListBridgesResponse*) override;
  grpc::ServerUnaryReactor* AddBridge(grpc::CallbackServerContext*, const v1::AddBridgeRequest*,
                                      v1::AddBridgeResponse*) override;
  grpc::ServerUnaryReactor* RemoveBridge(grpc::CallbackServerContext*,
                                         const v1::RemoveBridgeRequest*,
                                         v1::RemoveBridgeResponse*) override;

 private:
  result<void> list(const v1::ListBridgesRequest& request, v1::ListBridgesResponse& response);
  result<void> add(const v1::AddBridgeRequest& request, v1::AddBridgeResponse& response);
  result<void> remove(const v1::RemoveBridgeRequest& request, v1::RemoveBridgeResponse& response);
  void fill(const bridge_settings& settings, const held_bridge& bridge, v1::Bridge& out) const;

  api_core& core_;
};

}  // namespace coua::ctl
