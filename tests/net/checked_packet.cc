// SPDX-License-Identifier: Apache-2.0
#include "checked_packet.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>

#include "base/check.h"
#include "net/rewrite_arp.h"
#include "net/rewrite_ip.h"
#include "net/rewrite_link.h"
#include "net/rewrite_mpls.h"
#include "net/rewrite_transport.h"
#include "net/transport_checksum.h"
#include "packet_fields.h"
#include "pipeline/oracle/parse.h"
#include "pipeline/oracle/rewrite.h"

namespace coua::test {
namespace {

namespace act = pipeline::act;
namespace layer = net::layer;
using f = pipeline::field;
using net::rewrite_result;

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("a difference in ") + what);
}

rewrite_result set(net::packet& p, net::layers& l, const act::set_field& a) {
  using net::port_side;
  const auto u64 = static_cast<std::uint64_t>(a.value);
  const auto mask64 = static_cast<std::uint64_t>(a.mask);
  const auto u32 = static_cast<std::uint32_t>(a.value);
  const auto mask32 = static_cast<std::uint32_t>(a.mask);
  const auto u16 = static_cast<std::uint16_t>(a.value);
  const auto mask16 = static_cast<std::uint16_t>(a.mask);
  const auto u8 = static_cast<std::uint8_t>(a.value);
  switch (a.which) {
    case f::eth_dst: return set_eth_dst(p, l, u64, mask64);
    case f::eth_src: return set_eth_src(p, l, u64, mask64);
    case f::vlan_vid: return set_vlan_vid(p, l, u16, mask16);
    case f::vlan_pcp: return set_vlan_pcp(p, l, u8);
    case f::mpls_label: return set_mpls_label(p, l, u32);
    case f::mpls_tc: return set_mpls_tc(p, l, u8);
    case f::mpls_ttl: return set_mpls_ttl(p, l, u8);
    case f::ip_dscp: return set_ip_dscp(p, l, u8);
    case f::ip_ecn: return set_ip_ecn(p, l, u8);
    case f::ip_ttl: return set_ip_ttl(p, l, u8);
    case f::ipv4_src: return set_ipv4_src(p, l, u32, mask32);
    case f::ipv4_dst: return set_ipv4_dst(p, l, u32, mask32);
    case f::ipv6_src: return set_ipv6_src(p, l, a.value, a.mask);
    case f::ipv6_dst: return set_ipv6_dst(p, l, a.value, a.mask);
    case f::ipv6_flabel: return set_ipv6_flabel(p, l, u32, mask32);
    case f::arp_op: return set_arp_op(p, l, u16);
    case f::arp_spa: return set_arp_spa(p, l, u32, mask32);
    case f::arp_tpa: return set_arp_tpa(p, l, u32, mask32);
    case f::arp_sha: return set_arp_sha(p, l, u64, mask64);
    case f::arp_tha: return set_arp_tha(p, l, u64, mask64);
    case f::tcp_src: return set_port(p, l, layer::tcp, port_side::source, u16, mask16);
    case f::tcp_dst: return set_port(p, l, layer::tcp, port_side::destination, u16, mask16);
    case f::udp_src: return set_port(p, l, layer::udp, port_side::source, u16, mask16);
    case f::udp_dst: return set_port(p, l, layer::udp, port_side::destination, u16, mask16);
    case f::sctp_src: return set_port(p, l, layer::sctp, port_side::source, u16, mask16);
    case f::sctp_dst: return set_port(p, l, layer::sctp, port_side::destination, u16, mask16);
    case f::icmpv4_type: return set_icmp_type(p, l, layer::icmpv4, u8);
    case f::icmpv4_code: return set_icmp_code(p, l, layer::icmpv4, u8);
    case f::icmpv6_type: return set_icmp_type(p, l, layer::icmpv6, u8);
    case f::icmpv6_code: return set_icmp_code(p, l, layer::icmpv6, u8);
    case f::nd_target: return set_nd_target(p, l, a.value, a.mask);
    case f::nd_sll: return set_nd_sll(p, l, u64);
    case f::nd_tll: return set_nd_tll(p, l, u64);
    default: COUA_CHECK(!"a header field that can be written"); return rewrite_result::no_header;
  }
}

rewrite_result rewrite(net::packet& p, net::layers& l, const pipeline::action& what) {
  using result = rewrite_result;
  return std::visit(pipeline::overloaded{
                        [&](const act::set_field& a) { return set(p, l, a); },
                        [&](const act::push_vlan& a) { return push_vlan(p, l, a.ethertype); },
                        [&](const act::pop_vlan&) { return pop_vlan(p, l); },
                        [&](const act::push_mpls& a) { return push_mpls(p, l, a.ethertype); },
                        [&](const act::pop_mpls& a) { return pop_mpls(p, l, a.ethertype); },
                        [&](const act::set_ip_ttl& a) { return set_ip_ttl(p, l, a.ttl); },
                        [&](const act::dec_ip_ttl&) { return dec_ip_ttl(p, l); },
                        [&](const act::set_mpls_ttl& a) { return set_mpls_ttl(p, l, a.ttl); },
                        [&](const act::dec_mpls_ttl&) { return dec_mpls_ttl(p, l); },
                        [&](const act::copy_ttl_out&) { return copy_ttl_out(p, l); },
                        [&](const act::copy_ttl_in&) { return copy_ttl_in(p, l); },
                        [&](const auto&) -> result {
                          COUA_CHECK(!"an action that changes packets");
                          return {};
                        },
                    },
                    what);
}

constexpr f written[] = {
    f::eth_dst,   f::eth_src,  f::vlan_vid,    f::vlan_pcp,    f::mpls_label,  f::mpls_tc,
    f::mpls_ttl,  f::ip_dscp,  f::ip_ecn,      f::ip_ttl,      f::ipv4_src,    f::ipv4_dst,
    f::ipv6_src,  f::ipv6_dst, f::ipv6_flabel, f::arp_op,      f::arp_spa,     f::arp_tpa,
    f::arp_sha,   f::arp_tha,  f::tcp_src,     f::tcp_dst,     f::udp_src,     f::udp_dst,
    f::sctp_src,  f::sctp_dst, f::icmpv4_type, f::icmpv4_code, f::icmpv6_type, f::icmpv6_code,
    f::nd_target, f::nd_sll,   f::nd_tll,
};

}  // namespace

pipeline::action make_action(std::uint8_t number, net::uint128 value, net::uint128 mask) {
  const auto low = static_cast<std::uint8_t>(value);
  switch (number % 48) {
    case 0: return act::push_vlan{0x8100};
    case 1: return act::push_vlan{0x88a8};
    case 2:
    case 3: return act::pop_vlan{};
    case 4: return act::push_mpls{0x8847};
    case 5: return act::push_mpls{0x8848};
    case 6: return act::pop_mpls{0x0800};
    case 7: return act::pop_mpls{0x86dd};
    case 8: return act::pop_mpls{0x8847};
    case 9: return act::pop_mpls{0x0806};
    case 10: return act::set_ip_ttl{low};
    case 11: return act::dec_ip_ttl{};
    case 12: return act::dec_mpls_ttl{};
    case 13: return act::copy_ttl_out{};
    case 14: return act::copy_ttl_in{};
    default: break;
  }
  const f which = written[(number % 48 - 15U) % std::size(written)];
  const net::uint128 full = pipeline::full_mask(which);
  if (!pipeline::info(which).maskable || (mask & full) == 0) mask = full;
  return act::set_field{which, value & mask & full, mask & full};
}

checked_packet::checked_packet(const std::vector<std::uint8_t>& frame, std::size_t headroom)
    : block_(new std::uint8_t[headroom + frame.size()]) {
  packet_.bytes = block_.get() + headroom;
  packet_.contiguous = packet_.length = static_cast<std::uint32_t>(frame.size());
  packet_.headroom = static_cast<std::uint32_t>(headroom);
  std::copy(frame.begin(), frame.end(), packet_.bytes);
  oracle_.bytes = frame;
  layers_ = net::parse(packet_, net::parse_depth::transport);
  check();
}

std::vector<std::uint8_t> checked_packet::bytes() const {
  return {packet_.bytes, packet_.bytes + packet_.contiguous};
}

void checked_packet::check() const {
  require(bytes() == oracle_.bytes, "bytes");
  require(packet_.bytes - packet_.headroom == block_.get(), "headroom");
  require(packet_.length == packet_.contiguous, "length");
  require(net::parse(packet_, net::parse_depth::transport) == layers_, "layers");

  const pipeline::field_values fields = fields_of(packet_, layers_);
  const pipeline::parsed expected = pipeline::parse(oracle_);
  for (std::size_t i = pipeline::index_of(f::eth_dst); i < pipeline::n_fields; ++i) {
    const auto which = static_cast<f>(i);
    require(fields.has(which) == expected.has(which) && fields.get(which) == expected.get(which),
            pipeline::info(which).name);
  }
}

bool checked_packet::checksum_holds() const {
  const std::optional<std::uint16_t> right = net::transport_checksum(packet_, layers_);
  if (!right) return false;
  const std::size_t at = layers_.has(layer::tcp)   ? net::wire::tcp::checksum
                         : layers_.has(layer::udp) ? net::wire::udp::checksum
                                                   : net::wire::icmp::checksum;
  return net::load_be16(packet_.bytes + layers_.transport + at) == *right;
}

rewrite_result checked_packet::apply(const pipeline::action& what) {
  const bool held = checksum_holds();
  const net::layers before = layers_;
  const rewrite_result result = rewrite(packet_, layers_, what);
  if (result != rewrite_result::no_headroom) {
    switch (*pipeline::rewrite(oracle_, what)) {
      case pipeline::rewrite_result::done:
        require(result == rewrite_result::done || result == rewrite_result::parse_again, "result");
        break;
      case pipeline::rewrite_result::no_header:
        require(result == rewrite_result::no_header, "result");
        break;
      case pipeline::rewrite_result::invalid_ttl:
        require(result == rewrite_result::invalid_ttl, "result");
        break;
    }
  }
  if (result == rewrite_result::parse_again) {
    layers_ = net::parse(packet_, net::parse_depth::transport);
  }
  check();
  // Another type of packet (a label before it, a tag too many) has another checksum.
  if (held && layers_.ip_proto == before.ip_proto && layers_.transport != 0) {
    require(checksum_holds(), "the checksum, which was right");
  }
  return result;
}

}  // namespace coua::test
