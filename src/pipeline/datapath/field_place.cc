// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/field_place.h"

#include <cstddef>
#include <cstring>

#include "net/headers.h"
#include "net/wire.h"

namespace coua::pipeline {
namespace {

namespace layer = net::layer;
namespace wire = net::wire;
using base = field_place::base;

// ip_frag is two bits of the layers: frag_any and frag_later are in the order of theirs.
constexpr unsigned frag_shift = 9;
static_assert(layer::fragment == frag_any << frag_shift &&
              layer::later_fragment == frag_later << frag_shift);

constexpr std::size_t layers_at = offsetof(packet_state, layers);

constexpr field_place in_state(std::size_t offset, unsigned n_bytes, unsigned n_bits,
                               unsigned shift = 0, layer::bits needs = 0) {
  return {base::state,
          static_cast<std::uint16_t>(offset),
          static_cast<std::uint8_t>(n_bytes),
          static_cast<std::uint8_t>(n_bits),
          static_cast<std::uint8_t>(shift),
          needs,
          0};
}
constexpr field_place in_packet(base from, std::size_t offset, unsigned n_bytes, unsigned n_bits,
                                unsigned shift, layer::bits needs) {
  return {from,
          static_cast<std::uint16_t>(offset),
          static_cast<std::uint8_t>(n_bytes),
          static_cast<std::uint8_t>(n_bits),
          static_cast<std::uint8_t>(shift),
          needs,
          0};
}
/// A whole number of bytes.
constexpr field_place whole(base from, std::size_t offset, unsigned n_bytes, layer::bits needs) {
  return in_packet(from, offset, n_bytes, 8 * n_bytes, 0, needs);
}

constexpr field_place vlan_vid_place() {
  field_place made = in_state(layers_at + offsetof(net::layers, vlan_tci), 2, 13);
  // An untagged packet has the field too: 0. Not one whose first tag is cut off.
  made.needs_one = layer::vlan | layer::eth_type;
  return made;
}
constexpr field_place nd_target_place() {
  field_place made = whole(base::transport, wire::nd::target, 16, 0);
  made.needs_one = layer::nd_sol | layer::nd_adv;
  return made;
}
constexpr field_place mpls_place(unsigned n_bits, unsigned shift) {
  return in_packet(base::network, 0, 4, n_bits, shift, layer::mpls);
}
constexpr field_place tos_place(ip_version version, unsigned n_bits, unsigned shift) {
  if (version == ip_version::v4) {
    return in_packet(base::network, wire::ipv4::tos, 1, n_bits, shift, layer::ipv4);
  }
  // version:4 class:8 label:20
  return in_packet(base::network, 0, 2, n_bits, shift + 4, layer::ipv6);
}

std::uint64_t read_native(const std::uint8_t* at, unsigned n_bytes) {
  std::uint64_t value = 0;
  switch (n_bytes) {
    case 1: return *at;
    case 2: {
      std::uint16_t word;
      std::memcpy(&word, at, sizeof word);
      return word;
    }
    case 4: {
      std::uint32_t word;
      std::memcpy(&word, at, sizeof word);
      return word;
    }
    default: std::memcpy(&value, at, sizeof value); return value;
  }
}

}  // namespace

field_place place_of(field which, ip_version version) {
  constexpr std::size_t state_layers = layers_at;
  if (is_reg(which)) {
    const std::size_t number = index_of(which) - index_of(field::reg0);
    return in_state(offsetof(packet_state, reg) + 4 * number, 4, 32);
  }
  switch (which) {
    case field::in_port: return in_state(offsetof(packet_state, in_port), 4, 32);
    case field::in_phy_port: return in_state(offsetof(packet_state, in_phy_port), 4, 32);
    case field::conj_id: return in_state(offsetof(packet_state, conj_id), 4, 32);
    case field::metadata: return in_state(offsetof(packet_state, metadata), 8, 64);
    case field::tunnel_id: return in_state(offsetof(packet_state, tunnel_id), 8, 64);

    case field::eth_dst: return whole(base::frame, 0, 6, layer::ethernet);
    case field::eth_src: return whole(base::frame, 6, 6, layer::ethernet);
    case field::eth_type:
      return in_state(state_layers + offsetof(net::layers, eth_type), 2, 16, 0, layer::eth_type);
    case field::vlan_vid: return vlan_vid_place();
    case field::vlan_pcp:
      return in_state(state_layers + offsetof(net::layers, vlan_tci), 2, 3, 13, layer::vlan);

    case field::mpls_label: return mpls_place(20, 12);
    case field::mpls_tc: return mpls_place(3, 9);
    case field::mpls_bos: return mpls_place(1, 8);
    case field::mpls_ttl: return mpls_place(8, 0);

    case field::ip_dscp: return tos_place(version, 6, 2);
    case field::ip_ecn: return tos_place(version, 2, 0);
    case field::ip_proto:
      return in_state(state_layers + offsetof(net::layers, ip_proto), 1, 8, 0, layer::ip_proto);
    case field::ip_ttl:
      return version == ip_version::v4
                 ? whole(base::network, wire::ipv4::ttl, 1, layer::ipv4)
                 : whole(base::network, wire::ipv6::hop_limit, 1, layer::ipv6);
    case field::ip_frag:
      return in_state(state_layers + offsetof(net::layers, present), 4, 2, frag_shift,
                      layer::ip_proto);
    case field::ipv4_src: return whole(base::network, wire::ipv4::source, 4, layer::ipv4);
    case field::ipv4_dst: return whole(base::network, wire::ipv4::destination, 4, layer::ipv4);
    case field::ipv6_src: return whole(base::network, wire::ipv6::source, 16, layer::ipv6);
    case field::ipv6_dst: return whole(base::network, wire::ipv6::destination, 16, layer::ipv6);
    case field::ipv6_flabel: return in_packet(base::network, 0, 4, 20, 0, layer::ipv6);
    case field::ipv6_exthdr:
      return in_state(state_layers + offsetof(net::layers, ipv6_exthdr), 2, 9, 0,
                      layer::ipv6 | layer::ip_proto);

    case field::arp_op: return whole(base::network, wire::arp::op, 2, layer::arp);
    case field::arp_sha: return whole(base::network, wire::arp::sender_mac, 6, layer::arp);
    case field::arp_spa: return whole(base::network, wire::arp::sender_ip, 4, layer::arp);
    case field::arp_tha: return whole(base::network, wire::arp::target_mac, 6, layer::arp);
    case field::arp_tpa: return whole(base::network, wire::arp::target_ip, 4, layer::arp);

    case field::tcp_src: return whole(base::transport, 0, 2, layer::tcp);
    case field::tcp_dst: return whole(base::transport, 2, 2, layer::tcp);
    case field::tcp_flags: return in_packet(base::transport, 12, 2, 12, 0, layer::tcp);
    case field::udp_src: return whole(base::transport, 0, 2, layer::udp);
    case field::udp_dst: return whole(base::transport, 2, 2, layer::udp);
    case field::sctp_src: return whole(base::transport, 0, 2, layer::sctp);
    case field::sctp_dst: return whole(base::transport, 2, 2, layer::sctp);
    case field::icmpv4_type: return whole(base::transport, wire::icmp::type, 1, layer::icmpv4);
    case field::icmpv4_code: return whole(base::transport, wire::icmp::code, 1, layer::icmpv4);
    case field::icmpv6_type: return whole(base::transport, wire::icmp::type, 1, layer::icmpv6);
    case field::icmpv6_code: return whole(base::transport, wire::icmp::code, 1, layer::icmpv6);
    case field::nd_target: return nd_target_place();
    case field::nd_sll: return whole(base::nd_option, wire::nd::option_address, 6, layer::nd_sll);
    case field::nd_tll: return whole(base::nd_option, wire::nd::option_address, 6, layer::nd_tll);
    default: return {};  // registers: above
  }
}

net::parse_depth depth_of(field which) {
  const field_place at = place_of(which, ip_version::v4);
  if (at.from == base::transport || at.from == base::nd_option) return net::parse_depth::transport;
  constexpr layer::bits link = layer::ethernet | layer::eth_type | layer::vlan;
  return (at.needs & ~link) == 0 ? net::parse_depth::link : net::parse_depth::network;
}

std::optional<value128> read_field(const packet_state& from, field which) {
  const bool v6 = from.layers.has(layer::ipv6);
  const field_place place = place_of(which, v6 ? ip_version::v6 : ip_version::v4);
  if (!place.is_in(from.layers)) return std::nullopt;
  const std::uint8_t* at = base_of(from, place.from) + place.offset;
  value128 number = 0;
  if (place.from == base::state) {
    number = read_native(at, place.n_bytes);
  } else {
    for (unsigned i = 0; i < place.n_bytes; ++i) number = number << 8 | at[i];
  }
  return number >> place.shift & ones(place.n_bits);
}

}  // namespace coua::pipeline
