// SPDX-License-Identifier: Apache-2.0
//
// What the services of the API share: the switch, the threads that wait for it, and the way an
// error becomes a gRPC status.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "ctl/api/executor.h"
#include "ctl/api_server.h"
#include "ctl/running_config.h"
#include "dp/switch.h"

namespace coua::ctl {

/// The status of an error: code and "where: what"; the same as `coua.v1.Error` goes into the
/// trailing metadata of `context`. Call it before Finish.
grpc::Status to_status(grpc::CallbackServerContext& context, const error& error);

struct api_core {
  api_core(dp::l2_switch& fabric, const api_params& p, running_config& c)
      : params(p), sw(fabric), running(c), bridges(c.bridges()), tasks(p.threads, 1024) {}

  /// Answers a call from one of the threads that may wait. `work` returns result<void>; request and
  /// response live until the call is finished.
  template <typename Work>
  grpc::ServerUnaryReactor* run(grpc::CallbackServerContext* context, Work work) {
    return run_on(tasks, context, work);
  }

  /// The same for what holds `running.changing()`, or waits for who does: one after the other on a
  /// thread of its own, so that a long change keeps nobody from looking.
  template <typename Work>
  grpc::ServerUnaryReactor* run_change(grpc::CallbackServerContext* context, Work work) {
    return run_on(changes, context, work);
  }

  template <typename Work>
  static grpc::ServerUnaryReactor* run_on(executor& threads, grpc::CallbackServerContext* context,
                                          Work work) {
    auto* reactor = context->DefaultReactor();
    const bool posted = threads.post([context, reactor, work] {
      const result<void> done = work();
      reactor->Finish(done ? grpc::Status::OK : to_status(*context, done.error()));
    });
    if (!posted) reactor->Finish(to_status(*context, too_busy()));
    return reactor;
  }

  /// Errors: not_found. An empty name stands for all bridges.
  result<void> check_bridge(const std::string& name) const {
    if (name.empty()) return {};
    if (auto one = bridges.find(name); !one) return tl::unexpected(one.error());
    return {};
  }

  static error too_busy() {
    return {errc::busy, "API", "too many requests are waiting; try again"};
  }

  const api_params params;
  const std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  dp::l2_switch& sw;
  running_config& running;  // what changes something that a file can say holds its `changing()`
  running_bridges& bridges;
  std::atomic<bool> stopping{false};
  executor changes{1, 1024};  // these last: their threads end before what they use
  executor tasks;
};

}  // namespace coua::ctl
