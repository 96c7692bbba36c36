// SPDX-License-Identifier: Apache-2.0
//
// The fields of a packet and of its way through the pipeline: those of OpenFlow 1.3 (OXM), and what
// users of ovs-ofctl know besides: registers, TTLs, fragments, TCP flags. One table (field.cc) says
// of each what it is called, how wide it is, and what may be done with it.
//
// A value is a number: the first byte on the wire is the highest. An Ethernet address takes 48
// bits, an IPv6 address 128.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/ipv6_extensions.h"
#include "net/layers.h"

namespace coua::pipeline {

using value128 = unsigned __int128;

enum class field : std::uint8_t {
  in_port,
  in_phy_port,
  metadata,
  tunnel_id,
  reg0,
  reg1,
  reg2,
  reg3,
  reg4,
  reg5,
  reg6,
  reg7,
  reg8,
  reg9,
  reg10,
  reg11,
  reg12,
  reg13,
  reg14,
  reg15,
  conj_id,  // of the conjunction whose clauses match, while it is looked for; else 0
  eth_dst,
  eth_src,
  eth_type,  // of what follows the VLAN tags; 0x05ff: an 802.3 frame, which has none
  vlan_vid,  // of the outermost tag, with vlan_present; 0: no tag
  vlan_pcp,
  mpls_label,  // mpls_*: of the outermost entry of the stack
  mpls_tc,
  mpls_bos,
  mpls_ttl,
  ip_dscp,
  ip_ecn,
  ip_proto,  // for IPv6, what follows the extension headers
  ip_ttl,    // for IPv6, the hop limit
  ip_frag,   // frag_any, frag_later
  ipv4_src,
  ipv4_dst,
  ipv6_src,
  ipv6_dst,
  ipv6_flabel,
  ipv6_exthdr,  // exthdr_*
  arp_op,
  arp_spa,
  arp_tpa,
  arp_sha,
  arp_tha,
  tcp_src,
  tcp_dst,
  tcp_flags,
  udp_src,
  udp_dst,
  sctp_src,
  sctp_dst,
  icmpv4_type,
  icmpv4_code,
  icmpv6_type,
  icmpv6_code,
  nd_target,
  nd_sll,
  nd_tll,
};
inline constexpr std::size_t n_fields = static_cast<std::size_t>(field::nd_tll) + 1;
inline constexpr std::size_t n_registers = 16;

inline constexpr std::uint16_t vlan_present = 0x1000;  // OFPVID_PRESENT
inline constexpr std::uint8_t frag_any = 1;            // a fragment
inline constexpr std::uint8_t frag_later = 2;          // not the first one: it has no L4 header

// Values of eth_type and ipv6_exthdr.
using net::eth_type_none;
using net::exthdr_auth, net::exthdr_dest, net::exthdr_esp, net::exthdr_frag, net::exthdr_hop,
    net::exthdr_no_next, net::exthdr_router, net::exthdr_unrep, net::exthdr_unseq;

/// What a match or a set_field must know of a packet before it may name the field.
enum class prerequisite : std::uint8_t {
  none,
  in_port,
  vlan,    // a tag
  mpls,    // eth_type 0x8847 or 0x8848
  ip,      // eth_type 0x0800 or 0x86dd
  ipv4,    // eth_type 0x0800
  ipv6,    // eth_type 0x86dd
  arp,     // eth_type 0x0806
  tcp,     // ip, ip_proto 6
  udp,     // ip, ip_proto 17
  sctp,    // ip, ip_proto 132
  icmpv4,  // ipv4, ip_proto 1
  icmpv6,  // ipv6, ip_proto 58
  nd,      // icmpv6_type 135 or 136
  nd_sol,  // icmpv6_type 135
  nd_adv,  // icmpv6_type 136
};
const char* to_string(prerequisite needed);

enum class field_format : std::uint8_t { decimal, hex, mac, ipv4, ipv6, frag };

struct field_info {
  const char* name;      // as ovs-ofctl has it in a match
  const char* other;     // a second name that is understood, or null
  const char* oxm_name;  // that of the specification, where it is a third one, or null
  std::uint8_t n_bits;
  field_format format;
  bool maskable;
  bool writable;  // by set_field
  prerequisite needs;
};

constexpr std::size_t index_of(field which) { return static_cast<std::size_t>(which); }
// In the order of `field`.
extern const std::array<field_info, n_fields> field_infos;
inline const field_info& info(field which) { return field_infos[index_of(which)]; }
/// By any of its names.
std::optional<field> find_field(std::string_view name);
/// "nw_src=10.0.0.0/255.0.0.0" without the name: "10.0.0.0/255.0.0.0"; the mask is left out when it
/// takes every bit.
std::string format_value(field which, value128 value, value128 mask);

/// Bits of a field: `n_bits` from bit `first` on (0: the lowest).
struct field_bits {
  field which = field::reg0;
  std::uint8_t first = 0;
  std::uint8_t n_bits = 32;

  bool operator==(const field_bits&) const = default;
};
/// The field is as wide as that.
bool is_within(const field_bits& part);
/// "reg0[4..7]", "reg0[4]", "reg0[]" for all of it: as ovs-ofctl reads it.
std::string to_string(const field_bits& part);

constexpr field reg(unsigned number) { return static_cast<field>(index_of(field::reg0) + number); }
constexpr bool is_reg(field which) { return which >= field::reg0 && which <= field::reg15; }
constexpr value128 ones(unsigned n_bits) {
  return n_bits >= 128 ? ~value128{0} : (value128{1} << n_bits) - 1;
}
/// Where the bits stand in the field.
constexpr value128 mask_of(const field_bits& part) { return ones(part.n_bits) << part.first; }
/// Every bit of the field.
extern const std::array<value128, n_fields> full_masks;
inline value128 full_mask(field which) { return full_masks[index_of(which)]; }

}  // namespace coua::pipeline
