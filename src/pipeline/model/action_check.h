// SPDX-License-Identifier: Apache-2.0
//
// Whether actions make sense, before any packet meets them. In a rule, a header that an action
// changes must be known to be there, from the match and the actions before (OpenFlow 1.3.5, section
// 6.4, match inconsistent). The actions of a bucket and of a packet-out have no match: there an
// action whose header is missing leaves the packet as it is; so does pop_vlan in a rule that
// packets left behind (learn.h), whose match may take a VLAN's number and not the bit that there is
// a tag.
#pragma once

#include <string>

#include "pipeline/model/action.h"
#include "pipeline/model/of_error.h"
#include "pipeline/model/packet_knowledge.h"

namespace coua::pipeline {

enum class action_place { rule, learned_rule, write_actions, bucket, packet_out };

/// Checks a list and follows it with `known`, which is what holds before the list and afterwards
/// what holds after it. `group_exists(id)` says whether the model has a group, `n_tables` how many
/// tables it has.
/// Errors: bad_action_*, with the action in `where`.
template <class GroupExists>
of_result<void> check_actions(const action_list& list, action_place place, packet_knowledge& known,
                              std::size_t n_tables, GroupExists group_exists);

/// The part that needs no groups.
of_result<void> check_action(const action& one, action_place place, packet_knowledge& known);

template <class GroupExists>
of_result<void> check_actions(const action_list& list, action_place place, packet_knowledge& known,
                              std::size_t n_tables, GroupExists group_exists) {
  for (const action& one : list) {
    if (auto good = check_action(one, place, known); !good) return good;
    const auto* group = std::get_if<act::group>(&one);
    if (group != nullptr && !group_exists(group->id)) {
      return refuse(of_error::bad_action_out_group, to_string(one), "there is no such group");
    }
    const auto* resubmit = std::get_if<act::resubmit>(&one);
    const auto* learn = std::get_if<act::learn>(&one);
    if ((resubmit != nullptr && resubmit->table.value_or(0) >= n_tables) ||
        (learn != nullptr && learn->table >= n_tables)) {
      return refuse(of_error::bad_action_argument, to_string(one),
                    "the last table is " + std::to_string(n_tables - 1));
    }
  }
  return {};
}

}  // namespace coua::pipeline
