// SPDX-License-Identifier: Apache-2.0
//
// The connection of one command to the daemon.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "coua/v1/capture.grpc.pb.h"
#include "coua/v1/config.grpc.pb.h"
#include "coua/v1/fib.grpc.pb.h"
#include "coua/v1/flow.grpc.pb.h"
#include "coua/v1/port.grpc.pb.h"
#include "coua/v1/system.grpc.pb.h"

namespace coua::cli {

class client {
 public:
  /// Nothing is sent before the first call. `timeout` empty: 30 s for a call, none for a stream.
  client(std::string socket, std::optional<double> timeout);

  /// Tries to connect, and says why not: unavailable.
  result<void> probe() const;

  /// The process that listens there, also when it answers nothing; 0: none, or it is not to be seen
  /// from here.
  unsigned process() const;

  /// One call: `method` of `stub`. An error has the code, place and reason that the daemon gave.
  template <typename Stub, typename Request, typename Response>
  result<Response> call(Stub& stub,
                        grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                     Response*),
                        const Request& request) const {
    grpc::ClientContext context;
    limit(context, std::chrono::duration<double>(30));
    Response response;
    const grpc::Status status = (stub.*method)(&context, request, &response);
    if (!status.ok()) return tl::unexpected(to_error(status, context));
    return response;
  }

  /// Sets the deadline of a stream, where the user gave one.
  void limit(grpc::ClientContext& context,
             std::optional<std::chrono::duration<double>> fallback = std::nullopt) const;
  static error to_error(const grpc::Status& status, const grpc::ClientContext& context);

  const std::string& socket() const { return socket_; }
  v1::ConfigService::Stub& config() { return *config_; }
  v1::PortService::Stub& ports() { return *ports_; }
  v1::FibService::Stub& fib() { return *fib_; }
  v1::FlowService::Stub& flows() { return *flows_; }
  v1::SystemService::Stub& system() { return *system_; }
  v1::CaptureService::Stub& captures() { return *captures_; }

 private:
  const std::string socket_;
  const std::optional<double> timeout_;
  std::unique_ptr<v1::ConfigService::Stub> config_;
  std::unique_ptr<v1::PortService::Stub> ports_;
  std::unique_ptr<v1::FibService::Stub> fib_;
  std::unique_ptr<v1::FlowService::Stub> flows_;
  std::unique_ptr<v1::SystemService::Stub> system_;
  std::unique_ptr<v1::CaptureService::Stub> captures_;
};

}  // namespace coua::cli
