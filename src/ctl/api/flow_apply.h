// SPDX-License-Identifier: Apache-2.0
//
// A bundle of operations from one client. Its texts are collected until the client has sent all,
// then parsed, and done as a whole or not at all.
#pragma once

#include <string>

#include "coua/v1/flow.pb.h"
#include "ctl/api/core.h"
#include "ctl/pipeline_control.h"

namespace coua::ctl {

class flow_apply final : public grpc::ServerReadReactor<v1::ApplyFlowsRequest> {
 public:
  flow_apply(api_core& core, grpc::CallbackServerContext* context,
             v1::ApplyFlowsResponse* response);

  void OnReadDone(bool ok) override;
  void OnDone() override { delete this; }

 private:
  result<void> collect();
  result<void> apply();

  api_core& core_;
  grpc::CallbackServerContext* const context_;
  v1::ApplyFlowsResponse* const response_;
  v1::ApplyFlowsRequest next_;
  v1::ApplyFlowsRequest first_;  // without its text
  bool any_ = false;             // a message came
  bool whole_ = false;           // the last one did
  std::string text_;
};

}  // namespace coua::ctl
