// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace coua::bench {

/// What a program prints that was started with the library, when its source has its frames.
inline constexpr const char* frames_line = "coua-bench: the source has its frames";

}  // namespace coua::bench
