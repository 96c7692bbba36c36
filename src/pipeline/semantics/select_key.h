// SPDX-License-Identifier: Apache-2.0
//
// By what a select group spreads packets: one definition for every interpreter of the model and for
// the datapath. Packets of one flow agree in all of it.
//
//   word 0   eth_dst:48 eth_type:16          word 4, 5   destination address
//   word 1   eth_src:48 vlan_vid:13          word 6      ip_proto:8 source port:16 dest. port:16
//   word 2, 3   source address               word 7, 8   arp_op:16, arp_sha:48; arp_tha:48
//
// The fields are those that the packet has when it comes to the group. What it does not have is 0.
// Addresses are of IPv6, IPv4 or ARP; a shorter one stands in the lower bits of the second word.
// Ports are of TCP, UDP or SCTP, and 0 in every fragment: the first one must go where the others
// go.
#pragma once

#include <array>
#include <cstdint>

#include "base/keyed_hash.h"
#include "pipeline/model/field_values.h"

namespace coua::pipeline {

inline constexpr std::size_t select_key_words = 9;
using select_key = std::array<std::uint64_t, select_key_words>;

inline select_key make_select_key(const field_values& packet) {
  const auto word = [&](field which) { return static_cast<std::uint64_t>(packet.get(which)); };
  // At most one of these is there; absent ones are 0.
  const value128 source =
      packet.get(field::ipv6_src) | packet.get(field::ipv4_src) | packet.get(field::arp_spa);
  const value128 destination =
      packet.get(field::ipv6_dst) | packet.get(field::ipv4_dst) | packet.get(field::arp_tpa);
  const bool fragment = packet.get(field::ip_frag) != 0;
  const std::uint64_t source_port =
      fragment ? 0 : word(field::tcp_src) | word(field::udp_src) | word(field::sctp_src);
  const std::uint64_t destination_port =
      fragment ? 0 : word(field::tcp_dst) | word(field::udp_dst) | word(field::sctp_dst);
  return {word(field::eth_dst) << 16 | word(field::eth_type),
          word(field::eth_src) << 16 | word(field::vlan_vid),
          static_cast<std::uint64_t>(source >> 64),
          static_cast<std::uint64_t>(source),
          static_cast<std::uint64_t>(destination >> 64),
          static_cast<std::uint64_t>(destination),
          word(field::ip_proto) << 32 | source_port << 16 | destination_port,
          word(field::arp_op) << 48 | word(field::arp_sha),
          word(field::arp_tha)};
}

/// Under the secret of the group.
inline std::uint64_t hash_select_key(const select_key& key, const keyed_hash& hash) {
  return hash(key.data(), key.size());
}

}  // namespace coua::pipeline
