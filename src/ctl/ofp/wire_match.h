// SPDX-License-Identifier: Apache-2.0
//
// Matches as they stand in messages. The library's decoder brings them into a form of its own, out
// of which match_convert.h reads ours and translates it back to see that nothing was lost. Most
// matches have only fields that are in both forms what they are in the message; these are read from
// the message itself, in rules that are plain besides (wire_rule.h).
#pragma once

#include <optional>

#include "ctl/ofp/message.h"
#include "pipeline/model/match.h"

namespace coua::ofp {

/// A field whose value is whole bytes, and the same in the library's form.
struct plain_field {
  pipeline::field which;
  std::size_t n_bytes;
};
/// Of the header of a field (OXM), with or without a mask. Null: it has another one, or none.
std::optional<plain_field> plain_field_of(std::uint32_t header);

/// Of a list of fields (OXM): what from_ovs() makes of the library's form. Null: it has another
/// field, one with an empty mask, or anything that is wrong or may be; the library is to say what.
std::optional<pipeline::match> plain_match(message_view fields);

}  // namespace coua::ofp
