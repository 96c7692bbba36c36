// SPDX-License-Identifier: Apache-2.0
//
// Which field of ours is which of the library's, and values between the two: numbers here, bytes in
// network order there.
#pragma once

#include <optional>
#include <span>

#include "ctl/ofp/ovs.h"
#include "pipeline/model/field.h"

namespace coua::ofp {

struct field_pair {
  pipeline::field ours;
  mf_field_id theirs;
};
/// In the order of our fields. in_phy_port and ipv6_exthdr are missing: the library has neither.
std::span<const field_pair> field_pairs();

/// Null: the library has no such field.
const mf_field* to_ovs_field(pipeline::field which);
std::optional<pipeline::field> from_ovs_field(mf_field_id id);

/// As coua_field_of(), but faster for the fields of OpenFlow itself without a mask.
const mf_field* field_of_header(std::uint32_t oxm_header);

/// The library's structure, eight bytes after another.
inline constexpr std::size_t n_flow_words = sizeof(flow) / sizeof(std::uint64_t);
std::uint64_t flow_word(const flow& of, std::size_t i);

pipeline::value128 from_ovs_value(const void* bytes, std::size_t n_bytes);
mf_value to_ovs_value(const mf_field& of, pipeline::value128 value);

}  // namespace coua::ofp
