// SPDX-License-Identifier: Apache-2.0
//
// The API over its socket, before a switch in memory. What a hostile or broken client sends must
// end in an error that names the field, and never hold up the others or the end of the server.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "coua/v1/bridge.grpc.pb.h"
#include "coua/v1/capture.grpc.pb.h"
#include "coua/v1/common.pb.h"
#include "coua/v1/config.grpc.pb.h"
#include "coua/v1/fib.grpc.pb.h"
#include "coua/v1/flow.grpc.pb.h"
#include "coua/v1/port.grpc.pb.h"
#include "coua/v1/system.grpc.pb.h"
#include "ctl/api_server.h"
#include "ctl/fake_bridges.h"
#include "ctl/fake_controllers.h"
#include "ctl/fake_pipeline.h"
#include "ctl/fake_switch.h"
#include "ctl/running_config.h"

namespace coua::ctl {

constexpr std::uint64_t vlan10 = std::uint64_t{10} << 48;
constexpr std::uint64_t mac1 = 0x020000000001;

class api : public testing::Test {
 protected:
  api();
  void SetUp() override { start({}); }
  void start(api_params params);
  void restart(api_params params);

  /// Beside br0.
  void add_bridge(const std::string& name);
  /// p0 and p1, in VLAN 10.
  void add_ports();
  /// Learned entries from mac1 on, at p0 and p1 by turns.
  void fill(std::uint64_t n);

  /// The error of a call: its status and the detail in the trailer must say the same.
  static v1::Error detail(const grpc::Status& status, const grpc::ClientContext& context);

  /// Calls, expects a refusal of this status, and returns where it was.
  template <typename Stub, typename Request, typename Response>
  std::string refused(Stub& stub,
                      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                      const Request& request, grpc::StatusCode code) {
    grpc::ClientContext context;
    Response response;
    const grpc::Status status = (stub.*method)(&context, request, &response);
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    return status.ok() ? "" : detail(status, context).where();
  }

  template <typename Stub, typename Request, typename Response>
  Response good(Stub& stub,
                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                const Request& request) {
    grpc::ClientContext context;
    Response response;
    const grpc::Status status = (stub.*method)(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  const std::string path_;
  fake_switch sw_;
  fake_pipeline pipeline_;  // of br0
  fake_controllers controllers_;
  running_bridges bridges_{sw_};
  fake_bridges fakes_{bridges_};
  running_config running_;
  std::unique_ptr<api_server> server_;
  std::unique_ptr<v1::ConfigService::Stub> config_;
  std::unique_ptr<v1::BridgeService::Stub> bridge_;
  std::unique_ptr<v1::PortService::Stub> ports_;
  std::unique_ptr<v1::FibService::Stub> fib_;
  std::unique_ptr<v1::FlowService::Stub> flows_;
  std::unique_ptr<v1::SystemService::Stub> system_;
  std::unique_ptr<v1::CaptureService::Stub> captures_;
};

}  // namespace coua::ctl
