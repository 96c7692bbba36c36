// SPDX-License-Identifier: Apache-2.0
//
// The key of select groups (semantics/select_key.h) from a parsed packet.
#pragma once

#include "pipeline/datapath/packet_state.h"
#include "pipeline/semantics/select_key.h"

namespace coua::pipeline {

/// Parsed to the depth of transport.
select_key select_key_of(const packet_state& from) noexcept;

}  // namespace coua::pipeline
