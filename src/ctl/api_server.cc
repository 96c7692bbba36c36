// SPDX-License-Identifier: Apache-2.0
#include "ctl/api_server.h"

#include <sys/stat.h>
#include <unistd.h>

#include "ctl/api/core.h"
#include "ctl/api/fib_service.h"
#include "ctl/api/port_service.h"
#include "ctl/api/system_service.h"

namespace coua::ctl {
namespace {

constexpr std::chrono::milliseconds stop_patience{1000};
constexpr int calls_per_client = 256;

}  // namespace

struct api_server::parts {
  parts(dp::l2_switch& sw, socket_claim&& c, const api_params& p)
      : claim(std::move(c)), core(sw, p), ports(core), fib(core), system(core) {}

  socket_claim claim;
  api_core core;
  port_service ports;
  fib_service fib;
  system_service system;
  std::unique_ptr<grpc::Server> server;
};

result<std::unique_ptr<api_server>> api_server::create(dp::l2_switch& sw, socket_claim claim,
                                                       const api_params& params) {
  auto p = std::make_unique<parts>(sw, std::move(claim), params);
  const std::string& path = p->claim.path();
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + path, grpc::InsecureServerCredentials());
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, calls_per_client);
  builder.RegisterService(&p->ports);
  builder.RegisterService(&p->fib);
  builder.RegisterService(&p->system);
  // Nobody else may connect before the mode of the socket is set.
  const mode_t before = umask(0177);
  p->server = builder.BuildAndStart();
  umask(before);
  if (!p->server) return fail(errc::io, path, "cannot listen there");
  if (geteuid() == 0) chmod(path.c_str(), 0660);
  return std::unique_ptr<api_server>(new api_server(std::move(p)));
}

api_server::api_server(std::unique_ptr<parts> parts) : parts_(std::move(parts)) {}

api_server::~api_server() {
  parts_->core.stopping = true;
  parts_->server->Shutdown(std::chrono::system_clock::now() + stop_patience);
  parts_->server->Wait();
}

const std::string& api_server::path() const { return parts_->claim.path(); }

}  // namespace coua::ctl
