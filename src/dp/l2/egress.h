// SPDX-License-Identifier: Apache-2.0
//
// Where the L2 switch sends a frame, by what the FIB says of its destination. Knows no DPDK.
//
//   nothing                    flooded: to all other members of the domain that are up, unless the
//                              port has brought more of its kind than it may: drop_storm_...
//   nothing, and no such port  drop_no_member
//   the port it came by        drop_hairpin
//   a port that is down        drop_port_down
//   one with no_fwd            drop_no_fwd
//   a port not in the domain   drop_egress_vlan
//   any other port             forwarded
#pragma once

#include "coua/fib.h"
#include "dp/counters.h"
#include "dp/plan.h"

namespace coua::dp {

struct egress {
  port_counter::id verdict;
  port_set ports = 0;  // that get it
};

/// Of a frame that came in by port `from` and belongs to the domain. `no_fwd`: ports to which a
/// controller lets nothing be forwarded, which get no floods either. `entry`: of the FIB.
inline egress decide_egress(const plan& view, port_set no_fwd, unsigned from, std::uint16_t domain,
                            std::uint32_t entry) noexcept {
  const port_set members = view.domains[domain].members();
  if (entry == COUA_FIB_MISS) {
    const port_set others = members & view.up & ~no_fwd & ~port_bit(from);
    return {others != 0 ? port_counter::flooded : port_counter::drop_no_member, others};
  }
  const std::uint32_t out = entry >> COUA_FIB_ENTRY_VALUE_SHIFT;
  if (out == from) return {port_counter::drop_hairpin};
  if (out >= max_ports || (view.up & port_bit(out)) == 0) return {port_counter::drop_port_down};
  if ((no_fwd & port_bit(out)) != 0) return {port_counter::drop_no_fwd};
  if ((members & port_bit(out)) == 0) return {port_counter::drop_egress_vlan};
  return {port_counter::forwarded, port_bit(out)};
}

/// Whether a port that is closed (fib_owner.h) keeps a source out, by what the FIB says of it. A
/// static entry elsewhere is the operator's word, and not learned: as on other ports it goes on.
inline bool is_stranger(std::uint32_t entry, unsigned port) noexcept {
  if (entry == COUA_FIB_MISS) return true;
  return (entry & COUA_FIB_ENTRY_STATIC) == 0 && entry >> COUA_FIB_ENTRY_VALUE_SHIFT != port;
}

inline port_counter::id storm_drop(storm_kind kind) noexcept {
  return static_cast<port_counter::id>(port_counter::drop_storm_broadcast +
                                       static_cast<unsigned>(kind));
}

/// Of a frame that is to be flooded: flooded, or the counter of its drop. Takes what it costs.
/// `bytes`: asked for its length where there is a limit.
template <typename Bytes>
port_counter::id pass_storm(const plan& view, unsigned from, std::uint64_t destination,
                            const Bytes& bytes, std::uint64_t now) noexcept {
  const plan_storm& storm = view.storms[from];
  if (storm.buckets == nullptr) [[likely]]
    return port_counter::flooded;
  const storm_kind kind = storm_kind_of(destination);
  const storm_rate& rate = storm[kind];
  const bool passes = rate.between == 0 || (*storm.buckets)[kind].take(rate, bytes(), now);
  return passes ? port_counter::flooded : storm_drop(kind);
}

}  // namespace coua::dp
