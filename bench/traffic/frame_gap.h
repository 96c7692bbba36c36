// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace coua::bench {

/// Between the times of two frames in a packet file.
inline constexpr std::uint64_t frame_gap_ns = 1000;

}  // namespace coua::bench
