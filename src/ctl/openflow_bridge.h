// SPDX-License-Identifier: Apache-2.0
//
// A bridge of a running switch with its controllers: what the daemon puts above each
// (running_bridges.h).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "ctl/bridge_control.h"
#include "ctl/openflow/server.h"
#include "ctl/running_bridges.h"
#include "ctl/socket_claim.h"

namespace coua::ctl {

/// What all bridges of a daemon have in common.
struct openflow_bridge_params {
  std::string version;
  std::string api_socket;  // management sockets are beside it
};

class openflow_bridge final : public served_bridge {
 public:
  /// The switch has a bridge of this name. `sw` and `running` must outlive it.
  openflow_bridge(dp::l2_switch& sw, const std::string& name, running_config& running,
                  openflow_bridge_params params);
  ~openflow_bridge() override { close(); }

  pipeline_control& pipeline() override { return control_; }
  controller_list& controllers() override { return channel_; }
  result<void> open(const openflow_config& how) override;
  void close() override;
  openflow_place place_of(const openflow_config& how) const override;
  openflow_place place() const override;

 private:
  /// The server where there is one, and how others reach it.
  class open_channel final : public controller_list {
   public:
    result<controllers_state> controllers() override;
    /// There is none.
    void set(std::shared_ptr<openflow::server> server, openflow_place place);
    /// It stops, whoever still asks it something: others may listen where it did.
    void clear();
    openflow_place place() const;
    /// Of the last server: when a controller was there.
    std::optional<std::chrono::steady_clock::time_point> controller_seen() const { return seen_; }

   private:
    mutable std::mutex mutex_;
    std::shared_ptr<openflow::server> server_;
    openflow_place place_;
    std::optional<std::chrono::steady_clock::time_point> seen_;
  };

  std::uint64_t datapath_id() const;
  openflow::server_settings settings(const openflow_config& from) const;

  dp::l2_switch& switch_;
  const std::string name_;
  const openflow_bridge_params params_;
  bridge_control control_;
  openflow::role_book roles_;  // of all servers, one after the other
  std::optional<socket_claim> management_;
  open_channel channel_;
};

}  // namespace coua::ctl
