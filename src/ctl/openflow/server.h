// SPDX-License-Identifier: Apache-2.0
//
// The OpenFlow channel of a bridge: the thread `coua-openflow`, which owns all connections. It
// connects to controllers, listens for others and on the management socket, answers echo requests,
// and moves messages between sockets and sessions (session.h). Brief ones it does itself. It waits
// for nothing but, for a moment, the workers.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ctl/controller_list.h"
#include "ctl/ofp/link.h"
#include "ctl/openflow/bridge_view.h"

namespace coua::openflow {

struct server_settings {
  std::string bridge;                    // its name, for who reads the log
  std::vector<std::string> controllers;  // tcp:, ssl:, unix:
  std::vector<std::string> listen;       // ptcp:, pssl:, punix:
  std::string management;                // the path of a Unix socket; empty: none
  ofp::link_settings links;
  /// Without a controller, when there should be one, the switch is an L2 switch.
  bool standalone = false;
  /// Of the server before: controller_seen().
  std::optional<std::chrono::steady_clock::time_point> controller_seen = {};
  bridge_identity identity;
};

/// Connections that are served at a time; one more is closed at once.
inline constexpr std::size_t connections_max = 64;

class server : public ctl::controller_list {
 public:
  /// Runs until it is stopped or destroyed. `control` outlives it, and `roles` its end by stop().
  /// Errors: io, for an address that cannot be listened on; the place begins with its field,
  /// "listen[1]: ptcp:6653".
  static result<std::unique_ptr<server>> create(ctl::pipeline_control& control, role_book& roles,
                                                server_settings settings);
  /// Closes all connections and addresses; when it returns, others may listen there. One thread,
  /// the last call but for those of controller_list, which have nothing to tell any more.
  virtual void stop() = 0;
  /// When a configured controller was last connected. After stop().
  virtual std::optional<std::chrono::steady_clock::time_point> controller_seen() const = 0;
};

}  // namespace coua::openflow
