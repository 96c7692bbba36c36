// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/field_convert.h"

#include <array>
#include <cstring>

#include "ctl/ofp/oxm_header.h"

namespace coua::ofp {
namespace {

using pipeline::field;

constexpr auto pairs = std::to_array<field_pair>({
    {field::in_port, MFF_IN_PORT_OXM},
    {field::metadata, MFF_METADATA},
    {field::tunnel_id, MFF_TUN_ID},
    {field::reg0, MFF_REG0},
    {field::reg1, MFF_REG1},
    {field::reg2, MFF_REG2},
    {field::reg3, MFF_REG3},
    {field::reg4, MFF_REG4},
    {field::reg5, MFF_REG5},
    {field::reg6, MFF_REG6},
    {field::reg7, MFF_REG7},
    {field::reg8, MFF_REG8},
    {field::reg9, MFF_REG9},
    {field::reg10, MFF_REG10},
    {field::reg11, MFF_REG11},
    {field::reg12, MFF_REG12},
    {field::reg13, MFF_REG13},
    {field::reg14, MFF_REG14},
    {field::reg15, MFF_REG15},
    {field::conj_id, MFF_CONJ_ID},
    {field::eth_dst, MFF_ETH_DST},
    {field::eth_src, MFF_ETH_SRC},
    {field::eth_type, MFF_ETH_TYPE},
    {field::vlan_vid, MFF_VLAN_VID},
    {field::vlan_pcp, MFF_VLAN_PCP},
    {field::mpls_label, MFF_MPLS_LABEL},
    {field::mpls_tc, MFF_MPLS_TC},
    {field::mpls_bos, MFF_MPLS_BOS},
    {field::mpls_ttl, MFF_MPLS_TTL},
    {field::ip_dscp, MFF_IP_DSCP_SHIFTED},
    {field::ip_ecn, MFF_IP_ECN},
    {field::ip_proto, MFF_IP_PROTO},
    {field::ip_ttl, MFF_IP_TTL},
    {field::ip_frag, MFF_IP_FRAG},
    {field::ipv4_src, MFF_IPV4_SRC},
    {field::ipv4_dst, MFF_IPV4_DST},
    {field::ipv6_src, MFF_IPV6_SRC},
    {field::ipv6_dst, MFF_IPV6_DST},
    {field::ipv6_flabel, MFF_IPV6_LABEL},
    {field::arp_op, MFF_ARP_OP},
    {field::arp_spa, MFF_ARP_SPA},
    {field::arp_tpa, MFF_ARP_TPA},
    {field::arp_sha, MFF_ARP_SHA},
    {field::arp_tha, MFF_ARP_THA},
    {field::tcp_src, MFF_TCP_SRC},
    {field::tcp_dst, MFF_TCP_DST},
    {field::tcp_flags, MFF_TCP_FLAGS},
    {field::udp_src, MFF_UDP_SRC},
    {field::udp_dst, MFF_UDP_DST},
    {field::sctp_src, MFF_SCTP_SRC},
    {field::sctp_dst, MFF_SCTP_DST},
    {field::icmpv4_type, MFF_ICMPV4_TYPE},
    {field::icmpv4_code, MFF_ICMPV4_CODE},
    {field::icmpv6_type, MFF_ICMPV6_TYPE},
    {field::icmpv6_code, MFF_ICMPV6_CODE},
    {field::nd_target, MFF_ND_TARGET},
    {field::nd_sll, MFF_ND_SLL},
    {field::nd_tll, MFF_ND_TLL},
});

/// By field of the library: ours, and one past them.
constexpr auto fields = [] {
  std::array<std::uint8_t, MFF_N_IDS> made;
  made.fill(pipeline::n_fields);
  for (const field_pair& pair : pairs)
    made[pair.theirs] = static_cast<std::uint8_t>(pipeline::index_of(pair.ours));
  return made;
}();
constexpr std::uint32_t class_openflow = 0x8000;
constexpr unsigned class_shift = 16, number_shift = 9;
constexpr std::size_t numbers_end = 128, field_bytes_max = 16;
struct known_header {
  std::uint32_t header = 0;
  const mf_field* field = nullptr;
};
using known_headers = std::array<known_header, numbers_end>;

/// By number.
known_headers headers_without_masks() {
  known_headers made;
  for (std::uint32_t number = 0; number < numbers_end; ++number) {
    for (std::uint32_t n_bytes = 1; n_bytes <= field_bytes_max; ++n_bytes) {
      const std::uint32_t header = class_openflow << class_shift | number << number_shift | n_bytes;
      if (const mf_field* field = coua_field_of(header)) made[number] = {header, field};
    }
  }
  return made;
}

constexpr mf_field_id no_field = MFF_N_IDS;
/// By field of ours.
constexpr auto ids = [] {
  std::array<mf_field_id, pipeline::n_fields> made;
  made.fill(no_field);
  for (const field_pair& pair : pairs) made[pipeline::index_of(pair.ours)] = pair.theirs;
  return made;
}();

}  // namespace

std::span<const field_pair> field_pairs() { return pairs; }

const mf_field* to_ovs_field(field which) {
  const mf_field_id id = ids[pipeline::index_of(which)];
  return id == no_field ? nullptr : mf_from_id(id);
}

std::optional<field> from_ovs_field(mf_field_id id) {
  const std::uint8_t ours = fields[id];
  if (ours == pipeline::n_fields) return std::nullopt;
  return static_cast<field>(ours);
}

const mf_field* field_of_header(std::uint32_t oxm_header) {
  static const known_headers all = headers_without_masks();
  const known_header& known = all[oxm_header >> number_shift & (numbers_end - 1)];
  return known.header == oxm_header ? known.field : coua_field_of(oxm_header);
}

std::uint64_t flow_word(const flow& of, std::size_t i) {
  static_assert(sizeof(flow) % sizeof(std::uint64_t) == 0);
  std::uint64_t made;
  std::memcpy(&made, reinterpret_cast<const unsigned char*>(&of) + i * sizeof made, sizeof made);
  return made;
}

pipeline::value128 from_ovs_value(const void* bytes, std::size_t n_bytes) {
  const auto* byte = static_cast<const std::uint8_t*>(bytes);
  pipeline::value128 value = 0;
  for (std::size_t i = 0; i < n_bytes; ++i) value = value << 8 | byte[i];
  return value;
}

mf_value to_ovs_value(const mf_field& of, pipeline::value128 value) {
  mf_value made = {};
  for (unsigned i = of.n_bytes; i-- > 0; value >>= 8) made.b[i] = static_cast<std::uint8_t>(value);
  return made;
}

}  // namespace coua::ofp
