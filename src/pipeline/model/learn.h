// SPDX-License-Identifier: Apache-2.0
//
// Rules that packets leave behind (Open vSwitch's ovs-actions(7), learn). A learning switch of two
// tables:
//
//   table=0
//   actions=learn(table=1,hard_timeout=300,eth_dst[]=eth_src[],output:in_port[]),goto_table:1
//   table=1,priority=0 actions=FLOOD
//
//   a packet from MAC m at port p  -->  table=1,hard_timeout=300,eth_dst=m actions=output:p
//
// The packet goes on at once; the rule comes when the owner of the model has heard of it. One that
// is there already, and the same, lives on from then: its time-outs start again. One with other
// actions, cookie or time-outs takes its place and keeps the counters.
#pragma once

#include <functional>
#include <span>

#include "pipeline/model/of_error.h"
#include "pipeline/model/operation.h"

namespace coua::pipeline {

/// Parts that take something from the packet, of one action.
inline constexpr std::size_t learned_values_max = 16;
/// Parts of one action.
inline constexpr std::size_t learn_parts_max = 64;

/// What the parts with `from` take, in their order; `read(bits)` gives the bits as a number, or
/// none where the packet has no such field. False: then nothing is learned. `values` has room for
/// learned_values_max.
template <class Read>
bool take_values(const act::learn& how, value128* values, Read read) {
  for (const act::learn::part& each : how.parts) {
    if (!each.from) continue;
    const std::optional<value128> found = read(*each.from);
    if (!found) return false;
    *values++ = *found;
  }
  return true;
}

/// The rule, as an operation on the model (rule_command::learn). Errors: bad_match_*: the values do
/// not make a match.
of_result<rule_mod> learned_rule(const act::learn& how, std::span<const value128> values);

/// What holds for every packet: widths, fields that can be written, numbers of parts, that the
/// match makes sense. Not whether the packet has the fields. Errors: bad_action_argument,
/// bad_action_set_*, bad_action_match_inconsistent.
of_result<void> check_learn(const act::learn& how);

/// A load of 0 into all of `vlan_vid`, as Open vSwitch writes it with all of NXM_OF_VLAN_TCI: the
/// learned rule takes the tag away, and leaves packets that have none as they are.
act::learn::part take_tag_away();
bool takes_tag_away(const act::learn::part& one);

/// "learn(table=1,eth_dst[]=eth_src[],output:in_port[])", as ovs-ofctl reads it.
std::string to_string(const act::learn& how);

}  // namespace coua::pipeline
