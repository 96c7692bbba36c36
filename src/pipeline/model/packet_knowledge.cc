// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/packet_knowledge.h"

#include "net/ethernet.h"
#include "net/ip_protocol.h"
#include "pipeline/model/match.h"

namespace coua::pipeline {

packet_knowledge::packet_knowledge(const match& seen) {
  for (const match_term& term : seen.terms()) {
    const bool is_whole = term.mask == full_mask(term.which);
    switch (term.which) {
      case field::in_port: in_port_ = is_whole; break;
      case field::vlan_vid: vlan_ = term.value != 0; break;  // without a tag all bits are 0
      case field::eth_type:
        if (is_whole) eth_type_ = static_cast<std::uint16_t>(term.value);
        break;
      case field::ip_proto:
        if (is_whole) ip_proto_ = static_cast<std::uint8_t>(term.value);
        break;
      case field::icmpv6_type:
        if (is_whole) icmpv6_type_ = static_cast<std::uint8_t>(term.value);
        break;
      default: break;
    }
  }
}

bool packet_knowledge::meets(prerequisite needed) const {
  const bool ipv4 = eth_type_ == net::ethertype_ipv4;
  const bool ipv6 = eth_type_ == net::ethertype_ipv6;
  const bool icmpv6 = ipv6 && ip_proto_ == net::ip_proto_icmpv6;
  const bool sol = icmpv6 && icmpv6_type_ == net::icmpv6_neighbour_solicitation;
  const bool adv = icmpv6 && icmpv6_type_ == net::icmpv6_neighbour_advertisement;
  switch (needed) {
    case prerequisite::none: return true;
    case prerequisite::in_port: return in_port_;
    case prerequisite::vlan: return vlan_;
    case prerequisite::mpls:
      return eth_type_ == net::ethertype_mpls || eth_type_ == net::ethertype_mpls_multicast;
    case prerequisite::ip: return ipv4 || ipv6;
    case prerequisite::ipv4: return ipv4;
    case prerequisite::ipv6: return ipv6;
    case prerequisite::arp: return eth_type_ == net::ethertype_arp;
    case prerequisite::tcp: return (ipv4 || ipv6) && ip_proto_ == net::ip_proto_tcp;
    case prerequisite::udp: return (ipv4 || ipv6) && ip_proto_ == net::ip_proto_udp;
    case prerequisite::sctp: return (ipv4 || ipv6) && ip_proto_ == net::ip_proto_sctp;
    case prerequisite::icmpv4: return ipv4 && ip_proto_ == net::ip_proto_icmp;
    case prerequisite::icmpv6: return icmpv6;
    case prerequisite::nd: return sol || adv;
    case prerequisite::nd_sol: return sol;
    case prerequisite::nd_adv: return adv;
  }
  return false;
}

void packet_knowledge::wrote(field which, value128 value, value128 mask) {
  if (which != field::icmpv6_type) return;
  icmpv6_type_.reset();
  if (mask == full_mask(which)) icmpv6_type_ = static_cast<std::uint8_t>(value);
}

}  // namespace coua::pipeline
