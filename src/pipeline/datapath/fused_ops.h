// SPDX-License-Identifier: Apache-2.0
//
// Ops that often follow each other, or come often, with a loop of their own: each packet goes
// through all of them before the next one does, in code that was compiled for just these. The
// compiler marks them in a shape; ops that are in no such row have a loop each (run_op).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/datapath/action_record.h"

namespace coua::pipeline {

struct fused_ops {
  static constexpr std::size_t most = 6;
  std::size_t n = 0;
  action_step steps[most] = {};

  constexpr fused_ops(std::initializer_list<action_step> of) {
    for (const action_step& each : of) steps[n++] = each;
  }
};

namespace fused {

constexpr action_step set(field which) { return {op_code::set, static_cast<std::uint8_t>(which)}; }
inline constexpr action_step macs{op_code::set_macs},
    to_mac = set(field::eth_dst), from_mac = set(field::eth_src), to_ip = set(field::ipv4_dst),
    from_ip = set(field::ipv4_src), ttl{op_code::dec_ip_ttl}, out{op_code::output},
    push{op_code::push_vlan}, pop{op_code::pop_vlan}, vid = set(field::vlan_vid);

/// An output is the last of a row: what comes behind it may change the frame that it borrows.
inline constexpr fused_ops all[] = {
    // A hop of a router.
    {macs, ttl, out},
    {ttl, macs, out},
    {macs, ttl},
    {ttl, macs},
    {macs, out},
    {macs},
    // A gateway, that translates addresses.
    {pop, from_ip},
    {to_ip, macs, ttl, push, vid, out},
    {to_ip, macs, ttl, out},
    {from_ip, macs, ttl, out},
    // Tags.
    {push, vid, out},
    {push, vid},
    {pop, out},
    {vid, out},
    // One alone, or before an output.
    {to_mac, out},
    {to_ip, out},
    {from_ip, out},
    {ttl, out},
    {pop},
    {to_mac},
    {from_mac},
    {to_ip},
    {from_ip},
    {ttl},
    {vid},
    {out},
};
inline constexpr std::size_t n = std::size(all);
static_assert(n < 256);

}  // namespace fused

/// Marks the rows: of the ones that fit, from the first op on, the longest.
inline void fuse(std::vector<action_step>& steps) {
  for (std::size_t at = 0; at < steps.size();) {
    std::size_t best = fused::n;
    for (std::size_t i = 0; i < fused::n; ++i) {
      const fused_ops& row = fused::all[i];
      if (best != fused::n && row.n <= fused::all[best].n) continue;
      std::size_t same = 0;
      while (same < row.n && at + same < steps.size() && steps[at + same] == row.steps[same])
        ++same;
      if (same == row.n) best = i;
    }
    if (best == fused::n) {
      ++at;
      continue;
    }
    steps[at].fused = static_cast<std::uint8_t>(best + 1);
    at += fused::all[best].n;
  }
}

}  // namespace coua::pipeline
