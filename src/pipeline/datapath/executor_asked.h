// SPDX-License-Identifier: Apache-2.0
//
// For the look-ups of the executor.
#pragma once

#include "pipeline/datapath/executor.h"

namespace coua::pipeline {

/// Those of a list that may match, without gaps.
struct executor::asked {
  unsigned n = 0;
  std::uint8_t which[burst_max];  // of the list
  const packet_state* packets[burst_max];

  void add(unsigned k, const packet_state& one) noexcept {
    which[n] = static_cast<std::uint8_t>(k);
    packets[n++] = &one;
  }
  std::span<const packet_state* const> all() const noexcept { return {packets, n}; }
};

}  // namespace coua::pipeline
