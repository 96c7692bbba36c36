// SPDX-License-Identifier: Apache-2.0
//
// Rules, groups and meters as the configuration file says them: `pipeline.flows`, `groups` and
// `meters` are lists of texts, each as `coua flow add` (group, meter) takes it (ofp/flow_text.h).
//
// Names of ports stand for numbers that are known only where the ports are, so texts are kept as
// texts: they are checked on a model of their own when the file is read, compared as texts that
// name the ports of the running switch, and become operations when they are applied
// (pipeline_bundle.h).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ctl/config.h"
#include "ctl/ofp/flow_text.h"

namespace coua::ctl {

enum class text_list { meters, groups, flows };
inline constexpr text_list text_lists[] = {text_list::meters, text_list::groups, text_list::flows};

const std::vector<std::string>& list_of(const pipeline_texts& of, text_list which);
std::vector<std::string>& list_of(pipeline_texts& of, text_list which);
/// "pipeline.flows[3]"
std::string path_of_text(text_list which, std::size_t index);

/// One of them, to be added.
result<pipeline::operation> parse_text(text_list which, const std::string& text,
                                       const ofp::port_names& names);
/// As save and compare write it.
std::string print_operation(const pipeline::operation& one, const ofp::port_names& names);

/// Why one text cannot stand beside the one there.
std::string same_rule_as(const std::string& path);

/// What of a text is wrong, or where it does not go with the others.
struct text_problem {
  std::string path;
  std::string reason;
};
/// All that can be said without a switch; `names` are the ports of the file.
std::vector<text_problem> check_texts(const pipeline_texts& texts, const ofp::port_names& names,
                                      std::size_t rules_max);

/// Each text as it would be printed if it ran with these ports. One that cannot be read stays, and
/// so do those of `printed`, which were printed with them already: reading takes 10 us each.
pipeline_texts resolve_texts(pipeline_texts texts, const ofp::port_names& names,
                             const pipeline_texts& printed = {});

/// Ports of a bridge that have no number yet, from `first_guess` on, with numbers that hardly any
/// text says; but the local one is LOCAL.
inline constexpr pipeline::port_no first_guess = 0xf000;
void add_guesses(const std::vector<dp::port_config>& ports, const std::string& bridge,
                 ofp::port_names& names);

/// What names it to a user, "flow table=1,priority=10,tcp", and what it is, part by part.
struct text_parts {
  std::string item;
  std::vector<std::pair<std::string, std::string>> parts;
};
text_parts describe_text(const pipeline::operation& one, const ofp::port_names& names);

/// Numbers of groups in an order in which each comes after those it needs. `loops`: those that lead
/// back to themselves.
std::vector<pipeline::group_id> by_need(
    const std::map<pipeline::group_id, const pipeline::group*>& groups,
    std::vector<pipeline::group_id>* loops = nullptr);

}  // namespace coua::ctl
