// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/test_api.h"

#include <unistd.h>

#include "base/socket_uri.h"

namespace coua::ctl {
namespace {

std::string fresh_socket() {
  static int number = 0;
  return "/tmp/coua-api-" + std::to_string(getpid()) + "-" + std::to_string(number++) + ".sock";
}

config started() {
  config made;
  made.file = "f.yaml";
  return made;
}

}  // namespace

api::api() : path_(fresh_socket()), running_(sw_, bridges_, started()) {
  fakes_.give("br0", pipeline_);
  fakes_.give("br0", controllers_);
  EXPECT_TRUE(running_.start_bridges(started()));
}

void api::start(api_params params) {
  params.version = "1.2.3";
  auto claim = socket_claim::take(path_);
  ASSERT_TRUE(claim) << claim.error().message();
  auto created = api_server::create(sw_, running_, std::move(*claim), params);
  ASSERT_TRUE(created) << created.error().message();
  server_ = std::move(*created);
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // not the connection of a test before
  const auto channel =
      grpc::CreateCustomChannel(socket_uri(path_), grpc::InsecureChannelCredentials(), arguments);
  config_ = v1::ConfigService::NewStub(channel);
  bridge_ = v1::BridgeService::NewStub(channel);
  ports_ = v1::PortService::NewStub(channel);
  fib_ = v1::FibService::NewStub(channel);
  flows_ = v1::FlowService::NewStub(channel);
  system_ = v1::SystemService::NewStub(channel);
  captures_ = v1::CaptureService::NewStub(channel);
}

void api::restart(api_params params) {
  server_.reset();
  start(params);
}

void api::add_bridge(const std::string& name) {
  bridge_settings made;
  made.name = name;
  ASSERT_TRUE(running_.add_bridge(made));
}

void api::add_ports() {
  for (const char* name : {"p0", "p1"}) {
    dp::port_config port;
    port.name = name;
    port.devargs = std::string("net_null") + name[1];
    port.native_vlan = 10;
    ASSERT_TRUE(sw_.add_port(port));
  }
}

void api::fill(std::uint64_t n) {
  std::vector<dp::fib_entry> entries;
  for (std::uint64_t i = 0; i < n; i++)
    entries.push_back({10, mac1 + i, static_cast<unsigned>(i % 2), false, 7});
  ASSERT_TRUE(sw_.fib_insert(entries));
}

v1::Error api::detail(const grpc::Status& status, const grpc::ClientContext& context) {
  v1::Error error;
  const auto& trailer = context.GetServerTrailingMetadata();
  const auto found = trailer.find("coua-error-bin");
  if (found == trailer.end()) {
    ADD_FAILURE() << "no detail with: " << status.error_message();
    return error;
  }
  EXPECT_TRUE(error.ParseFromArray(found->second.data(), static_cast<int>(found->second.size())));
  EXPECT_EQ(status.error_message(), error.where() + ": " + error.what());
  return error;
}

}  // namespace coua::ctl
