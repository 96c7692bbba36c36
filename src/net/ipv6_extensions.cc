// SPDX-License-Identifier: Apache-2.0
#include "net/ipv6_extensions.h"

#include "net/ethernet.h"
#include "net/headers.h"
#include "net/ip_protocol.h"
#include "net/layers.h"

namespace coua::net {
namespace {

/// Watches order and number of the headers. Ranks are places in the order of RFC 8200; destination
/// options have two.
class header_order {
 public:
  void see(std::uint16_t bit, unsigned rank) noexcept {
    if (bit == exthdr_dest) {
      rank = highest_ < first_dest ? first_dest : last_dest;
      if (++n_dest_ > 2) seen_ |= exthdr_unrep;
    } else if ((seen_ & bit) != 0) {
      seen_ |= exthdr_unrep;
      return;
    }
    if (rank < highest_) seen_ |= exthdr_unseq;
    if (rank > highest_) highest_ = rank;
    seen_ |= bit;
  }
  void see_no_next() noexcept { seen_ |= exthdr_no_next; }
  std::uint16_t seen() const noexcept { return seen_; }

  static constexpr unsigned hop = 0, first_dest = 1, router = 2, frag = 3, auth = 4, esp = 5,
                            last_dest = 6;

 private:
  std::uint16_t seen_ = 0;
  unsigned highest_ = 0;
  unsigned n_dest_ = 0;
};

bool is_passable(std::uint8_t next) noexcept {
  return next == ip_proto_hop_by_hop || next == ip_proto_dest_options || next == ip_proto_routing ||
         next == ip_proto_fragment || next == ip_proto_auth;
}

}  // namespace

ipv6_chain follow_ipv6_extensions(const std::uint8_t* bytes, std::size_t offset, std::size_t limit,
                                  std::uint8_t next) noexcept {
  // Every extension header is at least so long.
  constexpr std::size_t least_bytes = 8;
  ipv6_chain chain;
  header_order order;
  for (unsigned n = 0; is_passable(next); ++n) {
    if (n == max_ipv6_extensions || limit - offset < least_bytes) return {};
    const std::uint8_t* header = bytes + offset;
    std::size_t header_bytes = (header[1] + std::size_t{1}) * 8;
    if (next == ip_proto_auth) header_bytes = (header[1] + std::size_t{2}) * 4;
    if (next == ip_proto_fragment) header_bytes = wire::ipv6::fragment_header_bytes;
    if (limit - offset < header_bytes) return {};

    switch (next) {
      case ip_proto_hop_by_hop: order.see(exthdr_hop, header_order::hop); break;
      case ip_proto_dest_options: order.see(exthdr_dest, header_order::first_dest); break;
      case ip_proto_auth: order.see(exthdr_auth, header_order::auth); break;
      case ip_proto_routing:
        order.see(exthdr_router, header_order::router);
        if (header[wire::ipv6::routing_segments_left] != 0) chain.routed = true;
        break;
      default: {
        order.see(exthdr_frag, header_order::frag);
        // Offset 0 and nothing to follow is no fragment (RFC 6946).
        const std::uint16_t word = load_be16(header + wire::ipv6::fragment_offset);
        if ((word & (wire::ipv6::offset_mask | wire::ipv6::more_fragments)) != 0)
          chain.fragment = true;
        if ((word & wire::ipv6::offset_mask) != 0) chain.later_fragment = true;
      }
    }
    next = header[0];
    offset += header_bytes;
    if (chain.later_fragment) break;
  }
  if (!chain.later_fragment) {
    if (next == ip_proto_esp) order.see(exthdr_esp, header_order::esp);
    if (next == ip_proto_no_next) order.see_no_next();
    chain.offset = static_cast<std::uint32_t>(offset);
  }
  chain.known = true;
  chain.next = next;
  chain.seen = order.seen();
  return chain;
}

}  // namespace coua::net
