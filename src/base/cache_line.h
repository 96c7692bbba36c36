// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace coua {

/// Data of different threads lies at least this far apart: the line size of x86-64 and of nearly
/// all ARM servers. A larger line costs speed, not correctness.
inline constexpr std::size_t cache_line_bytes = 64;

}  // namespace coua
