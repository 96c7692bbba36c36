// SPDX-License-Identifier: Apache-2.0
//
// Rules that hold together. "One of these sources, and one of these ports" takes a rule for each
// pair of them; as a conjunction it takes a rule for each source and each port, and one for what
// they do:
//
//   priority=10,ip,nw_src=10.0.0.1   actions=conjunction(7,1/2)     clause 1
//   priority=10,ip,nw_src=10.2.0.0/16 actions=conjunction(7,1/2)
//   priority=10,tcp,tcp_dst=80       actions=conjunction(7,2/2)     clause 2
//   priority=10,tcp,tcp_dst=443      actions=conjunction(7,2/2)
//   priority=10,conj_id=7            actions=output:2
//
// A rule whose actions are conjunctions is no rule that a packet can meet. But when a packet
// matches such rules of one priority that are all clauses of a conjunction, its conj_id is that of
// the conjunction for a look-up among the other rules, and the rule that is found then counts.
// Higher priorities come first, up to that of the rule that counts otherwise; of one priority, the
// lowest id that leads to a rule. (Open vSwitch's ovs-fields(7), which leaves the last open.)
#pragma once

#include "pipeline/model/rule.h"

namespace coua::pipeline {

inline constexpr unsigned clauses_min = 2, clauses_max = 64;

/// Its actions say of which conjunctions it is a clause. (The model takes no such rule that does
/// anything else.)
inline bool is_clause(const instructions& of) {
  const auto& list = of.apply;
  return list && !list->empty() && std::holds_alternative<act::conjunction>(list->front());
}
inline bool is_clause(const rule& one) { return is_clause(one.instructions); }

}  // namespace coua::pipeline
