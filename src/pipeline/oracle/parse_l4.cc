// SPDX-License-Identifier: Apache-2.0
#include "net/ip_protocol.h"
#include "pipeline/oracle/parser.h"

namespace coua::pipeline {

void parser::transport(std::uint8_t proto, std::size_t offset) {
  const auto whole = [&](l4_kind kind, std::size_t n_bytes) {
    if (!fits(offset, n_bytes, out_.l3_end)) return false;
    out_.l4 = kind;
    out_.l4_at = offset;
    return true;
  };
  if (proto == net::ip_proto_tcp && whole(l4_kind::tcp, 20)) {
    place(field::tcp_src, offset, 2);
    place(field::tcp_dst, offset + 2, 2);
    set(field::tcp_flags, be16(offset + 12) & 0xfffU);
  } else if (proto == net::ip_proto_udp && whole(l4_kind::udp, 8)) {
    place(field::udp_src, offset, 2);
    place(field::udp_dst, offset + 2, 2);
  } else if (proto == net::ip_proto_sctp && whole(l4_kind::sctp, 12)) {
    place(field::sctp_src, offset, 2);
    place(field::sctp_dst, offset + 2, 2);
  } else if (proto == net::ip_proto_icmp && out_.ipv4 && whole(l4_kind::icmpv4, 8)) {
    place(field::icmpv4_type, offset, 1);
    place(field::icmpv4_code, offset + 1, 1);
  } else if (proto == net::ip_proto_icmpv6 && out_.ipv6 && whole(l4_kind::icmpv6, 4)) {
    place(field::icmpv6_type, offset, 1);
    place(field::icmpv6_code, offset + 1, 1);
    neighbour_discovery(offset);
  }
}

//   type code checksum, 4 bytes, target:128, options {type:8 length:8 (of 8 bytes) ...}
// Of an option that comes twice, the first one counts; one of length 0 or beyond the end stops.
void parser::neighbour_discovery(std::size_t offset) {
  const bool solicitation = byte(offset) == net::icmpv6_neighbour_solicitation;
  if (!solicitation && byte(offset) != net::icmpv6_neighbour_advertisement) return;
  if (!fits(offset, 24, out_.l3_end)) return;
  place(field::nd_target, offset + 8, 16);
  const field wanted = solicitation ? field::nd_sll : field::nd_tll;
  const unsigned option =
      solicitation ? net::nd_option_source_link_layer : net::nd_option_target_link_layer;
  for (std::size_t at = offset + 24; fits(at, 8, out_.l3_end);) {
    const std::size_t length = byte(at + 1) * std::size_t{8};
    if (length == 0 || !fits(at, length, out_.l3_end)) return;
    if (byte(at) == option && length == 8) {
      place(wanted, at + 2, 6);
      return;
    }
    at += length;
  }
}

}  // namespace coua::pipeline
