// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/system_service.h"

#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "ctl/api/convert.h"
#include "ctl/controller_list.h"

namespace coua::ctl {
namespace {

v1::Controller::Origin to_message(controller_origin origin) {
  switch (origin) {
    case controller_origin::came: return v1::Controller::ORIGIN_CAME;
    case controller_origin::management: return v1::Controller::ORIGIN_MANAGEMENT;
    default: return v1::Controller::ORIGIN_CONFIGURED;
  }
}

}  // namespace

result<void> system_service::list_vlans(const v1::ListVlansRequest& request,
                                        v1::ListVlansResponse& response) {
  if (request.has_vlan()) {
    const auto vlan = to_vlan(request.vlan());
    if (!vlan) return tl::unexpected(vlan.error());
  }
  std::string bridge = request.bridge();
  if (request.has_vlan() || !bridge.empty()) {
    const auto one = core_.bridges.find(bridge);
    if (!one) return tl::unexpected(one.error());
    bridge = one->name;
  }
  const auto ports = core_.sw.ports();
  for (const auto& vlan : core_.sw.vlans()) {
    if (request.has_vlan() && request.vlan() != vlan.vlan) continue;
    if (!bridge.empty() && bridge != vlan.bridge) continue;
    auto* out = response.add_vlans();
    out->set_bridge(vlan.bridge);
    out->set_vlan(vlan.vlan);
    for (unsigned port : vlan.tagged) out->add_tagged(port_name(ports, port));
    for (unsigned port : vlan.untagged) out->add_untagged(port_name(ports, port));
    out->set_learned(vlan.learned);
    to_messages(vlan.counters, *out->mutable_counters());
  }
  if (request.has_vlan() && response.vlans_size() == 0)
    return fail(errc::not_found, "VLAN " + std::to_string(request.vlan()),
                "no port" + (request.bridge().empty() ? "" : " of bridge " + bridge) +
                    " is a member of it");
  return {};
}

result<void> system_service::set_log_level(const v1::SetLogLevelRequest& request,
                                           v1::SetLogLevelResponse& response) {
  running_config::hold hold;
  if (request.has_level()) hold = core_.running.changing();
  const log_level before = highest_log_level();
  log_level level = before;
  if (request.has_level() && !parse_log_level(request.level(), level)) {
    return fail(errc::invalid, "level",
                "'" + request.level() + "' is none of error, warning, info, debug");
  }
  if (level != before) {
    coua::set_log_level(std::max(level, before));
    log(std::max(level, before), "log level: %s, was %s", to_string(level), to_string(before));
    coua::set_log_level(level);
  }
  response.set_level(to_string(level));
  response.set_before(to_string(before));
  return {};
}

grpc::ServerUnaryReactor* system_service::GetVersion(grpc::CallbackServerContext* context,
                                                     const v1::GetVersionRequest*,
                                                     v1::GetVersionResponse* response) {
  return core_.run(context, [this, response]() -> result<void> {
    const auto up = std::chrono::steady_clock::now() - core_.started;
    response->set_version(core_.params.version);
    response->set_description(core_.sw.describe());
    response->set_uptime_s(
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(up).count()));
    response->set_pid(getpid());
    response->set_config(core_.running.file());
    return {};
  });
}

grpc::ServerUnaryReactor* system_service::ListVlans(grpc::CallbackServerContext* context,
                                                    const v1::ListVlansRequest* request,
                                                    v1::ListVlansResponse* response) {
  return core_.run(context, [this, request, response] { return list_vlans(*request, *response); });
}

grpc::ServerUnaryReactor* system_service::ListWorkers(grpc::CallbackServerContext* context,
                                                      const v1::ListWorkersRequest*,
                                                      v1::ListWorkersResponse* response) {
  return core_.run(context, [this, response]() -> result<void> {
    for (const auto& worker : core_.sw.workers()) {
      auto* out = response->add_workers();
      out->set_number(worker.number);
      out->set_core(worker.core);
      out->set_numa_node(worker.numa_node);
      for (const auto& queue : worker.queues) out->add_queues(queue);
      out->set_cycles_per_packet(worker.cycles_per_packet);
      out->set_busy(worker.busy);
      for (std::uint64_t n : worker.burst_histogram) out->add_burst_histogram(n);
      to_messages(worker.counters, *out->mutable_counters());
    }
    return {};
  });
}

grpc::ServerUnaryReactor* system_service::GetStats(grpc::CallbackServerContext* context,
                                                   const v1::GetStatsRequest*,
                                                   v1::GetStatsResponse* response) {
  return core_.run(context, [this, response]() -> result<void> {
    response->set_time_ns(now_ns());
    for (const auto& port : core_.sw.ports()) {
      const auto counters = core_.sw.port_counters(port.config.name);
      if (!counters) continue;  // it was removed meanwhile
      auto* out = response->add_ports();
      out->set_port(port.config.name);
      to_messages(*counters, *out->mutable_counters());
    }
    to_messages(core_.sw.totals(), *response->mutable_totals());
    return {};
  });
}

result<void> system_service::list_controllers(const v1::ListControllersRequest& request,
                                              v1::ListControllersResponse& response) {
  if (auto there = core_.check_bridge(request.bridge()); !there) return there;
  result<void> told;
  core_.bridges.each(request.bridge(), [&](const held_bridge& bridge) {
    const auto now = bridge.served->controllers().controllers();
    if (!now) {
      told = tl::unexpected(now.error());
      return;
    }
    if (now->standalone) {
      response.set_standalone(true);
      response.add_standalone_bridges(bridge.name);
    }
    for (const controller_state& each : now->all) {
      auto* out = response.add_controllers();
      out->set_bridge(bridge.name);
      out->set_target(each.target);
      out->set_origin(to_message(each.origin));
      out->set_connected(each.connected);
      out->set_for_s(each.for_s);
      out->set_role(each.role);
      out->set_connections(each.connections);
      out->set_received(each.received);
      out->set_sent(each.sent);
      out->set_trouble(each.trouble);
    }
  });
  return told;
}

grpc::ServerUnaryReactor* system_service::ListControllers(grpc::CallbackServerContext* context,
                                                          const v1::ListControllersRequest* request,
                                                          v1::ListControllersResponse* response) {
  return core_.run(context,
                   [this, request, response] { return list_controllers(*request, *response); });
}

grpc::ServerUnaryReactor* system_service::SetLogLevel(grpc::CallbackServerContext* context,
                                                      const v1::SetLogLevelRequest* request,
                                                      v1::SetLogLevelResponse* response) {
  const auto work = [this, request, response] { return set_log_level(*request, *response); };
  return request->has_level() ? core_.run_change(context, work) : core_.run(context, work);
}

}  // namespace coua::ctl
