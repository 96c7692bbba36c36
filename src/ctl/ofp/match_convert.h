// SPDX-License-Identifier: Apache-2.0
//
// Matches between the library's form and ours. What one side cannot say is refused, never left out:
// each direction translates back and compares.
//
// The library keeps a VLAN tag as one word (TCI, with a bit for "there is a tag") and lets fields
// of different protocols share their place; ours are the fields of OXM. A match that is not in
// normal form (a port without a protocol) is refused here, while ovs-ofctl drops the field with a
// warning.
#pragma once

#include "ctl/ofp/ovs.h"
#include "pipeline/model/match.h"

namespace coua::ofp {

/// Errors: bad_match_*; they name the field.
pipeline::of_result<pipeline::match> from_ovs(const ::match& theirs);
pipeline::of_result<pipeline::match> from_ovs(const minimatch& theirs);
/// Errors: bad_match_field, when the library has no such field or takes fewer values of it.
pipeline::of_result<::match> to_ovs(const pipeline::match& ours);

}  // namespace coua::ofp
