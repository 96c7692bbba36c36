// SPDX-License-Identifier: Apache-2.0
//
// The searches of src/flow/bucket_slots.h as machines without SSE2 have them, on any machine.
#pragma once

#include <cstdint>

#include "simd/flow_lookup/line.h"

namespace coua::fuzz {

std::uint32_t plain_with_tag(const simd::flow_line& line, std::uint32_t tag);
std::uint32_t plain_empty(const simd::flow_line& line);
std::uint32_t plain_invisible(const simd::flow_line& line, std::uint64_t now);

}  // namespace coua::fuzz
