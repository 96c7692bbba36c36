// SPDX-License-Identifier: Apache-2.0
//
// Frames of the slow protocols on their way between the workers and the thread `tables`, which
// speaks LACP. Only workers receive and send; one of them, number 0, sends all that there is.
#pragma once

#include <array>
#include <cstdint>

#include "base/spsc_ring.h"
#include "dp/bond/lacp.h"

struct rte_mbuf;

namespace coua::dp {

/// From a worker: as much of a frame as LACP reads.
struct slow_in {
  std::uint16_t device = 0;  // that brought it
  std::uint8_t n = 0;
  slow_frame bytes;
};
using slow_in_ring = spsc_ring<slow_in>;

/// To worker 0.
struct slow_out {
  rte_mbuf* frame = nullptr;
  std::uint16_t device = 0;  // of the member, which must still be that of the plan
  std::uint8_t port = 0, member = 0;
};
using slow_out_ring = spsc_ring<slow_out>;

/// Of all bonds, each member's answer to a frame and what it sends by itself: some rounds of it.
inline constexpr std::size_t slow_in_ring_size = 256, slow_out_ring_size = 128;

}  // namespace coua::dp
