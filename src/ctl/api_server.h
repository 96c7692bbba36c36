// SPDX-License-Identifier: Apache-2.0
//
// The management API (proto/coua/v1) on a Unix socket.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "ctl/socket_claim.h"
#include "dp/switch.h"

namespace coua::ctl {

class running_config;

struct api_params {
  std::string version;   // of the daemon
  unsigned threads = 4;  // that wait for the switch
  unsigned dumps = 8;    // of the FIB at a time, and as many of flows
  // Connections at a time; a quarter of the descriptors that the process may have, if that is less.
  unsigned connections = 256;
  std::chrono::milliseconds begin{10'000};  // after which one that said nothing is closed
  std::chrono::seconds stall{300};          // after which a client that does not read is cut off
};

class api_server {
 public:
  /// Listens on the claimed path. `sw` and `running` must outlive the server. The threads of the
  /// server run where the calling thread may run. Errors: io, no_room.
  static result<std::unique_ptr<api_server>> create(dp::l2_switch& sw, running_config& running,
                                                    socket_claim claim, const api_params& params);
  /// Gives calls in progress a second to end, breaks what hangs after half a second more, and
  /// removes the socket.
  ~api_server();

  const std::string& path() const;

 private:
  struct parts;
  explicit api_server(std::unique_ptr<parts> parts);
  std::unique_ptr<parts> parts_;
};

}  // namespace coua::ctl
