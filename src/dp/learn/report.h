// SPDX-License-Identifier: Apache-2.0
//
// What a worker tells the owner of the FIB about a source address that it saw.
#pragma once

#include <cstdint>

#include "base/spsc_ring.h"

namespace coua::dp {

/// 24 bytes. The owner decides what it means (new, moved, refreshed): by then the FIB may differ
/// from what the worker saw.
struct learn_report {
  std::uint64_t key;   // bridge domain and address, as in the FIB
  std::uint64_t time;  // cycles() when the frame was looked at
  std::uint32_t port;  // number of the port that it came in by
  std::uint32_t reserved;
};
static_assert(sizeof(learn_report) == 24);

/// From one worker to the owner. A full ring loses the report; the next frame makes it again.
using learn_ring = spsc_ring<learn_report>;
inline constexpr std::size_t learn_ring_size = 8192;  // 192 KiB a worker; drained every millisecond

}  // namespace coua::dp
