// SPDX-License-Identifier: Apache-2.0
//
// What is looked at in a message before libopenvswitch decodes it: matches and lists of actions.
// The library keeps the length of write-actions in 16 bits while its own form of an action may be
// three times as long as that on the wire, it knows actions that the switch does not have, and the
// form of a match of OpenFlow 1.1; and what is wrong with a field or a tag it says by errors of its
// own.
#pragma once

#include "ctl/ofp/message.h"

namespace coua::ofp {

/// Of a flow_mod, group_mod, packet_out, or request for statistics of rules, whose header was
/// looked at; anything else is good. Errors: those of ofp_bad_action_code, ofp_bad_match_code,
/// ofp_bad_request_code (length), ofp_group_mod_failed_code (what a bucket watches).
tl::expected<void, refusal> check_on_wire(message_view one);

}  // namespace coua::ofp
