// SPDX-License-Identifier: Apache-2.0
#include "ctl/switch_bridge.h"

namespace coua::ctl {
namespace {

/// "br1.mgmt" beside the API's socket: with OVS_RUNDIR set to its directory, ovs-ofctl finds br1.
std::string management_socket(const std::string& bridge, const std::string& api) {
  return api.substr(0, api.rfind('/') + 1) + bridge + ".mgmt";
}

/// Bits 0-47: of a bridge whose first port has no address, or that has no port. The same at each
/// start, and another one for each name: FNV-1a of it, as an address that nobody assigns.
std::uint64_t id_of_name(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return std::uint64_t{2} << 40 | (hash >> 24 & 0xff'ffff'ffff);
}

}  // namespace

switch_bridge::switch_bridge(dp::l2_switch& sw, const std::string& name, running_config& running,
                             switch_bridge_params params)
    : switch_(sw),
      name_(name),
      params_(std::move(params)),
      control_(sw, name, *sw.pipeline(name), running) {}

/// The address of the first port that the bridge has now, else made of its name.
std::uint64_t switch_bridge::datapath_id() const {
  for (const dp::port_status& port : switch_.ports()) {
    if (port.config.bridge != name_) continue;
    std::uint64_t made = 0;
    for (const std::uint8_t byte : port.mac) made = made << 8 | byte;
    return made != 0 ? made : id_of_name(name_);
  }
  return id_of_name(name_);
}

openflow::server_settings switch_bridge::settings(const openflow_config& from) const {
  openflow::server_settings made;
  made.bridge = name_;
  made.controllers = from.controllers;
  made.listen = from.listen;
  made.management =
      from.management.empty() ? management_socket(name_, params_.api_socket) : from.management;
  made.links = {from.probe_s, from.backoff_max_s};
  made.standalone = from.fail_mode == fail_mode::standalone;
  made.identity.datapath_id = from.datapath_id != 0 ? from.datapath_id : datapath_id();
  made.identity.description = {"Coua", "DPDK", "couad " + params_.version, "none", name_};
  for (const auto& [number, name] : from.table_names) made.identity.table_names[number] = name;
  return made;
}

result<void> switch_bridge::open(const openflow_config& how) {
  auto wanted = settings(how);
  const openflow_place place{wanted.identity.datapath_id, wanted.management};
  auto claim = socket_claim::take(wanted.management);
  if (!claim) return tl::unexpected(claim.error());
  control_.set_leaving(false);
  auto server = openflow::server::create(control_, std::move(wanted));
  if (!server) return tl::unexpected(server.error());
  management_.emplace(std::move(*claim));
  channel_.set(std::move(*server));
  const std::lock_guard hold(mutex_);
  place_ = place;
  return {};
}

void switch_bridge::close() {
  control_.set_leaving(true);
  channel_.set(nullptr);
  management_.reset();
  const std::lock_guard hold(mutex_);
  place_ = {};
}

openflow_place switch_bridge::place() const {
  const std::lock_guard hold(mutex_);
  return place_;
}

result<controllers_state> switch_bridge::channel::controllers() {
  const auto server = [this] {
    const std::lock_guard hold(mutex_);
    return server_;
  }();
  return server ? server->controllers() : controllers_state{};
}

void switch_bridge::channel::set(std::shared_ptr<openflow::server> server) {
  const std::lock_guard hold(mutex_);
  std::swap(server_, server);
}

}  // namespace coua::ctl
