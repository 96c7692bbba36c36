// SPDX-License-Identifier: Apache-2.0
//
// Pushing, popping and rewriting the VLAN tag of a frame that nobody else refers to.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>

#include "dp/l2/classify.h"

namespace coua::dp {

/// Brings a frame from the form that it came in (`from`) to the form in which it leaves: with a tag
/// of `vlan`, or without one. The priority bits of a tag that was there are kept. False: there is
/// no headroom for a tag; the frame is unchanged. Datapath.
bool retag(rte_mbuf* frame, tag_state from, bool tagged, std::uint16_t vlan) noexcept;

/// Others refer to the bytes too (a ring between two ports passes on what is flooded elsewhere), so
/// they must not be written to. Without a branch: a burst's are asked together.
inline bool is_shared(const rte_mbuf* frame) noexcept {
  return (rte_mbuf_refcnt_read(frame) != 1) | !RTE_MBUF_DIRECT(frame);
}

/// The frame itself, or, where others refer to it, a copy in its place. Null: there is no packet
/// for the copy; the frame is as it was.
rte_mbuf* make_sole(rte_mbuf* frame) noexcept;

/// The VLAN that the tag of a frame names, wherever a driver has put it; `native` where it names
/// none.
std::uint16_t tagged_vlan(const rte_mbuf* frame, std::uint16_t native) noexcept;

/// Puts the tag back that a driver took out of the frame, and clears its mark. False: no headroom.
bool restore_tag(rte_mbuf* frame) noexcept;

}  // namespace coua::dp
