// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coua/v1/config.grpc.pb.h"
#include "ctl/api/core.h"

namespace coua::ctl {

class config_service final : public v1::ConfigService::CallbackService {
 public:
  explicit config_service(api_core& core) : core_(core) {}

  grpc::ServerUnaryReactor* GetConfig(grpc::CallbackServerContext*, const v1::GetConfigRequest*,
                                      v1::GetConfigResponse*) override;
  grpc::ServerReadReactor<v1::ApplyConfigRequest>* ApplyConfig(grpc::CallbackServerContext*,
                                                               v1::ApplyConfigResponse*) override;

 private:
  result<void> get(const v1::GetConfigRequest& request, v1::GetConfigResponse& response);

  api_core& core_;
};

}  // namespace coua::ctl
