// SPDX-License-Identifier: Apache-2.0
//
// A flow_mod as it stands in a message. Controllers send them by the hundred thousand, and nearly
// all ask for the same few things. What the library would take as it stands is read here, in a
// quarter of the instructions; of all else, and of all that is wrong, the library says what it is.
// Sources of this folder include it, and what compares the two ways.
#pragma once

#include <optional>

#include "ctl/ofp/message.h"

namespace coua::ofp {

/// Of a message whose header was looked at: what the library makes of it, if its match is plain
/// (wire_match.h) and it has no instructions but goto_table and apply_actions, with no actions but
/// output to a port, group, dec_nw_ttl, and set_field of plain fields. Null: anything else.
std::optional<pipeline::rule_mod> plain_rule(message_view flow_mod);

/// As decode(), all by the library.
tl::expected<request, refusal> decode_by_library(message_view one);

}  // namespace coua::ofp
