// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace coua::dp {

/// VLANs of all bridges: a key of the FIB has 12 bits for them, and 0 is none (l2/domain_map.h).
inline constexpr unsigned domains_max = 4095;

}  // namespace coua::dp
