// SPDX-License-Identifier: Apache-2.0
#include "bench/cases/tcp_frame.h"

#include <algorithm>

#include "net/checksum.h"
#include "net/ethernet.h"
#include "net/wire.h"

namespace coua::bench {
namespace {

constexpr std::size_t ip_bytes = 20;
constexpr std::uint8_t ip_proto_tcp = 6;

std::uint16_t checksum_of(std::uint64_t sum) {
  return static_cast<std::uint16_t>(~net::fold_sum(sum));
}

}  // namespace

void write_frame(const tcp_frame& what, std::span<std::uint8_t> out) {
  std::fill(out.begin(), out.end(), 0);
  std::uint8_t* at = out.data();
  net::store_mac(at, what.eth_dst);
  net::store_mac(at + net::mac_bytes, what.eth_src);
  at += net::ethertype_offset;
  if (what.vid != 0) {
    net::store_be16(at, net::ethertype_vlan);
    net::store_be16(at + 2, what.vid);
    at += net::vlan_tag_bytes;
  }
  net::store_be16(at, net::ethertype_ipv4);
  const std::span<std::uint8_t> packet = out.subspan(static_cast<std::size_t>(at + 2 - out.data()));
  std::uint8_t* const ip = packet.data();
  ip[0] = 0x45;  // version 4, 20 bytes
  net::store_be16(ip + 2, static_cast<std::uint16_t>(packet.size()));
  ip[8] = what.ttl;
  ip[9] = ip_proto_tcp;
  net::store_be32(ip + 12, what.ip_src);
  net::store_be32(ip + 16, what.ip_dst);
  net::store_be16(ip + 10, checksum_of(net::internet_sum(packet.first(ip_bytes))));

  const std::span<std::uint8_t> segment = packet.subspan(ip_bytes);
  std::uint8_t* const tcp = segment.data();
  net::store_be16(tcp, what.tcp_src);
  net::store_be16(tcp + 2, what.tcp_dst);
  tcp[12] = 0x50;  // 20 bytes
  tcp[13] = 0x10;  // ACK
  const std::uint64_t pseudo_header =
      net::internet_sum(packet.subspan(12, 8)) + ip_proto_tcp + segment.size();
  net::store_be16(tcp + 16, checksum_of(pseudo_header + net::internet_sum(segment)));
}

}  // namespace coua::bench
