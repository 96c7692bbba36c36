// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coua/v1/port.grpc.pb.h"
#include "ctl/api/core.h"

namespace coua::ctl {

class port_service final : public v1::PortService::CallbackService {
 public:
  explicit port_service(api_core& core) : core_(core) {}

  grpc::ServerUnaryReactor* ListPorts(grpc::CallbackServerContext*, const v1::ListPortsRequest*,
                                      v1::ListPortsResponse*) override;
  grpc::ServerUnaryReactor* GetPort(grpc::CallbackServerContext*, const v1::GetPortRequest*,
                                    v1::GetPortResponse*) override;
  grpc::ServerUnaryReactor* AddPort(grpc::CallbackServerContext*, const v1::AddPortRequest*,
                                    v1::AddPortResponse*) override;
  grpc::ServerUnaryReactor* RemovePort(grpc::CallbackServerContext*, const v1::RemovePortRequest*,
                                       v1::RemovePortResponse*) override;
  grpc::ServerUnaryReactor* SetPort(grpc::CallbackServerContext*, const v1::SetPortRequest*,
                                    v1::SetPortResponse*) override;

 private:
  result<dp::port_status> find(const std::string& name) const;
  result<void> add(const v1::AddPortRequest& request, v1::AddPortResponse& response);
  result<void> remove(const v1::RemovePortRequest& request, v1::RemovePortResponse& response);
  result<void> set(const v1::SetPortRequest& request, v1::SetPortResponse& response);

  api_core& core_;
};

}  // namespace coua::ctl
