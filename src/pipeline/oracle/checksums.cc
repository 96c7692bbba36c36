// SPDX-License-Identifier: Apache-2.0
#include "pipeline/oracle/checksums.h"

#include <span>

#include "net/checksum.h"
#include "net/ethernet.h"

namespace coua::pipeline {
namespace {

using bytes = std::vector<std::uint8_t>;

/// A part of the packet with two bytes at `hole` taken as 0.
bytes part_of(const packet& of, std::size_t begin, std::size_t end, std::size_t hole) {
  bytes taken(of.bytes.begin() + static_cast<std::ptrdiff_t>(begin),
              of.bytes.begin() + static_cast<std::ptrdiff_t>(end));
  taken.at(hole - begin) = taken.at(hole - begin + 1) = 0;
  return taken;
}

/// Of the addresses as the pseudo header has them.
std::uint64_t address_sum(const packet& of, const parsed& headers) {
  const std::span<const std::uint8_t> all(of.bytes);
  if (headers.ipv4) return net::internet_sum(all.subspan(*headers.ipv4 + 12, 8));
  return net::internet_sum(all.subspan(*headers.ipv6 + 8, 32));
}

/// One of TCP, UDP, ICMP or ICMPv6, `at` bytes into the L4 header.
void update_internet(packet& now, const packet& before, const parsed& headers, std::size_t at) {
  const std::size_t where = headers.l4_at + at;
  const std::uint16_t old = net::load_be16(&before.bytes[where]);
  const bool udp = headers.l4 == l4_kind::udp;
  if (udp && old == 0) return;
  std::uint64_t sum_before =
      net::internet_sum(part_of(before, headers.l4_at, headers.l3_end, where));
  std::uint64_t sum_now = net::internet_sum(part_of(now, headers.l4_at, headers.l3_end, where));
  if (headers.l4 != l4_kind::icmpv4) {
    sum_before += address_sum(before, headers);
    sum_now += address_sum(now, headers);
  }
  std::uint16_t fresh = net::update_checksum(old, sum_before, sum_now);
  if (udp && fresh == 0) fresh = 0xffff;
  net::store_be16(&now.bytes[where], fresh);
}

/// The CRC of bytes that differ in `d` differs by a function of `d` and the length only. What was
/// cut off the packet does not differ; it is taken as zeros.
void update_sctp(packet& now, const packet& before, const parsed& headers) {
  if ((headers.get(field::ip_frag) & frag_any) != 0) return;
  const auto crc = [&](const packet& of) {
    bytes message(of.bytes.begin() + static_cast<std::ptrdiff_t>(headers.l4_at),
                  of.bytes.begin() + static_cast<std::ptrdiff_t>(headers.l3_end));
    for (std::size_t i = 8; i < 12; ++i) message.at(i) = 0;  // the CRC itself
    message.resize(headers.l3_claimed_end - headers.l4_at);
    return net::crc32c(message);
  };
  const std::uint32_t difference = crc(before) ^ crc(now);
  for (unsigned i = 0; i < 4; ++i) {
    now.bytes[headers.l4_at + 8 + i] ^= static_cast<std::uint8_t>(difference >> 8 * i);
  }
}

void update_l4(packet& now, const packet& before, const parsed& headers) {
  switch (headers.l4) {
    case l4_kind::none: break;
    case l4_kind::tcp: update_internet(now, before, headers, 16); break;
    case l4_kind::udp: update_internet(now, before, headers, 6); break;
    case l4_kind::icmpv4:
    case l4_kind::icmpv6: update_internet(now, before, headers, 2); break;
    case l4_kind::sctp: update_sctp(now, before, headers); break;
  }
}

}  // namespace

covered_by checksums_of(const parsed& before, field which) {
  switch (which) {
    case field::ip_dscp:
    case field::ip_ecn:
    case field::ip_ttl: return {before.ipv4.has_value(), false};
    case field::ipv4_src:
    case field::ipv4_dst: {
      const bool pseudo = before.l4 == l4_kind::tcp || before.l4 == l4_kind::udp;
      return {true, pseudo};
    }
    case field::ipv6_src: return {false, before.l4 != l4_kind::sctp};
    case field::ipv6_dst: return {false, before.l4 != l4_kind::sctp && !before.on_source_route};
    case field::tcp_src:
    case field::tcp_dst:
    case field::udp_src:
    case field::udp_dst:
    case field::sctp_src:
    case field::sctp_dst:
    case field::icmpv4_type:
    case field::icmpv4_code:
    case field::icmpv6_type:
    case field::icmpv6_code:
    case field::nd_target:
    case field::nd_sll:
    case field::nd_tll: return {false, true};
    default: return {};
  }
}

void update_ipv4_checksum(packet& now, const packet& before, std::size_t offset) {
  const std::size_t end = offset + (before.bytes[offset] & 15U) * 4;
  const std::size_t where = offset + 10;
  const std::uint64_t sum_before = net::internet_sum(part_of(before, offset, end, where));
  const std::uint64_t sum_now = net::internet_sum(part_of(now, offset, end, where));
  net::store_be16(&now.bytes[where],
                  net::update_checksum(net::load_be16(&before.bytes[where]), sum_before, sum_now));
}

void update_checksums(packet& now, const packet& before, const parsed& headers, covered_by what) {
  if (what.ipv4_header) update_ipv4_checksum(now, before, *headers.ipv4);
  if (what.l4) update_l4(now, before, headers);
}

}  // namespace coua::pipeline
