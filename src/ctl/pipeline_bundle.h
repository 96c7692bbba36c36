// SPDX-License-Identifier: Apache-2.0
//
// From the rules, groups and meters that run to those that texts say: one bundle, which a bridge
// does as a whole or not at all.
//
//   rules that go -> meters and groups that come or change, each after those it needs
//     -> rules that change or come -> groups, then meters, that go
//
// Rules that stay are not in it, so they keep their counters; so do those of which only the actions
// change. What a rule that went or changed took along with it (delete_learned), though it was to
// stay, a second bundle brings back. Rules that packets left behind are traffic's, as learned
// addresses are: they stay, unless a text says the same rule.
#pragma once

#include <string>
#include <vector>

#include "ctl/pipeline_control.h"
#include "ctl/pipeline_texts.h"

namespace coua::ctl {

struct pipeline_snapshot {
  std::vector<rule_record> rules;
  std::vector<group_record> groups;
  std::vector<meter_record> meters;
};
/// Every rule's groups and meter are in it, whatever changes meanwhile.
pipeline_snapshot read_pipeline(pipeline_control& from);

/// As a file says it, without what packets left behind.
pipeline_texts print_pipeline(const pipeline_snapshot& from, const ofp::port_names& names);
/// Of that, what is written with the number of a port because that is gone: "flow in_port=7: port 7
/// is gone", "group 1: ports 7, 8 are gone".
std::vector<std::string> lost_ports_of(const pipeline_snapshot& from, const ofp::port_names& names);

struct pipeline_bundle {
  std::vector<pipeline::operation> operations;
  std::vector<std::string> paths;  // of each, in the file that wants it
  /// Rules go or change, and with them those that they learned (delete_learned) perhaps; or one of
  /// them has gone meanwhile.
  bool may_take_along = false;
};
/// Errors: of a text; its `where` begins with the path.
result<pipeline_bundle> plan_bundle(const pipeline_snapshot& now, const pipeline_texts& wanted,
                                    const ofp::port_names& names);

/// What no text says and is to go: all of it. With a number, rules up to that only, and no groups
/// or meters: what came since stays.
struct going {
  pipeline::rule_id up_to = ~pipeline::rule_id{0};
};

/// Makes it what the texts say. Errors: of plan_bundle and of the bridge, each with the path.
result<void> apply_texts(pipeline_control& to, const pipeline_texts& wanted, going what_goes = {});

}  // namespace coua::ctl
