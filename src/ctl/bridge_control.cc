// SPDX-License-Identifier: Apache-2.0
#include "ctl/bridge_control.h"

namespace coua::ctl {
namespace {

// Rules that the owner looks at by one command: about a millisecond, in which nothing else is done.
constexpr std::size_t rules_at_once = 4096;

}  // namespace

pipeline::of_result<pipeline::change_list> bridge_control::apply(
    std::span<const pipeline::operation> bundle) {
  return owner_.apply(bundle);
}

void bridge_control::dump_rules(const ofp::rule_filter& filter,
                                const std::function<bool(std::span<const rule_record>)>& take) {
  std::size_t n_tables = owner_.read([](const pipeline::bridge& b) { return b.tables().size(); });
  std::size_t table = 0;
  if (filter.table != pipeline::table_all) {
    table = filter.table;
    n_tables = std::min<std::size_t>(n_tables, table + 1);
  }
  std::vector<rule_record> part;
  for (; table < n_tables; ++table) {
    pipeline::rule_table::cursor at;
    for (bool more = true; more;) {
      part.clear();
      owner_.read_on([&](const pipeline::bridge& b) {
        // Tables without rules cost no command of their own.
        while (b.tables()[table].size() == 0 && table + 1 < n_tables) {
          ++table;
          at = {};
        }
        more = b.tables()[table].each_from(at, rules_at_once,
                                           [&](const pipeline::rule_table::entry& one) {
                                             if (filter.takes(*one.rule))
                                               part.push_back({one.rule, one.state});
                                           });
      });
      if (!part.empty() && !take(part)) return;
    }
  }
}

std::vector<group_record> bridge_control::groups() {
  return owner_.read([](const pipeline::bridge& b) { return list_groups(b); });
}

std::vector<meter_record> bridge_control::meters() {
  return owner_.read([](const pipeline::bridge& b) { return list_meters(b); });
}

pipeline_status bridge_control::status() {
  pipeline_status made = owner_.read([](const pipeline::bridge& b) { return status_of(b); });
  for (dp::counter& each : owner_.drops()) made.drops.push_back({each.name, each.value});
  return made;
}

ofp::port_names bridge_control::port_names() {
  ofp::port_names made;
  for (const dp::port_status& each : switch_.ports()) {
    made.add(dp::bridge_port(each.number), each.config.name);
  }
  return made;
}

}  // namespace coua::ctl
