// SPDX-License-Identifier: Apache-2.0
//
// Actions and instructions between the library's form (ofpacts) and ours. Actions of older versions
// of OpenFlow (mod_nw_src, strip_vlan) become what OpenFlow 1.3 has in their place, as when
// ovs-ofctl speaks it. What we do not have is refused by its name.
#pragma once

#include "ctl/ofp/ovs.h"
#include "pipeline/model/instructions.h"
#include "pipeline/model/match.h"

namespace coua::ofp {

/// `match` is that of the rule: some actions say "the port" or "the tag", and it says which.
/// Errors: bad_action_*.
pipeline::of_result<pipeline::instructions> instructions_from_ovs(const ofpact* acts,
                                                                  std::size_t len,
                                                                  const pipeline::match& match);
/// Of a bucket or a packet-out, which have no match: instructions are refused.
pipeline::of_result<pipeline::action_list> actions_from_ovs(const ofpact* acts, std::size_t len);

/// What a rule's or bucket's actions may be in OpenFlow 1.3: a bit for each ofpact_type.
std::uint64_t all_actions();

/// Appends them to `into`. Errors: bad_action_*, for what the library does not have.
pipeline::of_result<void> to_ovs(const pipeline::instructions& ours, ofpbuf* into);
pipeline::of_result<void> to_ovs(const pipeline::action_list& ours, ofpbuf* into);

}  // namespace coua::ofp
