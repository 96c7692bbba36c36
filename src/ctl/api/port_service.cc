// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/port_service.h"

#include "ctl/api/convert.h"
#include "ctl/port_rules.h"

namespace coua::ctl {
namespace {

// Names the first thing in which two ports of one name differ that a port has for good; empty:
// none.
std::string lasting_difference(const dp::port_config& there, const dp::port_config& wanted) {
  if (there.devargs != wanted.devargs) return "devargs (" + there.devargs + ")";
  if (there.bridge != wanted.bridge) return "bridge (" + there.bridge + ")";
  if (there.local != wanted.local) return "local";
  if (there.bond.any() != wanted.bond.any()) return "bond";
  if (there.rx_queues != wanted.rx_queues || there.tx_queues != wanted.tx_queues)
    return "number of queues";
  if (there.rx_descriptors != wanted.rx_descriptors ||
      there.tx_descriptors != wanted.tx_descriptors)
    return "number of descriptors";
  return {};
}

// The same of what 'port set' changes.
std::string difference(const dp::port_config& there, const dp::port_config& wanted) {
  if (there.bond != wanted.bond) return "bond";
  if (there.mtu != wanted.mtu) return "mtu (" + std::to_string(there.mtu) + ")";
  if (there.mode != wanted.mode || there.native_vlan != wanted.native_vlan ||
      there.tagged != wanted.tagged)
    return "VLANs";
  if (there.storm != wanted.storm) return "storm limits";
  if (there.recover_s != wanted.recover_s)
    return "recover_s (" + std::to_string(there.recover_s) + ")";
  if (there.mirror != wanted.mirror) return "mirror sources";
  return "settings";
}

}  // namespace

result<dp::port_status> port_service::find(const std::string& name) const {
  if (auto reason = check_port_name(name); !reason.empty())
    return fail(errc::invalid, "name", std::move(reason));
  const auto ports = core_.sw.ports();
  const auto id = to_port_id(ports, name);
  if (!id) return tl::unexpected(id.error());
  return *find_port(ports, *id);
}

result<void> port_service::add(const v1::AddPortRequest& request, v1::AddPortResponse& response) {
  auto wanted = to_port_config(request.spec());
  if (!wanted) return tl::unexpected(wanted.error());
  const auto hold = core_.running.changing();
  if (auto there = core_.check_bridge(wanted->bridge); !there) return there;
  if (wanted->bridge.empty()) wanted->bridge = core_.bridges.first();
  const auto there = find(wanted->name);
  response.set_changed(!there);
  if (there && !same_port(there->config, *wanted)) {
    const std::string lasting = lasting_difference(there->config, *wanted);
    return fail(
        errc::exists, "port " + wanted->name,
        "is there already and differs in its " +
            (lasting.empty() ? difference(there->config, *wanted) + "; change it with 'port set'"
                             : lasting + "; remove it first"));
  }
  if (!there) {
    if (auto added = core_.sw.add_port(*wanted); !added) return tl::unexpected(added.error());
  }
  if (const auto now = find(wanted->name)) to_message(*now, *response.mutable_port());
  return {};
}

result<void> port_service::remove(const v1::RemovePortRequest& request,
                                  v1::RemovePortResponse& response) {
  const auto hold = core_.running.changing();
  const auto there = find(request.name());
  if (!there && there.error().code != errc::not_found) return tl::unexpected(there.error());
  response.set_changed(there.has_value());
  return there ? core_.sw.remove_port(request.name()) : result<void>{};
}

result<void> port_service::set(const v1::SetPortRequest& request, v1::SetPortResponse& response) {
  const auto hold = core_.running.changing();
  const auto there = find(request.name());
  if (!there) return tl::unexpected(there.error());
  const auto wanted = with_changes(there->config, request);
  if (!wanted) return tl::unexpected(wanted.error());
  const bool reopens = !there->shut_down.empty() && request.has_enabled() && request.enabled();
  const bool differs = !same_port(there->config, *wanted);
  response.set_changed(differs || reopens);
  if (differs) {
    if (auto stays = core_.running.check_statics_stay(*there, *wanted); !stays) return stays;
    if (auto updated = core_.sw.update_port(*wanted); !updated) return updated;
  }
  if (reopens) {
    if (auto reopened = core_.sw.reopen_port(wanted->name); !reopened) {
      if (!differs) return reopened;
      // A refused call changes nothing.
      if (const auto restored = core_.sw.restore_port(*there); !restored)
        reopened.error().what +=
            "; what was changed before could not be taken back: " + restored.error().message();
      return reopened;
    }
  }
  if (const auto now = find(request.name())) to_message(*now, *response.mutable_port());
  return {};
}

grpc::ServerUnaryReactor* port_service::ListPorts(grpc::CallbackServerContext* context,
                                                  const v1::ListPortsRequest*,
                                                  v1::ListPortsResponse* response) {
  return core_.run(context, [this, response]() -> result<void> {
    for (const auto& port : core_.sw.ports()) to_message(port, *response->add_ports());
    return {};
  });
}

grpc::ServerUnaryReactor* port_service::GetPort(grpc::CallbackServerContext* context,
                                                const v1::GetPortRequest* request,
                                                v1::GetPortResponse* response) {
  return core_.run(context, [this, request, response]() -> result<void> {
    const auto port = find(request->name());
    if (!port) return tl::unexpected(port.error());
    const auto counters = core_.sw.port_counters(request->name());
    if (!counters) return tl::unexpected(counters.error());
    to_message(*port, *response->mutable_port());
    to_messages(*counters, *response->mutable_counters());
    return {};
  });
}

grpc::ServerUnaryReactor* port_service::AddPort(grpc::CallbackServerContext* context,
                                                const v1::AddPortRequest* request,
                                                v1::AddPortResponse* response) {
  return core_.run_change(context, [this, request, response] { return add(*request, *response); });
}

grpc::ServerUnaryReactor* port_service::RemovePort(grpc::CallbackServerContext* context,
                                                   const v1::RemovePortRequest* request,
                                                   v1::RemovePortResponse* response) {
  return core_.run_change(context,
                          [this, request, response] { return remove(*request, *response); });
}

grpc::ServerUnaryReactor* port_service::SetPort(grpc::CallbackServerContext* context,
                                                const v1::SetPortRequest* request,
                                                v1::SetPortResponse* response) {
  return core_.run_change(context, [this, request, response] { return set(*request, *response); });
}

}  // namespace coua::ctl
