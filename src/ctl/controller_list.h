// SPDX-License-Identifier: Apache-2.0
//
// Who speaks OpenFlow with the switch, for those who look: the API, metrics.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace coua::ctl {

/// Why there is a connection: the switch makes it, or one of its listeners was asked.
enum class controller_origin { configured, came, management };

struct controller_state {
  std::string target;  // "tcp:10.0.0.1:6653"; where one that came comes from
  controller_origin origin = controller_origin::configured;
  bool connected = false;
  std::uint64_t for_s = 0;               // so long connected, or not
  std::string role;                      // "equal", "master", "slave"; empty: not connected
  std::uint64_t connections = 0;         // since the start
  std::uint64_t received = 0, sent = 0;  // messages, but for probes; of one that came: since then
  std::string trouble;  // why the last attempt or connection ended; empty: none has
};

struct controllers_state {
  std::vector<controller_state> all;  // those of the configuration, in its order, then the others
  bool standalone = false;            // none is there, and the switch forwards by itself
};

class controller_list {
 public:
  virtual ~controller_list() = default;
  /// As they are now. Any thread; waits for the thread of the connections, for two seconds at most.
  /// Errors: busy.
  virtual result<controllers_state> controllers() = 0;
};

/// Nobody.
class no_controllers final : public controller_list {
 public:
  result<controllers_state> controllers() override { return controllers_state{}; }
};

}  // namespace coua::ctl
