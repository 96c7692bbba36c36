// SPDX-License-Identifier: Apache-2.0
#include "ctl/api/flow_convert.h"

namespace coua::ctl {
namespace {

using pipeline::mod_command;
using pipeline::rule_command;
using request = v1::ApplyFlowsRequest;

std::uint64_t since(pipeline::time_ns then, pipeline::time_ns now) {
  return now > then ? now - then : 0;
}

void to_message(const pipeline::traffic& counted, v1::Traffic& out) {
  out.set_packets(counted.packets);
  out.set_bytes(counted.bytes);
}

result<rule_command> to_rule_command(request::Command command) {
  switch (command) {
    case request::COMMAND_ADD: return rule_command::add;
    case request::COMMAND_MODIFY: return rule_command::modify;
    case request::COMMAND_MODIFY_STRICT: return rule_command::modify_strict;
    case request::COMMAND_DELETE: return rule_command::remove;
    case request::COMMAND_DELETE_STRICT: return rule_command::remove_strict;
    default: return fail(errc::invalid, "command", "there is no such command");
  }
}

/// Of groups and meters: what is strict of rules is no command of theirs.
result<mod_command> to_mod_command(request::Command command) {
  switch (command) {
    case request::COMMAND_ADD: return mod_command::add;
    case request::COMMAND_MODIFY: return mod_command::modify;
    case request::COMMAND_DELETE: return mod_command::remove;
    default: return fail(errc::invalid, "command", "groups and meters have no such command");
  }
}

}  // namespace

result<ofp::line_defaults> to_line_defaults(const request& asked) {
  ofp::line_defaults made;
  made.bare = asked.bare();
  switch (asked.kind()) {
    case request::KIND_FLOW: {
      const auto command = to_rule_command(asked.command());
      if (!command) return tl::unexpected(command.error());
      made.rule = *command;
      return made;
    }
    case request::KIND_GROUP: made.about = ofp::line_defaults::kind::group; break;
    case request::KIND_METER: made.about = ofp::line_defaults::kind::meter; break;
    default: return fail(errc::invalid, "kind", "there is no such kind");
  }
  const auto command = to_mod_command(asked.command());
  if (!command) return tl::unexpected(command.error());
  made.other = *command;
  return made;
}

void to_message(const rule_record& one, pipeline::time_ns now, const ofp::port_names& names,
                v1::Flow& out) {
  out.set_table(one.rule->table);
  out.set_priority(one.rule->priority);
  out.set_cookie(one.rule->cookie);
  out.set_packets(one.state.counted.packets);
  out.set_bytes(one.state.counted.bytes);
  out.set_duration_ns(since(one.rule->added, now));
  out.set_idle_ns(since(one.state.used, now));
  out.set_text(ofp::print_rule(*one.rule, one.state, now, names));
}

void to_message(const group_record& one, pipeline::time_ns now, const ofp::port_names& names,
                v1::Group& out) {
  out.set_group_id(one.group->id);
  out.set_type(to_string(one.group->type));
  to_message(one.state.counted, *out.mutable_total());
  for (const pipeline::traffic& bucket : one.state.buckets) to_message(bucket, *out.add_buckets());
  out.set_duration_ns(since(one.state.added, now));
  out.set_references(one.state.n_rules + one.state.n_groups);
  out.set_text(ofp::print_group(*one.group, names));
  out.set_stats_text(ofp::print_group_stats(*one.group, one.state, now));
}

void to_message(const meter_record& one, pipeline::time_ns now, v1::Meter& out) {
  out.set_meter_id(one.meter->id);
  to_message(one.state.counted, *out.mutable_total());
  for (const pipeline::traffic& band : one.state.bands) to_message(band, *out.add_bands());
  out.set_duration_ns(since(one.state.added, now));
  out.set_flows(one.state.n_rules);
  out.set_text(ofp::print_meter(*one.meter));
  out.set_stats_text(ofp::print_meter_stats(*one.meter, one.state, now));
}

void to_message(const pipeline_status& status, v1::GetFlowStatsResponse& out) {
  out.set_flows(status.rules);
  out.set_groups(status.groups);
  out.set_meters(status.meters);
  out.set_version(status.version);
  for (const pipeline_status::table& one : status.tables) {
    auto* table = out.add_tables();
    table->set_table(one.id);
    table->set_flows(one.rules);
    table->set_lookups(one.lookups);
    table->set_matches(one.matches);
  }
  for (const pipeline_status::drop& one : status.drops) {
    v1::Counter* drop = out.add_drops();
    drop->set_name(one.why);
    drop->set_value(one.packets);
  }
}

}  // namespace coua::ctl
