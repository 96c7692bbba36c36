// SPDX-License-Identifier: Apache-2.0
#include "ctl/openflow_bridge.h"

#include "base/error_place.h"
#include "ctl/openflow_rules.h"

namespace coua::ctl {

openflow_bridge::openflow_bridge(dp::l2_switch& sw, const std::string& name,
                                 running_config& running, openflow_bridge_params params)
    : switch_(sw),
      name_(name),
      params_(std::move(params)),
      control_(sw, name, *sw.pipeline(name), running) {}

/// The address of the first port of the bridge that has one now, else made of its name.
std::uint64_t openflow_bridge::datapath_id() const {
  for (const dp::port_status& port : switch_.ports()) {
    if (port.config.bridge != name_) continue;
    std::uint64_t made = 0;
    for (const std::uint8_t byte : port.mac) made = made << 8 | byte;
    if (made != 0) return made;
  }
  return datapath_id_of(name_);
}

openflow::server_settings openflow_bridge::settings(const openflow_config& from) const {
  openflow::server_settings made;
  made.bridge = name_;
  made.controllers = from.controllers;
  made.listen = from.listen;
  made.links = {from.probe_s, from.backoff_max_s};
  made.standalone = from.fail_mode == fail_mode::standalone;
  made.identity.description = {"Coua", "DPDK", "couad " + params_.version, "none", name_};
  for (const auto& [number, name] : from.table_names) made.identity.table_names[number] = name;
  return made;
}

result<void> openflow_bridge::open(const openflow_config& how) {
  const openflow_place place = place_of(how);
  for (const auto& [field, text] : place.addresses())
    if (text == normal_path(params_.api_socket))
      return fail(errc::busy, field + ": " + text, "the API listens there");
  auto claim = socket_claim::take(place.management, "openflow.management");
  if (!claim) return tl::unexpected(at_place("management", claim.error()));
  auto wanted = settings(how);
  wanted.management = place.management;
  wanted.identity.datapath_id = place.datapath_id;
  wanted.controller_seen = channel_.controller_seen();
  control_.set_leaving(false);
  auto server = openflow::server::create(control_, roles_, std::move(wanted));
  if (!server) return tl::unexpected(server.error());
  management_.emplace(std::move(*claim));
  channel_.set(std::move(*server), place);
  return {};
}

void openflow_bridge::close() {
  control_.set_leaving(true);
  channel_.clear();
  management_.reset();
}

openflow_place openflow_bridge::place_of(const openflow_config& how) const {
  return {how.datapath_id != 0 ? how.datapath_id : datapath_id(),
          how.management.empty() ? management_socket(name_, params_.api_socket) : how.management,
          how.listen};
}

openflow_place openflow_bridge::place() const { return channel_.place(); }

result<controllers_state> openflow_bridge::open_channel::controllers() {
  const auto server = [this] {
    const std::lock_guard hold(mutex_);
    return server_;
  }();
  return server ? server->controllers() : controllers_state{};
}

void openflow_bridge::open_channel::set(std::shared_ptr<openflow::server> server,
                                        openflow_place place) {
  const std::lock_guard hold(mutex_);
  server_ = std::move(server);
  place_ = std::move(place);
}

void openflow_bridge::open_channel::clear() {
  std::shared_ptr<openflow::server> gone;
  {
    const std::lock_guard hold(mutex_);
    std::swap(server_, gone);
    place_ = {};
  }
  if (!gone) return;
  gone->stop();  // not under the lock, for that takes its time
  seen_ = gone->controller_seen();
}

openflow_place openflow_bridge::open_channel::place() const {
  const std::lock_guard hold(mutex_);
  return place_;
}

}  // namespace coua::ctl
