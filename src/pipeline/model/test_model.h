// SPDX-License-Identifier: Apache-2.0
//
// Short ways to write matches, rules and operations in tests. What is wrong in them ends the test
// program: they are for valid ones.
#pragma once

#include <utility>
#include <vector>

#include "base/check.h"
#include "pipeline/model/bridge.h"

namespace coua::pipeline::test {

inline match where(std::vector<match_term> terms) {
  of_result<match> made = match::make(std::move(terms));
  if (!made) std::fprintf(stderr, "%s\n", made.error().message().c_str());
  COUA_CHECK(made.has_value());
  return *made;
}

inline match_term ipv4() { return exact(field::eth_type, 0x0800); }
inline match_term ipv6() { return exact(field::eth_type, 0x86dd); }
inline match_term mpls() { return exact(field::eth_type, 0x8847); }
inline match_term tagged() { return {field::vlan_vid, vlan_present, vlan_present}; }

inline instructions apply(action_list list) {
  instructions made;
  made.apply = std::move(list);
  return made;
}
inline instructions write(action_list list) {
  instructions made;
  made.write = std::move(list);
  return made;
}
inline instructions go(table_id to) {
  instructions made;
  made.goto_table = to;
  return made;
}
inline action output(port_no port) { return act::output{port}; }

inline rule_mod add_rule(table_id table, std::uint16_t priority, match what, instructions then) {
  rule_mod made;
  made.table = table;
  made.priority = priority;
  made.match = std::move(what);
  made.instructions = std::move(then);
  return made;
}
inline rule_mod change_rules(rule_command command, table_id table, std::uint16_t priority,
                             match what, instructions then = {}) {
  rule_mod made = add_rule(table, priority, std::move(what), std::move(then));
  made.command = command;
  return made;
}

inline bucket to(action_list actions, std::uint16_t weight = 0, port_no watch = port_any) {
  bucket made;
  made.weight = weight;
  made.watch_port = watch;
  made.actions = std::move(actions);
  return made;
}
inline group_mod add_group(group_id id, group_type type, std::vector<bucket> buckets) {
  return {mod_command::add, {id, type, std::move(buckets), {}}};
}
inline meter_mod add_meter(meter_id id, meter_unit unit, std::vector<meter_band> bands) {
  return {mod_command::add, {id, unit, false, false, std::move(bands)}};
}
/// Drops what exceeds `rate` packets a second, `burst` of them at once.
inline meter_mod add_policer(meter_id id, std::uint32_t rate, std::uint32_t burst) {
  return {mod_command::add,
          {id, meter_unit::pktps, true, false, {{band_type::drop, rate, burst, 0}}}};
}
inline port_mod add_port(port_no number) {
  port one;
  one.number = number;
  return {mod_command::add, one};
}

inline bridge make_bridge(const bridge_params& params = {}) {
  result<bridge> made = bridge::create(params);
  COUA_CHECK(made.has_value());
  return std::move(*made);
}
/// An operation that must be taken.
inline change_list must(bridge& in, const operation& asked, time_ns now = 0) {
  of_result<change_list> done = in.apply(asked, now);
  if (!done) std::fprintf(stderr, "%s\n", done.error().message().c_str());
  COUA_CHECK(done.has_value());
  return std::move(*done);
}
/// The error of one that must be refused.
inline of_error refused(bridge& in, const operation& asked, time_ns now = 0) {
  const std::uint64_t version = in.version();
  const of_result<change_list> done = in.apply(asked, now);
  COUA_CHECK(!done.has_value());
  COUA_CHECK(in.version() == version);
  COUA_CHECK(!done.error().what.empty());
  return done.error().code;
}

}  // namespace coua::pipeline::test
