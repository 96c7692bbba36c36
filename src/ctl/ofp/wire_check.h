// SPDX-License-Identifier: Apache-2.0
//
// What is looked at in a message before libopenvswitch decodes it: lists of actions. The library
// keeps the length of write-actions in 16 bits while its own form of an action may be three times
// as long as that on the wire, and it knows actions that the switch does not have.
#pragma once

#include "ctl/ofp/message.h"

namespace coua::ofp {

/// Of a flow_mod, group_mod or packet_out, whose header was looked at; anything else is good.
/// Errors: those of ofp_bad_action_code, ofp_bad_request_code (length).
tl::expected<void, refusal> check_actions_on_wire(message_view one);

}  // namespace coua::ofp
