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
struct switch_bridge_params {
  std::string version;
  std::string api_socket;  // management sockets are beside it
};

class switch_bridge final : public served_bridge {
 public:
  /// The switch has a bridge of this name. `sw` and `running` must outlive it.
  switch_bridge(dp::l2_switch& sw, const std::string& name, running_config& running,
                switch_bridge_params params);
  ~switch_bridge() override { close(); }

  pipeline_control& pipeline() override { return control_; }
  controller_list& controllers() override { return channel_; }
  result<void> open(const openflow_config& how) override;
  void close() override;
  openflow_place place() const override;

 private:
  /// The server, or nobody.
  class channel final : public controller_list {
   public:
    result<controllers_state> controllers() override;
    void set(std::shared_ptr<openflow::server> server);

   private:
    std::mutex mutex_;
    std::shared_ptr<openflow::server> server_;
  };

  std::uint64_t datapath_id() const;
  openflow::server_settings settings(const openflow_config& from) const;

  dp::l2_switch& switch_;
  const std::string name_;
  const switch_bridge_params params_;
  bridge_control control_;
  mutable std::mutex mutex_;  // of place_
  openflow_place place_;
  std::optional<socket_claim> management_;
  channel channel_;
};

}  // namespace coua::ctl
