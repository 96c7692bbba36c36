// SPDX-License-Identifier: Apache-2.0
//
// Packets for tests, put together header by header: eth(tag(0x8100, 7) + ipv4({}, tcp(80, 81))).
// Lengths and checksums are filled in by plain code of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "net/packet.h"

namespace coua::net::test {

using bytes = std::vector<std::uint8_t>;

bytes operator+(bytes left, const bytes& right);
bytes be16(unsigned value);
bytes be32(std::uint32_t value);
bytes zeros(std::size_t n);

/// Addresses, then what is given: tags, and a header with its type before it.
bytes eth(const bytes& rest);
bytes tag(unsigned type, unsigned tci);
bytes arp(unsigned op = 1);
/// With ethertype, as the outermost entry of what is given.
bytes mpls(std::initializer_list<std::uint32_t> entries, const bytes& below,
           unsigned ethertype = 0x8847);
std::uint32_t mpls_entry(unsigned label, unsigned tc, bool bottom, unsigned ttl);

struct ipv4_header {
  unsigned proto = 6;
  unsigned fragment = 0;  // flags and offset
  unsigned options = 0;   // bytes, a multiple of 4
  unsigned tos = 0;
  unsigned ttl = 64;
  std::uint32_t source = 0x0a00'0001;
  std::uint32_t destination = 0xc0a8'0102;
};
/// Without ethertype. The checksum of TCP, UDP, SCTP or ICMP is filled in where the packet is no
/// fragment.
bytes ipv4_packet(const ipv4_header& header, bytes payload);
bytes ipv4(const ipv4_header& header, const bytes& payload);

struct ipv6_header {
  unsigned proto = 6;  // of the payload
  unsigned first = 6;  // the next header of the fixed header, where there are extensions
  bytes extensions = {};
  bool fragment = false;  // then there is no checksum to fill in
  bool routed = false;    // the pseudo header has `last_hop` instead of the destination
  unsigned hop_limit = 64;
};
bytes ipv6_packet(const ipv6_header& header, bytes payload);
bytes ipv6(const ipv6_header& header, const bytes& payload);
/// An extension header of 8 * (n + 1) bytes.
bytes extension(unsigned next, unsigned n = 0);
bytes routing(unsigned next, unsigned segments_left);
bytes auth(unsigned next, unsigned words);  // 4 * (words + 2) bytes
bytes fragment(unsigned next, unsigned offset_and_flags);

bytes tcp(unsigned source, unsigned destination, const bytes& payload = {});
bytes udp(unsigned source, unsigned destination, const bytes& payload = {});
bytes sctp(unsigned source, unsigned destination, const bytes& payload = {});
bytes icmp(unsigned type, unsigned code, const bytes& payload = {});  // 8 bytes and the payload
bytes nd(unsigned type, const bytes& options);
bytes nd_option(unsigned type, unsigned n_units = 1);

/// The ones' complement sum, and its complement as it is stored.
std::uint16_t plain_sum(const bytes& data);
std::uint32_t plain_crc32c(const bytes& data);

/// A copy of a frame that ends where memory ends: a read behind its length is a fault.
class guarded_frame {
 public:
  explicit guarded_frame(const bytes& frame, std::size_t headroom = 64);
  ~guarded_frame();
  guarded_frame(const guarded_frame&) = delete;
  guarded_frame& operator=(const guarded_frame&) = delete;

  packet at;
  bytes copy() const { return {at.bytes, at.bytes + at.contiguous}; }

 private:
  void* memory_;
  std::size_t memory_bytes_;
};

}  // namespace coua::net::test
