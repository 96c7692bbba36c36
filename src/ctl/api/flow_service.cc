// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/flow_service.h"

#include <algorithm>
#include <iterator>

#include "base/error_place.h"
#include "ctl/api/batch_stream.h"
#include "ctl/api/flow_apply.h"
#include "ctl/api/flow_convert.h"
#include "ctl/api/flow_trace.h"

namespace coua::ctl {
namespace {

// A rule's text has some hundred characters, a group's or meter's up to some thousand.
constexpr int flows_per_batch = 512;
constexpr int others_per_batch = 64;

using flow_stream = batch_stream<v1::FlowBatch>;
using group_stream = batch_stream<v1::GroupBatch>;
using meter_stream = batch_stream<v1::MeterBatch>;

result<void> dump_flows(const api_core& core, const v1::DumpFlowsRequest& request,
                        flow_stream& stream) {
  const auto bridge = core.bridges.find(request.bridge());
  if (!bridge) return tl::unexpected(bridge.error());
  const ofp::port_names names = bridge->pipeline().port_names();
  auto filter = ofp::parse_filter(request.filter(), names);
  if (!filter) return tl::unexpected(at_place("filter", filter.error()));
  const pipeline::time_ns now = bridge->pipeline().now();
  std::uint64_t left = request.limit() == 0 ? UINT64_MAX : request.limit();
  bridge->pipeline().dump_rules(*filter, [&](std::span<const rule_record> rules) {
    for (const rule_record& one : rules) {
      if (left-- == 0) return false;
      to_message(one, now, names, *stream.filling().add_flows());
      if (stream.filling().flows_size() == flows_per_batch && !stream.send()) return false;
    }
    return true;
  });
  return {};
}

result<void> dump_groups(const api_core& core, const v1::DumpGroupsRequest& request,
                         group_stream& stream) {
  const auto bridge = core.bridges.find(request.bridge());
  if (!bridge) return tl::unexpected(bridge.error());
  const ofp::port_names names = bridge->pipeline().port_names();
  const pipeline::time_ns now = bridge->pipeline().now();
  constexpr const char* types[] = {"", "all", "select", "indirect", "fast_failover"};
  if (std::ranges::find(types, request.type()) == std::end(types))
    return fail(errc::invalid, "type", "there is no such type");
  const bool has_id = request.has_group_id();
  std::uint64_t left = request.limit() == 0 ? UINT64_MAX : request.limit();
  const auto take = [&](std::span<const group_record> groups) {
    for (const group_record& one : groups) {
      if (has_id && one.group->id != request.group_id()) return false;
      if (!request.type().empty() && request.type() != to_string(one.group->type)) continue;
      if (request.unused() && one.state.n_rules + one.state.n_groups != 0) continue;
      if (left-- == 0) return false;
      to_message(one, now, names, *stream.filling().add_groups());
      if (stream.filling().groups_size() == others_per_batch && !stream.send()) return false;
    }
    return true;
  };
  bridge->pipeline().dump_groups(has_id ? request.group_id() : request.first(), take);
  return {};
}

result<void> dump_meters(const api_core& core, const v1::DumpMetersRequest& request,
                         meter_stream& stream) {
  const auto bridge = core.bridges.find(request.bridge());
  if (!bridge) return tl::unexpected(bridge.error());
  const pipeline::time_ns now = bridge->pipeline().now();
  const bool has_id = request.has_meter_id();
  std::uint64_t left = request.limit() == 0 ? UINT64_MAX : request.limit();
  const auto take = [&](std::span<const meter_record> meters) {
    for (const meter_record& one : meters) {
      if (has_id && one.meter->id != request.meter_id()) return false;
      if (request.unused() && one.state.n_rules != 0) continue;
      if (left-- == 0) return false;
      to_message(one, now, *stream.filling().add_meters());
      if (stream.filling().meters_size() == others_per_batch && !stream.send()) return false;
    }
    return true;
  };
  bridge->pipeline().dump_meters(has_id ? request.meter_id() : request.first(), take);
  return {};
}

}  // namespace

grpc::ServerReadReactor<v1::ApplyFlowsRequest>* flow_service::ApplyFlows(
    grpc::CallbackServerContext* context, v1::ApplyFlowsResponse* response) {
  return new flow_apply(core_, context, response);
}

// The request lives only as long as the call that starts the dump.
grpc::ServerWriteReactor<v1::FlowBatch>* flow_service::DumpFlows(
    grpc::CallbackServerContext* context, const v1::DumpFlowsRequest* request) {
  return flow_stream::start(
      core_, dumps_, context, "flow dump",
      [this, asked = *request](flow_stream& stream) { return dump_flows(core_, asked, stream); });
}

grpc::ServerWriteReactor<v1::GroupBatch>* flow_service::DumpGroups(
    grpc::CallbackServerContext* context, const v1::DumpGroupsRequest* request) {
  return group_stream::start(
      core_, dumps_, context, "group dump",
      [this, asked = *request](group_stream& stream) { return dump_groups(core_, asked, stream); });
}

grpc::ServerWriteReactor<v1::MeterBatch>* flow_service::DumpMeters(
    grpc::CallbackServerContext* context, const v1::DumpMetersRequest* request) {
  return meter_stream::start(
      core_, dumps_, context, "meter dump",
      [this, asked = *request](meter_stream& stream) { return dump_meters(core_, asked, stream); });
}

grpc::ServerUnaryReactor* flow_service::GetFlowStats(grpc::CallbackServerContext* context,
                                                     const v1::GetFlowStatsRequest* request,
                                                     v1::GetFlowStatsResponse* response) {
  return core_.run(context, [this, request, response]() -> result<void> {
    const auto bridge = core_.bridges.find(request->bridge());
    if (!bridge) return tl::unexpected(bridge.error());
    to_message(bridge->pipeline().status(), *response);
    return {};
  });
}

grpc::ServerUnaryReactor* flow_service::TracePacket(grpc::CallbackServerContext* context,
                                                    const v1::TracePacketRequest* request,
                                                    v1::TracePacketResponse* response) {
  return core_.run(context,
                   [this, request, response] { return trace_packet(core_, *request, *response); });
}

grpc::ServerUnaryReactor* flow_service::ExplainBridge(grpc::CallbackServerContext* context,
                                                      const v1::ExplainBridgeRequest* request,
                                                      v1::ExplainBridgeResponse* response) {
  return core_.run(
      context, [this, request, response] { return explain_bridge(core_, *request, *response); });
}

}  // namespace coua::ctl
