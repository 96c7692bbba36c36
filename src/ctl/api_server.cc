// SPDX-License-Identifier: Apache-2.0
#include "ctl/api_server.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "base/descriptor_limit.h"
#include "base/start_thread.h"
#include "ctl/api/bridge_service.h"
#include "ctl/api/capture_service.h"
#include "ctl/api/config_service.h"
#include "ctl/api/core.h"
#include "ctl/api/fib_service.h"
#include "ctl/api/flow_service.h"
#include "ctl/api/grpc_threads.h"
#include "ctl/api/port_service.h"
#include "ctl/api/system_service.h"
#include "ctl/api_listener.h"

namespace coua::ctl {
namespace {

constexpr std::chrono::milliseconds stop_patience{1000};
constexpr std::chrono::milliseconds break_patience{1500};
constexpr int calls_per_client = 256;

// The last user of gRPC waits for its threads, and one of them may be polling a broken connection
// for ten seconds more. They hold nothing that must be given back, so gRPC stays up.
void keep_grpc_up() {
  static const bool up = [] {
    grpc_init();
    return true;
  }();
  static_cast<void>(up);
}

// gRPC closes a connection only after what it is writing there was taken: a client that has stopped
// reading would hold up the end of the daemon for ever. So its socket is shut down.
void stop_server(grpc::Server& server, const api_listener& connections) {
  std::mutex mutex;
  std::condition_variable changed;
  bool stopped = false;
  auto impatience = start_thread("API", [&] {
    std::unique_lock hold(mutex);
    if (!changed.wait_for(hold, break_patience, [&] { return stopped; }))
      connections.break_connections();
  });
  if (!impatience) connections.break_connections();  // nobody could do it later
  server.Shutdown(std::chrono::system_clock::now() + stop_patience);
  server.Wait();
  {
    const std::lock_guard hold(mutex);
    stopped = true;
  }
  changed.notify_all();
  if (impatience) impatience->join();
}

// Descriptors are for ports and controllers, too.
std::size_t connections_max(const api_params& params) {
  return std::min<std::size_t>(params.connections,
                               std::max<std::size_t>(descriptor_limit() / 4, 1));
}

}  // namespace

struct api_server::parts {
  parts(dp::l2_switch& sw, running_config& running, socket_claim&& c, const api_params& p)
      : claim(std::move(c)),
        core(sw, p, running),
        config(core),
        bridges(core),
        ports(core),
        fib(core),
        flows(core),
        system(core),
        captures(core) {}

  socket_claim claim;
  api_core core;
  config_service config;
  bridge_service bridges;
  port_service ports;
  fib_service fib;
  flow_service flows;
  system_service system;
  capture_service captures;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<api_listener> listener;
};

result<std::unique_ptr<api_server>> api_server::create(dp::l2_switch& sw, running_config& running,
                                                       socket_claim claim,
                                                       const api_params& params) {
  keep_grpc_up();
  if (auto made = make_grpc_threads(); !made) return tl::unexpected(std::move(made.error()));
  std::unique_ptr<parts> p;
  try {
    p = std::make_unique<parts>(sw, running, std::move(claim), params);
  } catch (const std::system_error& why) {
    return tl::unexpected(no_thread("API", why));
  }
  const std::string& path = p->claim.path();
  grpc::ServerBuilder builder;
  p->acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials());
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             static_cast<int>(params.begin.count()));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, calls_per_client);
  builder.RegisterService(&p->config);
  builder.RegisterService(&p->bridges);
  builder.RegisterService(&p->ports);
  builder.RegisterService(&p->fib);
  builder.RegisterService(&p->flows);
  builder.RegisterService(&p->system);
  builder.RegisterService(&p->captures);
  p->server = builder.BuildAndStart();
  if (!p->server) return fail(errc::io, path, "cannot serve there");
  auto listener =
      api_listener::create(path, connections_max(params), [acceptor = p->acceptor.get()](int fd) {
        grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
        connection.fd = fd;
        acceptor->HandleNewConnection(&connection);
      });
  if (!listener) return tl::unexpected(std::move(listener.error()));
  p->listener = std::move(*listener);
  return std::unique_ptr<api_server>(new api_server(std::move(p)));
}

api_server::api_server(std::unique_ptr<parts> parts) : parts_(std::move(parts)) {}

api_server::~api_server() {
  parts_->core.stopping = true;
  parts_->listener->stop();
  stop_server(*parts_->server, *parts_->listener);
}

const std::string& api_server::path() const { return parts_->claim.path(); }

}  // namespace coua::ctl
