// SPDX-License-Identifier: Apache-2.0
#include "net/test_packets.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace coua::net::test {
namespace {

void put16(bytes& at, std::size_t offset, unsigned value) {
  at.at(offset) = static_cast<std::uint8_t>(value >> 8);
  at.at(offset + 1) = static_cast<std::uint8_t>(value);
}

unsigned checksum_of(const bytes& data) { return ~plain_sum(data) & 0xffffU; }

/// Where a protocol keeps its checksum; 0: it has none, or the payload is too short for it.
std::size_t checksum_at(unsigned proto, const bytes& payload) {
  const std::size_t at = proto == 6 ? 16 : proto == 17 ? 6 : proto == 1 || proto == 58 ? 2 : 0;
  return at + 2 <= payload.size() ? at : 0;
}

void fill_checksum(unsigned proto, const bytes& pseudo_header, bytes& payload) {
  if (proto == 132 && payload.size() >= 12) {
    std::fill_n(payload.begin() + 8, 4, std::uint8_t{0});
    const std::uint32_t crc = plain_crc32c(payload);
    for (unsigned i = 0; i < 4; ++i) payload[8 + i] = static_cast<std::uint8_t>(crc >> (8 * i));
    return;
  }
  const std::size_t at = checksum_at(proto, payload);
  if (at == 0) return;
  put16(payload, at, 0);
  const unsigned sum = checksum_of(pseudo_header + payload);
  put16(payload, at, proto == 17 && sum == 0 ? 0xffff : sum);
}

const bytes ipv6_source = {0x20, 1, 0xd, 0xb8, 0, 1, 0, 2, 0, 3, 0, 4, 0xff, 0xfe, 0, 1};
const bytes ipv6_destination = {0x20, 1, 0xd, 0xb8, 9, 9, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0x80, 2};
const bytes ipv6_last_hop = {0x20, 1, 0xd, 0xb8, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};

}  // namespace

bytes operator+(bytes left, const bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}
bytes be16(unsigned value) {
  return {static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)};
}
bytes be32(std::uint32_t value) { return be16(value >> 16) + be16(value & 0xffff); }
bytes zeros(std::size_t n) { return bytes(n); }

bytes eth(const bytes& rest) {
  return bytes{2, 0x11, 0x22, 0x33, 0x44, 0x55, 2, 0xaa, 0xbb, 0xcc, 0xdd, 0xee} + rest;
}
bytes tag(unsigned type, unsigned tci) { return be16(type) + be16(tci); }
bytes arp(unsigned op) {
  return be16(0x0806) + bytes{0, 1, 8, 0, 6, 4} + be16(op) + bytes{2, 0, 0, 0, 0, 1} +
         be32(0x0a000001) + zeros(6) + be32(0x0a000002);
}
bytes mpls(std::initializer_list<std::uint32_t> entries, const bytes& below, unsigned ethertype) {
  bytes out = be16(ethertype);
  for (const std::uint32_t entry : entries) out = out + be32(entry);
  return out + below;
}
std::uint32_t mpls_entry(unsigned label, unsigned tc, bool bottom, unsigned ttl) {
  return label << 12 | tc << 9 | (bottom ? 0x100U : 0U) | ttl;
}

bytes ipv4_packet(const ipv4_header& h, bytes payload) {
  const unsigned header_bytes = 20 + h.options;
  const bytes addresses = be32(h.source) + be32(h.destination);
  if ((h.fragment & 0x3fff) == 0) {
    const bytes pseudo =
        h.proto == 1 ? bytes{}
                     : addresses + be16(h.proto) + be16(static_cast<unsigned>(payload.size()));
    fill_checksum(h.proto, pseudo, payload);
  }
  bytes header =
      bytes{static_cast<std::uint8_t>(0x40 | header_bytes / 4), static_cast<std::uint8_t>(h.tos)} +
      be16(header_bytes + static_cast<unsigned>(payload.size())) + be16(0x1234) + be16(h.fragment) +
      bytes{static_cast<std::uint8_t>(h.ttl), static_cast<std::uint8_t>(h.proto)} + be16(0) +
      addresses + bytes(h.options, 1);
  put16(header, 10, checksum_of(header));
  return header + payload;
}
bytes ipv4(const ipv4_header& header, const bytes& payload) {
  return be16(0x0800) + ipv4_packet(header, payload);
}

bytes ipv6_packet(const ipv6_header& h, bytes payload) {
  if (!h.fragment) {
    fill_checksum(h.proto,
                  ipv6_source + (h.routed ? ipv6_last_hop : ipv6_destination) +
                      be32(static_cast<std::uint32_t>(payload.size())) + be32(h.proto),
                  payload);
  }
  const std::size_t payload_bytes = h.extensions.size() + payload.size();
  const unsigned next = h.extensions.empty() ? h.proto : h.first;
  return be32(0x6ab1'2345) + be16(static_cast<unsigned>(payload_bytes)) +
         bytes{static_cast<std::uint8_t>(next), static_cast<std::uint8_t>(h.hop_limit)} +
         ipv6_source + ipv6_destination + h.extensions + payload;
}
bytes ipv6(const ipv6_header& header, const bytes& payload) {
  return be16(0x86dd) + ipv6_packet(header, payload);
}
bytes extension(unsigned next, unsigned n) {
  return bytes{static_cast<std::uint8_t>(next), static_cast<std::uint8_t>(n)} + zeros(6 + 8 * n);
}
bytes routing(unsigned next, unsigned segments_left) {
  return bytes{static_cast<std::uint8_t>(next), 0, 0, static_cast<std::uint8_t>(segments_left)} +
         zeros(4);
}
bytes auth(unsigned next, unsigned words) {
  return bytes{static_cast<std::uint8_t>(next), static_cast<std::uint8_t>(words)} +
         zeros(6 + 4 * words);
}
bytes fragment(unsigned next, unsigned offset_and_flags) {
  return bytes{static_cast<std::uint8_t>(next), 0} + be16(offset_and_flags) + be32(0x55667788);
}

bytes tcp(unsigned source, unsigned destination, const bytes& payload) {
  return be16(source) + be16(destination) + be32(1) + be32(2) + be16(0x5018) + be16(512) + be32(0) +
         payload;
}
bytes udp(unsigned source, unsigned destination, const bytes& payload) {
  return be16(source) + be16(destination) + be16(static_cast<unsigned>(8 + payload.size())) +
         be16(0) + payload;
}
bytes sctp(unsigned source, unsigned destination, const bytes& payload) {
  return be16(source) + be16(destination) + be32(0xfeedbeef) + be32(0) + payload;
}
bytes icmp(unsigned type, unsigned code, const bytes& payload) {
  return bytes{static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(code)} + be16(0) +
         be32(0x00010002) + payload;
}
bytes nd(unsigned type, const bytes& options) { return icmp(type, 0, ipv6_destination + options); }
bytes nd_option(unsigned type, unsigned n_units) {
  bytes option = {static_cast<std::uint8_t>(type),
                  static_cast<std::uint8_t>(n_units),
                  2,
                  0,
                  0xfe,
                  0xdc,
                  0xba,
                  9};
  option.resize(8 * n_units);
  return option;
}

std::uint16_t plain_sum(const bytes& data) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    sum += i % 2 == 0 ? unsigned{data[i]} << 8 : unsigned{data[i]};
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

std::uint32_t plain_crc32c(const bytes& data) {
  std::uint32_t crc = 0xffff'ffff;
  for (const std::uint8_t byte : data) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f6'3b78U : 0U);
  }
  return ~crc;
}

guarded_frame::guarded_frame(const bytes& frame, std::size_t headroom) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t room = (headroom + frame.size() + page - 1) / page * page;
  memory_bytes_ = room + page;
  memory_ =
      mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  COUA_CHECK(memory_ != MAP_FAILED);
  COUA_CHECK(mprotect(static_cast<char*>(memory_) + room, page, PROT_NONE) == 0);
  at.bytes = static_cast<std::uint8_t*>(memory_) + room - frame.size();
  std::copy(frame.begin(), frame.end(), at.bytes);
  at.contiguous = at.length = static_cast<std::uint32_t>(frame.size());
  at.headroom = static_cast<std::uint32_t>(headroom);
}
guarded_frame::~guarded_frame() { munmap(memory_, memory_bytes_); }

}  // namespace coua::net::test
