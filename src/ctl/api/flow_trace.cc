// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/flow_trace.h"

#include "ctl/ofp/packet_text.h"

namespace coua::ctl {
namespace {

const char* word_of(pipeline::packet_in_reason reason) {
  switch (reason) {
    case pipeline::packet_in_reason::no_match: return "no_match";
    case pipeline::packet_in_reason::action: return "action";
    case pipeline::packet_in_reason::invalid_ttl: return "invalid_ttl";
  }
  return "?";
}

/// The fields of a frame as it leaves, which has no input port any more.
std::string fields_of(const std::vector<std::uint8_t>& frame, const ofp::port_names& names) {
  pipeline::packet one;
  one.bytes = frame;
  one.in_port = pipeline::port_any;
  return ofp::print_packet(one, names);
}

void set_range(const pipeline::cycle_range& from, v1::ExplainBridgeResponse::Range& to) {
  to.set_lower(from.lower);
  to.set_upper(from.upper);
}

void set_frame(const std::vector<std::uint8_t>& from, std::string& to) {
  to.assign(from.begin(), from.end());
}

}  // namespace

result<void> trace_packet(const api_core& core, const v1::TracePacketRequest& asked,
                          v1::TracePacketResponse& out) {
  const auto bridge = core.bridges.find(asked.bridge());
  if (!bridge) return tl::unexpected(bridge.error());
  const ofp::port_names names = bridge->pipeline().port_names();
  auto packet = ofp::parse_packet(asked.packet(), names);
  if (!packet) {
    if (packet.error().where.empty()) packet.error().where = "packet";
    return tl::unexpected(packet.error());
  }
  if (!names.all().contains(packet->in_port)) {
    return fail(errc::invalid, "packet",
                packet->in_port == pipeline::port_any
                    ? "say by which port it comes in: in_port=PORT"
                    : "in_port: there is no port " + pipeline::port_name(packet->in_port));
  }
  out.set_fields(ofp::print_packet(*packet, names));
  set_frame(packet->bytes, *out.mutable_frame());
  const trace_answer answer = bridge->pipeline().trace(*packet);
  for (const trace_answer::line& one : answer.lines) {
    auto* line = out.add_lines();
    line->set_depth(one.depth);
    line->set_text(one.hit == nullptr ? one.text : ofp::print_rule(*one.hit, names));
    if (one.hit != nullptr) line->set_table(one.hit->table);
    if (one.found_by) line->set_table_template(to_string(*one.found_by));
  }
  for (const auto& [one, trouble] : answer.copies) {
    auto* copy = out.add_outputs();
    copy->set_to(name_of(one.port, names));
    set_frame(one.bytes, *copy->mutable_frame());
    copy->set_fields(fields_of(one.bytes, names));
    copy->set_queue(one.queue);
    copy->set_trouble(trouble);
  }
  for (const pipeline::packet_in& one : answer.packet_ins) {
    auto* copy = out.add_outputs();
    copy->set_to(pipeline::port_name(pipeline::port_controller));
    set_frame(one.bytes, *copy->mutable_frame());
    copy->set_fields(fields_of(one.bytes, names));
    copy->set_reason(word_of(one.reason));
    copy->set_max_len(one.max_len);
  }
  return {};
}

result<void> explain_bridge(const api_core& core, const v1::ExplainBridgeRequest& asked,
                            v1::ExplainBridgeResponse& out) {
  const auto bridge = core.bridges.find(asked.bridge());
  if (!bridge) return tl::unexpected(bridge.error());
  const bridge_explanation said = bridge->pipeline().explain();
  for (const table_explanation& one : said.tables) {
    auto* table = out.add_tables();
    table->set_table(one.id);
    table->set_flows(one.rules);
    if (one.served) {
      table->set_table_template(to_string(one.served->which));
      if (one.served->prefix_field) table->set_field(info(*one.served->prefix_field).name);
    }
    table->set_clauses(one.clauses);
    if (!one.by.empty()) table->set_field(one.by);
    table->set_rows_apart(one.rows_apart);
    table->set_joined(one.joined);
    for (const pipeline::refused_template& each : one.refused) {
      auto* refused = table->add_refused();
      refused->set_table_template(to_string(each.which));
      refused->set_reason(each.reason);
    }
    table->set_bytes(one.bytes);
    table->set_lookups(one.lookups);
    table->set_matches(one.matches);
    table->set_visits(one.visits);
    if (said.predicted && one.served) set_range(one.cycles, *table->mutable_cycles());
  }
  if (said.predicted) set_range(*said.predicted, *out.mutable_cycles());
  out.set_not_predicted(said.not_predicted);
  out.set_standalone(said.standalone);
  if (said.measured.packets != 0) {
    out.mutable_measured()->set_packets(said.measured.packets);
    out.mutable_measured()->set_bursts(said.measured.bursts);
    out.mutable_measured()->set_cycles(said.measured.cycles);
    out.mutable_measured()->set_interrupted(said.interrupted);
  }
  out.set_measured_ns(said.measured_ns);
  out.set_measured_since_start(said.measured_since_start);
  out.set_cycles_hz(said.cycles_hz);
  return {};
}

}  // namespace coua::ctl
