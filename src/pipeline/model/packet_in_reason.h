// SPDX-License-Identifier: Apache-2.0
//
// Why a packet goes to the controller, and what is said of the rule that sent it.
#pragma once

#include <cstdint>

namespace coua::pipeline {

/// ofp_packet_in_reason.
enum class packet_in_reason : std::uint8_t { no_match = 0, action = 1, invalid_ttl = 2 };

/// The cookie of a packet-in that no rule is to be named for: its action stood in a bucket, or came
/// from the action set.
inline constexpr std::uint64_t no_cookie = ~std::uint64_t{0};

}  // namespace coua::pipeline
