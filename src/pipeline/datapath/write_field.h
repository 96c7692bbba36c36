// SPDX-License-Identifier: Apache-2.0
//
// Writes of any field that can be written, by its name: for those that have no loop of their own.
#pragma once

#include "net/rewrite.h"
#include "pipeline/datapath/packet_state.h"

namespace coua::pipeline {

/// The bits under the mask, of a header field, a register, the tunnel's number or the metadata;
/// `value` is within the mask. The packet is parsed to the depth that net/rewrite.h asks for.
net::rewrite_result write_field(packet_state& to, field which, value128 value,
                                value128 mask) noexcept;

/// The bits `from` to as many bits of `to`, from bit `first` on.
net::rewrite_result move_bits(packet_state& in, const field_bits& from, field to,
                              unsigned first) noexcept;

/// Steps of drop precedence (semantics/dscp_remark.h), where the packet is IP.
void remark(packet_state& to, std::uint8_t steps) noexcept;

}  // namespace coua::pipeline
