// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace coua::dp {

/// Ports of a switch: a set of them is the bits of 64 (plan.h). DPDK may have fewer devices.
inline constexpr unsigned max_ports = 64;

}  // namespace coua::dp
