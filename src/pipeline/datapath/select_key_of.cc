// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/select_key_of.h"

#include "net/wire.h"

namespace coua::pipeline {

namespace layer = net::layer;
namespace wire = net::wire;

select_key select_key_of(const packet_state& from) noexcept {
  select_key key{};
  const net::layers& l = from.layers;
  const std::uint8_t* const frame = from.buffer.bytes;
  if (!l.has(layer::ethernet)) return key;
  key[0] = net::load_mac(frame) << 16;
  key[1] = net::load_mac(frame + net::mac_bytes) << 16;
  if (l.has(layer::eth_type)) key[0] |= l.eth_type;
  if (l.has_any(layer::eth_type | layer::vlan)) key[1] |= l.vlan_tci & 0x1fffU;
  const std::uint8_t* const network = frame + l.network;
  if (l.has(layer::ipv4)) {
    key[3] = net::load_be32(network + wire::ipv4::source);
    key[5] = net::load_be32(network + wire::ipv4::destination);
  } else if (l.has(layer::ipv6)) {
    const net::uint128 source = net::load_be128(network + wire::ipv6::source);
    const net::uint128 destination = net::load_be128(network + wire::ipv6::destination);
    key[2] = static_cast<std::uint64_t>(source >> 64);
    key[3] = static_cast<std::uint64_t>(source);
    key[4] = static_cast<std::uint64_t>(destination >> 64);
    key[5] = static_cast<std::uint64_t>(destination);
  } else if (l.has(layer::arp)) {
    key[3] = net::load_be32(network + wire::arp::sender_ip);
    key[5] = net::load_be32(network + wire::arp::target_ip);
    key[7] = std::uint64_t{net::load_be16(network + wire::arp::op)} << 48 |
             net::load_mac(network + wire::arp::sender_mac);
    key[8] = net::load_mac(network + wire::arp::target_mac);
  }
  if (l.has(layer::ip_proto)) {
    key[6] = std::uint64_t{l.ip_proto} << 32;
    if (!l.has(layer::fragment) && l.has_any(layer::tcp | layer::udp | layer::sctp)) {
      key[6] |= net::load_be32(frame + l.transport);  // source port, destination port
    }
  }
  return key;
}

}  // namespace coua::pipeline
