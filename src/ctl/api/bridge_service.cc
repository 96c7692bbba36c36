// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/bridge_service.h"

#include <algorithm>
#include <map>

#include "ctl/listen_address.h"
#include "ctl/openflow_rules.h"
#include "ctl/port_rules.h"
#include "ctl/ranges.h"

namespace coua::ctl {
namespace {

tl::unexpected<error> wrong(const std::string& field, std::string reason) {
  return fail(errc::invalid, field, std::move(reason));
}

/// 0: as it is.
template <typename Number>
result<void> take_number(const char* field, std::uint64_t value, std::uint64_t most, Number& to) {
  if (value > most)
    return wrong(field, std::to_string(value) + " is above " + std::to_string(most));
  if (value != 0) to = static_cast<Number>(value);
  return {};
}

template <typename Texts>
result<void> take_targets(const char* field, const Texts& from,
                          std::string (*check)(const std::string&), std::vector<std::string>& to) {
  for (const std::string& each : from) {
    const std::string place = field + ("[" + std::to_string(to.size()) + "]");
    if (std::string reason = check(each); !reason.empty()) return wrong(place, std::move(reason));
    if (std::ranges::find(to, each) != to.end()) return wrong(place, "is named twice");
    if (to.size() == openflow_targets_max)
      return wrong(place, "is one more than " + std::to_string(openflow_targets_max));
    to.push_back(each);
  }
  return {};
}

result<void> take_openflow(const v1::BridgeSpec& spec, openflow_config& to) {
  if (!spec.datapath_id().empty()) {
    const auto id = parse_datapath_id(spec.datapath_id());
    if (!id) return wrong("datapath_id", "is not of 1 to 16 hexadecimal digits, not all 0");
    to.datapath_id = *id;
  }
  if (!spec.management().empty()) {
    if (std::string reason = check_socket(spec.management()); !reason.empty())
      return wrong("management", std::move(reason));
    to.management = spec.management();
  }
  if (spec.fail_mode() == v1::BridgeSpec::FAIL_MODE_STANDALONE)
    to.fail_mode = fail_mode::standalone;
  else if (spec.fail_mode() != v1::BridgeSpec::FAIL_MODE_SECURE)
    return wrong("fail_mode", "there is no such mode");
  const auto& named = spec.table_names();
  for (const auto& [table, name] : std::map(named.begin(), named.end())) {
    const std::string place = "table_names[" + std::to_string(table) + "]";
    if (table > 254) return wrong(place, "there is no such table");
    if (std::string reason = check_table_name(name); !reason.empty())
      return wrong(place, std::move(reason));
    if (std::string reason = check_new_table_name(name, to.table_names); !reason.empty())
      return wrong(place, std::move(reason));
    to.table_names[static_cast<std::uint8_t>(table)] = name;
  }
  for (const result<void>& done :
       {take_targets("controllers", spec.controllers(), check_controller, to.controllers),
        take_targets("listen", spec.listen(), check_listener, to.listen),
        take_number("probe_s", spec.probe_s(), limits::openflow_time_max_s, to.probe_s),
        take_number("backoff_max_s", spec.backoff_max_s(), limits::openflow_time_max_s,
                    to.backoff_max_s)})
    if (!done) return done;
  return {};
}

result<bridge_settings> to_settings(const v1::BridgeSpec& spec) {
  bridge_settings made;
  if (std::string reason = check_port_name(spec.name()); !reason.empty())
    return wrong("name", std::move(reason));
  made.name = spec.name();
  if (spec.start() == v1::BridgeSpec::START_NONE)
    made.pipeline.start = dp::first_rules::none;
  else if (spec.start() != v1::BridgeSpec::START_NORMAL)
    return wrong("start", "there is no such start");
  dp::pipeline_config& to = made.pipeline;
  for (const result<void>& done :
       {take_number("rules", spec.rules(), limits::rules_max, to.rules_max),
        take_number("packet_in_rate", spec.packet_in_rate(), limits::packet_in_rate_max,
                    to.packet_in_rate),
        take_number("packet_in_burst", spec.packet_in_burst(), limits::packet_in_burst_max,
                    to.packet_in_burst),
        take_openflow(spec, made.openflow)})
    if (!done) return tl::unexpected(done.error());
  return made;
}

void to_message(const bridge_settings& from, v1::BridgeSpec& out) {
  const openflow_config& of = from.openflow;
  out.set_name(from.name);
  if (from.pipeline.start == dp::first_rules::none) out.set_start(v1::BridgeSpec::START_NONE);
  out.set_rules(from.pipeline.rules_max);
  out.set_packet_in_rate(from.pipeline.packet_in_rate);
  out.set_packet_in_burst(from.pipeline.packet_in_burst);
  if (of.datapath_id != 0) out.set_datapath_id(format_datapath_id(of.datapath_id));
  for (const std::string& each : of.controllers) out.add_controllers(each);
  for (const std::string& each : of.listen) out.add_listen(each);
  out.set_management(of.management);
  if (of.fail_mode == fail_mode::standalone)
    out.set_fail_mode(v1::BridgeSpec::FAIL_MODE_STANDALONE);
  out.set_probe_s(of.probe_s);
  out.set_backoff_max_s(of.backoff_max_s);
  for (const auto& [table, name] : of.table_names) (*out.mutable_table_names())[table] = name;
}

/// The first thing in which two bridges of one name differ.
std::string difference(const bridge_settings& there, const bridge_settings& wanted) {
  if (there.pipeline.start != wanted.pipeline.start) return "start";
  if (there.pipeline.rules_max != wanted.pipeline.rules_max) return "number of rules";
  if (there.pipeline != wanted.pipeline) return "packet-in limits";
  if (there.openflow.datapath_id != wanted.openflow.datapath_id) return "datapath id";
  if (there.openflow.controllers != wanted.openflow.controllers) return "controllers";
  return "OpenFlow settings";
}

}  // namespace

void bridge_service::fill(const bridge_settings& settings, const held_bridge& bridge,
                          v1::Bridge& out) const {
  to_message(settings, *out.mutable_spec());
  const openflow_place place = bridge.served->place();
  out.set_datapath_id(format_datapath_id(place.datapath_id));
  out.set_management(place.management);
  for (const dp::port_status& each : core_.sw.ports())
    if (each.config.bridge == settings.name) out.add_ports(each.config.name);
  const pipeline_status status = bridge.pipeline().status();
  out.set_flows(status.rules);
  out.set_groups(status.groups);
  out.set_meters(status.meters);
  if (const auto now = bridge.served->controllers().controllers())
    out.set_standalone(now->standalone);
  out.set_flows_in_file(settings.rules.given);
}

result<void> bridge_service::list(const v1::ListBridgesRequest& request,
                                  v1::ListBridgesResponse& response) {
  if (auto there = core_.check_bridge(request.name()); !there) return there;
  core_.bridges.each(request.name(), [&](const held_bridge& one) {
    const auto settings = core_.bridges.settings(one.name);
    if (settings) fill(*settings, one, *response.add_bridges());  // else it is about to go
  });
  return {};
}

result<void> bridge_service::add(const v1::AddBridgeRequest& request,
                                 v1::AddBridgeResponse& response) {
  const auto wanted = to_settings(request.spec());
  if (!wanted) return tl::unexpected(wanted.error());
  const auto hold = core_.running.changing();
  const auto there = core_.bridges.settings(wanted->name);
  response.set_changed(!there);
  if (there && (there->pipeline != wanted->pipeline || there->openflow != wanted->openflow))
    return fail(errc::exists, "bridge " + wanted->name,
                "is there already and differs in its " + difference(*there, *wanted) +
                    "; remove it first, or change the file and restart");
  if (!there) {
    if (auto added = core_.running.add_bridge(*wanted); !added) return added;
  }
  const auto one = core_.bridges.find(wanted->name);
  if (!one) return tl::unexpected(one.error());
  fill(there.value_or(*wanted), *one, *response.mutable_bridge());
  return {};
}

result<void> bridge_service::remove(const v1::RemoveBridgeRequest& request,
                                    v1::RemoveBridgeResponse& response) {
  if (std::string reason = check_port_name(request.name()); !reason.empty())
    return wrong("name", std::move(reason));
  const auto hold = core_.running.changing();
  response.set_changed(core_.bridges.settings(request.name()).has_value());
  return response.changed() ? core_.running.remove_bridge(request.name()) : result<void>{};
}

grpc::ServerUnaryReactor* bridge_service::ListBridges(grpc::CallbackServerContext* context,
                                                      const v1::ListBridgesRequest* request,
                                                      v1::ListBridgesResponse* response) {
  return core_.run(context, [this, request, response] { return list(*request, *response); });
}

grpc::ServerUnaryReactor* bridge_service::AddBridge(grpc::CallbackServerContext* context,
                                                    const v1::AddBridgeRequest* request,
                                                    v1::AddBridgeResponse* response) {
  return core_.run_change(context, [this, request, response] { return add(*request, *response); });
}

grpc::ServerUnaryReactor* bridge_service::RemoveBridge(grpc::CallbackServerContext* context,
                                                       const v1::RemoveBridgeRequest* request,
                                                       v1::RemoveBridgeResponse* response) {
  return core_.run_change(context,
                          [this, request, response] { return remove(*request, *response); });
}

}  // namespace coua::ctl
