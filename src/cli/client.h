// SPDX-License-Identifier: Apache-2.0
//
// The connection of one command to the daemon.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "cli/text_fields.h"
#include "coua/v1/bridge.grpc.pb.h"
#include "coua/v1/capture.grpc.pb.h"
#include "coua/v1/config.grpc.pb.h"
#include "coua/v1/fib.grpc.pb.h"
#include "coua/v1/flow.grpc.pb.h"
#include "coua/v1/port.grpc.pb.h"
#include "coua/v1/system.grpc.pb.h"

namespace coua::cli {

class client;

/// Of one call: it has the time that the user gave for it, and ends when the client is told to
/// stop.
class call_context : public grpc::ClientContext {
 public:
  /// `fallback`: the time where the user gave none; empty: as long as it takes, as for a stream.
  explicit call_context(const client& of,
                        std::optional<std::chrono::duration<double>> fallback = std::nullopt);
  ~call_context();
  call_context(const call_context&) = delete;
  call_context& operator=(const call_context&) = delete;

  /// The client was told to stop.
  bool is_stopped() const;
  const client& of() const { return of_; }

 private:
  const client& of_;
};

class client {
 public:
  /// Nothing is sent before the first call. `timeout` empty: 30 s for a call, none for a stream.
  client(std::string socket, std::optional<double> timeout);

  /// From now on that is the daemon. Not while a call runs.
  void point_to(const std::string& socket);

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
    if (auto good = check_texts(request); !good) return tl::unexpected(good.error());
    call_context context(*this, std::chrono::duration<double>(30));
    Response response;
    const grpc::Status status = (stub.*method)(&context, request, &response);
    if (!status.ok()) return tl::unexpected(to_error(status, context));
    return response;
  }

  /// From now on; as in the constructor. Not while a call runs.
  void set_timeout(std::optional<double> timeout) { timeout_ = timeout; }

  /// Calls that run end, and those that come fail, until allow(). Any thread.
  void stop();
  void allow();
  /// Returns when that time has passed, or at stop(): true.
  bool wait(std::chrono::duration<double> time) const;

  /// After a call that ended without an answer: whether the daemon is still there.
  error why_lost(const grpc::Status& status) const;
  static error to_error(const grpc::Status& status, const call_context& context);

  const std::string& socket() const { return socket_; }
  v1::ConfigService::Stub& config() { return *config_; }
  v1::BridgeService::Stub& bridges() { return *bridges_; }
  v1::PortService::Stub& ports() { return *ports_; }
  v1::FibService::Stub& fib() { return *fib_; }
  v1::FlowService::Stub& flows() { return *flows_; }
  v1::SystemService::Stub& system() { return *system_; }
  v1::CaptureService::Stub& captures() { return *captures_; }

 private:
  friend class call_context;

  void connect();

  std::string socket_;
  std::optional<double> timeout_;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::condition_variable changed_;
  mutable std::set<grpc::ClientContext*> running_;
  bool stopped_ = false;
  std::unique_ptr<v1::ConfigService::Stub> config_;
  std::unique_ptr<v1::BridgeService::Stub> bridges_;
  std::unique_ptr<v1::PortService::Stub> ports_;
  std::unique_ptr<v1::FibService::Stub> fib_;
  std::unique_ptr<v1::FlowService::Stub> flows_;
  std::unique_ptr<v1::SystemService::Stub> system_;
  std::unique_ptr<v1::CaptureService::Stub> captures_;
};

}  // namespace coua::cli
