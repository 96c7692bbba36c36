// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coua/v1/system.grpc.pb.h"
#include "ctl/api/core.h"

namespace coua::ctl {

class system_service final : public v1::SystemService::CallbackService {
 public:
  explicit system_service(api_core& core) : core_(core) {}

  grpc::ServerUnaryReactor* GetVersion(grpc::CallbackServerContext*, const v1::GetVersionRequest*,
                                       v1::GetVersionResponse*) override;
  grpc::ServerUnaryReactor* ListVlans(grpc::CallbackServerContext*, const v1::ListVlansRequest*,
                                      v1::ListVlansResponse*) override;
  grpc::ServerUnaryReactor* ListWorkers(grpc::CallbackServerContext*, const v1::ListWorkersRequest*,
                                        v1::ListWorkersResponse*) override;
  grpc::ServerUnaryReactor* GetStats(grpc::CallbackServerContext*, const v1::GetStatsRequest*,
                                     v1::GetStatsResponse*) override;
  grpc::ServerUnaryReactor* ListControllers(grpc::CallbackServerContext*,
                                            const v1::ListControllersRequest*,
                                            v1::ListControllersResponse*) override;
  grpc::ServerUnaryReactor* SetLogLevel(grpc::CallbackServerContext*, const v1::SetLogLevelRequest*,
                                        v1::SetLogLevelResponse*) override;

 private:
  result<void> list_vlans(const v1::ListVlansRequest& request, v1::ListVlansResponse& response);
  result<void> list_controllers(const v1::ListControllersRequest& request,
                                v1::ListControllersResponse& response);
  result<void> set_log_level(const v1::SetLogLevelRequest& request,
                             v1::SetLogLevelResponse& response);

  api_core& core_;
};

}  // namespace coua::ctl
