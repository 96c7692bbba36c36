// SPDX-License-Identifier: Apache-2.0
//
// VLAN tags and MPLS labels that come and go (OpenFlow 1.3.5, section 5.12), and the TTL that moves
// between layers. A new header takes over what the specification lists, and is 0 elsewhere:
//
//   VLAN tag     number and priority of the tag that was outermost
//   MPLS entry   label, class and TTL of the entry that was outermost; without one the TTL of IP
//
// A tag goes before all tags, a label before all labels and behind the tags: the outermost places
// that make a valid frame. Each answers false, and changes nothing, where that is impossible.
#pragma once

#include <cstdint>

#include "pipeline/oracle/packet.h"

namespace coua::pipeline {

bool push_vlan(packet& one, std::uint16_t ethertype);
bool pop_vlan(packet& one);
bool push_mpls(packet& one, std::uint16_t ethertype);
bool pop_mpls(packet& one, std::uint16_t ethertype);

/// Between the outermost MPLS entry and the next one, or IP below the last one.
bool copy_ttl_out(packet& one);
bool copy_ttl_in(packet& one);

}  // namespace coua::pipeline
