// SPDX-License-Identifier: Apache-2.0
//
// Ingress rules of a VLAN bridge: which VLAN a frame belongs to, and what its FIB keys are. Works
// on bytes, knows no DPDK.
//
//   bytes   0..5         6..11     12..13   14..15 | 16..17
//           destination  source    0x8100   PCP/VID  type          tagged frame, 18 bytes
//           destination  source    type                            untagged frame, 14 bytes
//
//   frame                        access port            trunk port
//   untagged                     native VLAN            native VLAN; none: dropped
//   priority-tagged (VID 0)      native VLAN            native VLAN; none: dropped
//   tagged, VID 1 to 4094        dropped                that VLAN if the port carries it tagged
//   tagged, VID 4095             dropped (reserved)     dropped
//
// Only the outer tag of type 0x8100 counts: a frame whose outer type is 0x88A8 (a provider's tag)
// is untagged to a customer bridge (IEEE 802.1Q, 6.9) and passes with its tags as they are.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "dp/counters.h"
#include "dp/plan.h"

namespace coua::dp {

inline constexpr unsigned ethernet_header_bytes = 14;
inline constexpr unsigned vlan_tag_bytes = 4;
inline constexpr std::uint16_t vlan_ethertype = 0x8100;
inline constexpr std::uint64_t mac_mask = (std::uint64_t{1} << domain_shift) - 1;
inline constexpr std::uint64_t group_bit = std::uint64_t{1} << 40;  // of a MAC in a key

enum class tag_state : std::uint8_t { none, priority, tagged };

/// Eight bytes in network order as a number: the upper 48 bits are the address that starts there.
inline std::uint64_t load_be64(const std::uint8_t* bytes) noexcept {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
  return word;
}

/// 01:80:C2:00:00:00 to 0F: spoken between neighbours, forwarded by no bridge (802.1Q, 8.6.3).
inline bool is_link_local(std::uint64_t mac) noexcept {
  return (mac & mac_mask & ~std::uint64_t{0xF}) == 0x0180'C200'0000u;
}

struct ingress {
  std::uint64_t source = 0;       // FIB keys
  std::uint64_t destination = 0;  //
  std::uint16_t vlan = 0;
  std::uint16_t domain = 0;  // of that VLAN in the port's bridge
  tag_state tag = tag_state::none;
  // forwarded: the frame goes on to the look-up. Else the counter that says why not.
  port_counter::id verdict = port_counter::forwarded;
};

/// Applies the table above. `length`: contiguous bytes at `frame`; no byte after them is read.
inline ingress classify(const plan& view, unsigned port_number, const std::uint8_t* frame,
                        unsigned length) noexcept {
  const plan_port& port = view.ports[port_number];
  ingress in;
  if (length < ethernet_header_bytes) {
    in.verdict = port_counter::drop_truncated;
    return in;
  }
  const std::uint64_t high = load_be64(frame);
  const std::uint64_t low = load_be64(frame + 6);
  in.vlan = port.native_vlan;
  in.domain = port.native_domain;
  if ((low & 0xFFFF) == vlan_ethertype) {
    if (length < ethernet_header_bytes + vlan_tag_bytes) {
      in.verdict = port_counter::drop_truncated;
      return in;
    }
    const std::uint16_t vid = static_cast<std::uint16_t>((frame[14] << 8 | frame[15]) & 0xFFF);
    in.tag = vid == 0 ? tag_state::priority : tag_state::tagged;
    if (vid != 0) {
      in.vlan = vid;
      in.domain = view.bridges[port.bridge].domains[vid];
    }
  }
  const plan_domain& domain = view.domains[in.domain];
  const port_set carries = in.tag == tag_state::tagged ? domain.tagged : domain.untagged;
  const bool is_member =
      (carries & port_bit(port_number)) != 0 || (port.any_vlan && in.vlan < n_vlans - 1);
  if (in.vlan == 0 || !is_member) {
    in.verdict = port_counter::drop_ingress_vlan;
    return in;
  }
  const std::uint64_t key = std::uint64_t{in.domain} << domain_shift;
  in.destination = key | high >> 16;
  in.source = key | low >> 16;
  if ((in.source & group_bit) != 0)
    in.verdict = port_counter::drop_source_multicast;
  else if (is_link_local(in.destination))
    in.verdict = port_counter::drop_link_local;
  return in;
}

}  // namespace coua::dp
