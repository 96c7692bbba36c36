// SPDX-License-Identifier: Apache-2.0
//
// Bits of fields (NXM_NX_REG0[4..7]) between the library's form and ours. What it has as one field
// may be several of ours: registers of 64 and 128 bits, and the tag as 16 bits (NXM_OF_VLAN_TCI).
#pragma once

#include <vector>

#include "ctl/ofp/ovs.h"
#include "pipeline/model/action.h"

namespace coua::ofp {

/// Moves that do together what the one does, in an order in which none writes what a later one
/// reads. Errors: bad_action_set_type: a field that we do not have.
pipeline::of_result<std::vector<pipeline::act::move>> moves_from_ovs(const mf_subfield& from,
                                                                     const mf_subfield& to);
/// Of bits of theirs, those from bit `at` on (0: the lowest of these).
struct bits_piece {
  unsigned at;
  pipeline::field_bits ours;
};
/// All of them, from the lowest on. Errors: bad_action_set_type: bits that no field of ours has.
pipeline::of_result<std::vector<bits_piece>> pieces_from_ovs(const mf_subfield& theirs);
/// Errors: bad_action_set_type: they are not of one field that we have.
pipeline::of_result<pipeline::field_bits> bits_from_ovs(const mf_subfield& theirs);
/// Errors: bad_action_set_type: the library has no such field.
pipeline::of_result<mf_subfield> to_ovs_bits(const pipeline::field_bits& ours);

}  // namespace coua::ofp
