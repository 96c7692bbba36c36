// SPDX-License-Identifier: Apache-2.0
//
// Matches as they stand in messages. The library's decoder brings them into a form of its own, out
// of which match_convert.h reads ours and translates it back to see that nothing was lost. Most
// matches have only fields that are in both forms what they are in the message; these are read from
// the message at once. Only sources of this folder include it.
#pragma once

#include <optional>

#include "ctl/ofp/message.h"
#include "pipeline/model/match.h"

namespace coua::ofp {

/// Of a list of fields (OXM) that the library has taken: what from_ovs() makes of the library's
/// form, or an error of the model. Null: it has another field, or one with an empty mask.
std::optional<pipeline::of_result<pipeline::match>> plain_match(message_view fields);

}  // namespace coua::ofp
