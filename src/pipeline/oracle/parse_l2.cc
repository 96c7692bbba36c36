// SPDX-License-Identifier: Apache-2.0
#include "net/ethernet.h"
#include "pipeline/oracle/parser.h"

namespace coua::pipeline {

parsed parse(const packet& from) { return parser(from).run(); }

value128 read_bits(const packet& from, const bits_at& at) {
  COUA_CHECK(at.n_bytes != 0 && at.offset + at.n_bytes <= from.bytes.size());
  value128 value = 0;
  for (unsigned i = 0; i < at.n_bytes; ++i) value = value << 8 | from.bytes[at.offset + i];
  return value >> at.shift & ones(at.n_bits);
}

void write_bits(packet& to, const bits_at& at, value128 value) {
  COUA_CHECK(at.n_bytes != 0 && at.offset + at.n_bytes <= to.bytes.size());
  const value128 mask = ones(at.n_bits) << at.shift;
  value128 word = 0;
  for (unsigned i = 0; i < at.n_bytes; ++i) word = word << 8 | to.bytes[at.offset + i];
  word = (word & ~mask) | (value << at.shift & mask);
  for (unsigned i = at.n_bytes; i-- > 0; word >>= 8) {
    to.bytes[at.offset + i] = static_cast<std::uint8_t>(word);
  }
}

parsed parser::run() {
  pipeline_fields();
  ethernet();
  return out_;
}

void parser::place(field which, std::size_t offset, unsigned n_bytes, unsigned shift) {
  const bits_at at{offset, static_cast<std::uint8_t>(n_bytes), info(which).n_bits,
                   static_cast<std::uint8_t>(shift)};
  out_.at[index_of(which)] = at;
  set(which, read_bits(packet_, at));
}

void parser::pipeline_fields() {
  set(field::in_port, packet_.in_port);
  set(field::in_phy_port, packet_.in_phy_port != 0 ? packet_.in_phy_port : packet_.in_port);
  set(field::metadata, packet_.metadata);
  set(field::tunnel_id, packet_.tunnel_id);
  for (unsigned i = 0; i < n_registers; ++i) set(reg(i), packet_.reg[i]);
  set(field::conj_id, 0);
}

void parser::ethernet() {
  if (size() < net::ethernet_header_bytes) return;
  place(field::eth_dst, 0, 6);
  place(field::eth_src, 6, 6);
  std::size_t at = net::ethertype_offset;
  const auto is_tag = [this](std::size_t offset) {
    const std::uint16_t type = be16(offset);
    return type == net::ethertype_vlan || type == net::ethertype_qinq;
  };
  for (std::size_t n = 0; n < vlan_tags_max && is_tag(at); ++n) {
    // A tag counts with the type that follows it.
    if (!fits(at, net::vlan_tag_bytes + 2, size())) return;
    if (n == 0) {
      out_.tagged = true;
      set(field::vlan_vid, vlan_present | (be16(at + 2) & 0xfffU));
      out_.at[index_of(field::vlan_vid)] = {at + 2, 2, 12, 0};
      place(field::vlan_pcp, at + 2, 1, 5);
    }
    at += net::vlan_tag_bytes;
  }
  if (!out_.tagged) set(field::vlan_vid, 0);
  out_.type_at = at;
  const std::uint16_t type = be16(at);
  set(field::eth_type, type < net::ethertype_min ? eth_type_none : type);
  network(type, at + 2);
}

void parser::network(std::uint16_t type, std::size_t offset) {
  switch (type) {
    case net::ethertype_mpls:
    case net::ethertype_mpls_multicast: mpls(offset); break;
    case net::ethertype_arp: arp(offset); break;
    case net::ethertype_ipv4: ipv4(offset); break;
    case net::ethertype_ipv6: ipv6(offset); break;
    default: break;
  }
}

//   label:20 tc:3 bos:1 ttl:8
void parser::mpls(std::size_t offset) {
  if (!fits(offset, 4, size())) return;
  out_.mpls = offset;
  place(field::mpls_label, offset, 4, 12);
  place(field::mpls_tc, offset, 4, 9);
  place(field::mpls_bos, offset, 4, 8);
  place(field::mpls_ttl, offset, 4, 0);
}

// Only for IPv4 over Ethernet, the one kind for which OpenFlow has fields.
void parser::arp(std::size_t offset) {
  if (!fits(offset, 28, size())) return;
  const bool known = be16(offset) == 1 && be16(offset + 2) == net::ethertype_ipv4 &&
                     byte(offset + 4) == 6 && byte(offset + 5) == 4;
  if (!known) return;
  place(field::arp_op, offset + 6, 2);
  place(field::arp_sha, offset + 8, 6);
  place(field::arp_spa, offset + 14, 4);
  place(field::arp_tha, offset + 18, 6);
  place(field::arp_tpa, offset + 24, 4);
}

}  // namespace coua::pipeline
