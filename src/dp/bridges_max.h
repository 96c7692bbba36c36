// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace coua::dp {

/// Bridges of a switch. Each has a thread, and in every worker an executor and rings of its own.
inline constexpr unsigned bridges_max = 16;

}  // namespace coua::dp
