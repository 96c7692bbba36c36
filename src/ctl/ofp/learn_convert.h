// SPDX-License-Identifier: Apache-2.0
//
// The action learn between the library's form and ours. A part that the library has as one may be
// several of ours, as moves are (bits_convert.h).
#pragma once

#include "ctl/ofp/ovs.h"
#include "pipeline/model/action.h"

namespace coua::ofp {

/// Errors: bad_action_argument: an option that we do not have; bad_action_set_type: fields that we
/// do not have.
pipeline::of_result<pipeline::act::learn> from_ovs(const ofpact_learn& theirs);
/// Appends it. Errors: bad_action_set_type: the library has no such field.
pipeline::of_result<void> to_ovs(const pipeline::act::learn& ours, ofpbuf* into);

}  // namespace coua::ofp
