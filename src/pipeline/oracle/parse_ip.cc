// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "net/ip_protocol.h"
#include "pipeline/oracle/parser.h"

namespace coua::pipeline {
namespace {

constexpr std::size_t ipv4_header_min = 20;
constexpr std::size_t ipv6_header = 40;

/// Follows a chain of extension headers and says what is odd about it.
///
/// RFC 8200 recommends: hop-by-hop, destination options, routing, fragment, authentication, ESP,
/// destination options. So destination options may come twice, first as number 1, then as number 6.
class chain_judge {
 public:
  void saw(std::uint8_t type) {
    if (type == net::ip_proto_dest_options) {
      flags_ |= exthdr_dest;
      if (n_dest_++ == 2) flags_ |= exthdr_unrep;
      in_order(last_ < 1 ? 1 : 6);
      return;
    }
    const auto [flag, rank] = kind(type);
    if ((flags_ & flag) != 0) {
      flags_ |= exthdr_unrep;
      return;
    }
    flags_ |= flag;
    in_order(rank);
  }
  void saw_no_next() { flags_ |= exthdr_no_next; }
  std::uint16_t flags() const { return flags_; }

 private:
  struct flag_and_rank {
    std::uint16_t flag;
    int rank;
  };
  static flag_and_rank kind(std::uint8_t type) {
    switch (type) {
      case net::ip_proto_hop_by_hop: return {exthdr_hop, 0};
      case net::ip_proto_routing: return {exthdr_router, 2};
      case net::ip_proto_fragment: return {exthdr_frag, 3};
      case net::ip_proto_auth: return {exthdr_auth, 4};
      default: return {exthdr_esp, 5};
    }
  }
  void in_order(int rank) {
    if (rank < last_) flags_ |= exthdr_unseq;
    last_ = std::max(last_, rank);
  }

  std::uint16_t flags_ = 0;
  int n_dest_ = 0;
  int last_ = -1;
};

}  // namespace

bool is_ipv4_header(const packet& from, std::size_t offset) {
  const std::vector<std::uint8_t>& bytes = from.bytes;
  if (offset > bytes.size() || bytes.size() - offset < ipv4_header_min) return false;
  const std::size_t header = (bytes[offset] & 15U) * 4;
  const std::size_t total = std::size_t{bytes[offset + 2]} << 8 | bytes[offset + 3];
  return bytes[offset] >> 4 == 4 && header >= ipv4_header_min && header <= bytes.size() - offset &&
         total >= header;
}

bool is_ipv6_header(const packet& from, std::size_t offset) {
  return offset <= from.bytes.size() && from.bytes.size() - offset >= ipv6_header &&
         from.bytes[offset] >> 4 == 6;
}

void parser::ipv4(std::size_t offset) {
  if (!is_ipv4_header(packet_, offset)) return;
  out_.ipv4 = offset;
  out_.l3_claimed_end = offset + be16(offset + 2);
  out_.l3_end = std::min(size(), out_.l3_claimed_end);
  place(field::ip_dscp, offset + 1, 1, 2);
  place(field::ip_ecn, offset + 1, 1, 0);
  place(field::ip_ttl, offset + 8, 1);
  set(field::ip_proto, byte(offset + 9));
  place(field::ipv4_src, offset + 12, 4);
  place(field::ipv4_dst, offset + 16, 4);
  const unsigned fragment = be16(offset + 6);
  const bool later = (fragment & 0x1fff) != 0;
  const bool any = later || (fragment & 0x2000) != 0;
  set(field::ip_frag, (any ? frag_any : 0U) | (later ? frag_later : 0U));
  if (!later) transport(byte(offset + 9), offset + (byte(offset) & 15U) * 4);
}

//   version:4 class:8 label:20, length:16 next:8 hop limit:8, source:128, destination:128
void parser::ipv6(std::size_t offset) {
  if (!is_ipv6_header(packet_, offset)) return;
  out_.ipv6 = offset;
  out_.l3_claimed_end = offset + ipv6_header + be16(offset + 4);
  out_.l3_end = std::min(size(), out_.l3_claimed_end);
  place(field::ip_dscp, offset, 2, 6);
  place(field::ip_ecn, offset, 2, 4);
  place(field::ipv6_flabel, offset, 4);
  place(field::ip_ttl, offset + 7, 1);
  place(field::ipv6_src, offset + 8, 16);
  place(field::ipv6_dst, offset + 24, 16);
  ipv6_extensions(offset);
}

// A chain that is cut off or too long says neither what comes in the end nor whether this is a
// fragment: then ip_proto, ip_frag and ipv6_exthdr are absent.
void parser::ipv6_extensions(std::size_t offset) {
  std::uint8_t next = byte(offset + 6);
  std::size_t at = offset + ipv6_header;
  chain_judge judge;
  unsigned fragment = 0;
  for (std::size_t n = 0; (fragment & frag_later) == 0; ++n) {
    const bool known = next == net::ip_proto_hop_by_hop || next == net::ip_proto_routing ||
                       next == net::ip_proto_fragment || next == net::ip_proto_auth ||
                       next == net::ip_proto_dest_options;
    if (!known) break;
    if (n == ipv6_ext_headers_max || !fits(at, 8, out_.l3_end)) return;
    std::size_t length = (std::size_t{byte(at + 1)} + 1) * 8;
    if (next == net::ip_proto_fragment) length = 8;
    if (next == net::ip_proto_auth) length = (std::size_t{byte(at + 1)} + 2) * 4;
    if (!fits(at, length, out_.l3_end)) return;
    judge.saw(next);
    if (next == net::ip_proto_routing && byte(at + 3) != 0) out_.on_source_route = true;
    if (next == net::ip_proto_fragment) {
      const unsigned word = be16(at + 2);
      // Offset 0 and nothing to follow is no fragment (RFC 6946).
      if ((word & 0xfff9) != 0) fragment |= frag_any;
      if ((word & 0xfff8) != 0) fragment |= frag_later;
    }
    next = byte(at);
    at += length;
  }
  if (next == net::ip_proto_esp && (fragment & frag_later) == 0) judge.saw(next);
  if (next == net::ip_proto_no_next && (fragment & frag_later) == 0) judge.saw_no_next();
  set(field::ip_proto, next);
  set(field::ip_frag, fragment);
  set(field::ipv6_exthdr, judge.flags());
  if ((fragment & frag_later) == 0) transport(next, at);
}

}  // namespace coua::pipeline
