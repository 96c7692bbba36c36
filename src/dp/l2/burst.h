// SPDX-License-Identifier: Apache-2.0
//
// The frames of one receive burst on their way through the switch, as parallel arrays.
#pragma once

#include <array>
#include <cstdint>

#include "dp/l2/classify.h"
#include "dp/plan.h"

struct rte_mbuf;

namespace coua::dp {

struct burst {
  unsigned n = 0;
  unsigned port = 0;        // number of the port that it came in by
  std::uint64_t bytes = 0;  // of all that came, before some were dropped
  bool uniform = false;  // all frames are untagged unicast in `domain[0]`: only that element is set
  std::array<rte_mbuf*, max_burst> mbufs;
  // The keys of the destinations, then those of the sources: one batch for the FIB.
  alignas(64) std::array<std::uint64_t, 2 * max_burst> keys;
  alignas(64) std::array<std::uint32_t, 2 * max_burst> entries;
  std::array<std::uint16_t, max_burst> domain;
  std::array<tag_state, max_burst> tag;

  std::uint64_t destination(unsigned i) const noexcept { return keys[i]; }
  std::uint64_t source(unsigned i) const noexcept { return keys[n + i]; }
  std::uint16_t domain_of(unsigned i) const noexcept { return uniform ? domain[0] : domain[i]; }
  tag_state tag_of(unsigned i) const noexcept { return uniform ? tag_state::none : tag[i]; }
};

}  // namespace coua::dp
