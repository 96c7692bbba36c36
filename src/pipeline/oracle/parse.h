// SPDX-License-Identifier: Apache-2.0
//
// From bytes to fields, plainly: headers one after the other, each of them only if it is there as a
// whole and makes sense. What is cut off or malformed is not there, nor is what would follow it; no
// byte beyond the packet is ever read. docs/pipeline.md has the rules.
//
//   dst src [tag...] type | MPLS, ARP, or IP [options, extension headers] | TCP, UDP, SCTP, ICMP
//   [ND]
//                           l3                                              l4
//                                                                    l3_end: where IP says it ends
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "pipeline/model/field_values.h"
#include "pipeline/oracle/packet.h"

namespace coua::pipeline {

inline constexpr std::size_t vlan_tags_max = 4;         // that the parser looks behind
inline constexpr std::size_t ipv6_ext_headers_max = 8;  // likewise

/// Bits of the packet: `n_bytes` from `offset` as one number, its part from bit `shift` on.
struct bits_at {
  std::size_t offset = 0;
  std::uint8_t n_bytes = 0;  // 0: nowhere
  std::uint8_t n_bits = 0;
  std::uint8_t shift = 0;
};

enum class l4_kind : std::uint8_t { none, tcp, udp, sctp, icmpv4, icmpv6 };

struct parsed {
  field_values values;
  /// Where fields that can be written stand; the others are nowhere.
  std::array<bits_at, n_fields> at;

  bool tagged = false;                 // the outermost tag is there as a whole, at byte 12
  std::optional<std::size_t> type_at;  // of what follows the tags
  std::optional<std::size_t> mpls;     // the outermost entry
  std::optional<std::size_t> ipv4, ipv6;
  std::size_t l3_end = 0;          // of the datagram as far as it is in the packet
  std::size_t l3_claimed_end = 0;  // as the IP header says
  l4_kind l4 = l4_kind::none;      // with its whole fixed header
  std::size_t l4_at = 0;
  /// A routing header has hops left: the checksum of L4 is for another destination address.
  bool on_source_route = false;

  bool has(field which) const { return values.has(which); }
  value128 get(field which) const { return values.get(which); }
};

parsed parse(const packet& from);

/// The number that stands there.
value128 read_bits(const packet& from, const bits_at& at);
void write_bits(packet& to, const bits_at& at, value128 value);

/// Whether a whole, sensible IP header starts there.
bool is_ipv4_header(const packet& from, std::size_t offset);
bool is_ipv6_header(const packet& from, std::size_t offset);

}  // namespace coua::pipeline
