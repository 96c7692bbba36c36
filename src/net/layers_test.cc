// SPDX-License-Identifier: Apache-2.0
#include "net/layers.h"

#include <gtest/gtest.h>

#include "net/ip_protocol.h"
#include "net/ipv6_extensions.h"
#include "net/test_packets.h"

namespace coua::net {
namespace {

using namespace test;

// A frame whose type is known, and an IP packet whose protocol is.
constexpr layer::bits link = layer::ethernet | layer::eth_type;
constexpr layer::bits ip4 = link | layer::ipv4 | layer::ip_proto;
constexpr layer::bits ip6 = link | layer::ipv6 | layer::ip_proto;

layers parsed(const bytes& frame, parse_depth depth = parse_depth::transport) {
  const guarded_frame memory(frame);
  return parse(memory.at, depth);
}

TEST(layers, untagged_tcp) {
  const layers l = parsed(eth(ipv4({}, tcp(80, 1025))));
  EXPECT_EQ(l.present, ip4 | layer::tcp);
  EXPECT_EQ(l.eth_type, 0x0800);
  EXPECT_EQ(l.vlan_tci, 0);
  EXPECT_EQ(l.network, 14);
  EXPECT_EQ(l.transport, 34);
  EXPECT_EQ(l.ip_end, 54U);
  EXPECT_EQ(l.ip_proto, 6);
}

TEST(layers, depth_ends_the_parse) {
  const bytes frame = eth(tag(0x8100, 0xe007) + ipv4({.proto = 17, .options = 4}, udp(53, 54)));
  const layers whole = parsed(frame);
  EXPECT_EQ(whole.present, ip4 | layer::vlan | layer::udp);
  EXPECT_EQ(whole.transport, 18 + 24);

  const layers network = parsed(frame, parse_depth::network);
  layers expected = whole;
  expected.present &= ~layer::udp;
  EXPECT_EQ(network, expected);

  const layers tags_only = parsed(frame, parse_depth::link);
  EXPECT_EQ(tags_only.present, link | layer::vlan);
  EXPECT_EQ(tags_only.eth_type, 0x0800);
  EXPECT_EQ(tags_only.network, 18);
  EXPECT_EQ(tags_only.transport, 0);
  EXPECT_EQ(tags_only.ip_end, 0U);
  EXPECT_EQ(tags_only.ip_proto, 0);
}

TEST(layers, a_burst_is_each_packet) {
  const guarded_frame first(eth(ipv4({}, tcp(1, 2))));
  const guarded_frame second(eth(arp()));
  const packet both[] = {first.at, second.at};
  layers out[2];
  for (const auto depth : {parse_depth::link, parse_depth::network, parse_depth::transport}) {
    parse_burst(both, out, 2, depth);
    EXPECT_EQ(out[0], parse(first.at, depth));
    EXPECT_EQ(out[1], parse(second.at, depth));
    EXPECT_NE(out[0], out[1]);
  }
}

TEST(layers, tags_of_both_types) {
  const layers l = parsed(eth(tag(0x88a8, 0xf123) + tag(0x8100, 0x0456) + arp()));
  EXPECT_EQ(l.present, link | layer::vlan | layer::second_vlan | layer::arp);
  EXPECT_EQ(l.vlan_tci, 0xf123) << "the bit of DEI says that there is a tag";
  EXPECT_EQ(l.network, 22);
  EXPECT_EQ(l.eth_type, 0x0806);
  EXPECT_EQ(parsed(eth(tag(0x8100, 0x0000) + arp())).vlan_tci, 0x1000);
}

TEST(layers, tags_end_at_the_limit) {
  bytes tags;
  for (unsigned n = 1; n <= max_vlan_tags; ++n) tags = tags + tag(0x8100, n);
  const layers most = parsed(eth(tags + arp()));
  EXPECT_EQ(most.eth_type, 0x0806);
  EXPECT_TRUE(most.has(layer::arp));
  const layers over = parsed(eth(tags + tag(0x8100, 9) + arp()));
  EXPECT_EQ(over.eth_type, 0x8100);
  EXPECT_EQ(over.network, most.network);
  EXPECT_FALSE(over.has(layer::arp));
}

TEST(layers, after_a_tag_that_is_cut_off_there_is_no_type) {
  const bytes whole = eth(tag(0x8100, 0x0001) + tag(0x88a8, 0x0002) + be16(0x0800));
  for (std::size_t length = 14; length < whole.size(); ++length) {
    const layers l = parsed(bytes(whole.begin(), whole.begin() + static_cast<long>(length)));
    EXPECT_EQ(l.present, layer::ethernet | (length < 18 ? 0 : layer::vlan));
    EXPECT_EQ(l.eth_type, 0);
    EXPECT_EQ(l.network, length < 18 ? 14 : 18);
    EXPECT_EQ(l.vlan_tci, length < 18 ? 0 : 0x1001);
  }
}

TEST(layers, length_frames_have_no_type) {
  for (const unsigned length : {0U, 38U, 0x05dcU, 0x05ffU}) {
    // A SNAP header that says IPv4, with a packet behind it.
    const layers l =
        parsed(eth(be16(length) + bytes{0xaa, 0xaa, 3, 0, 0, 0} + ipv4({}, tcp(1, 2))));
    EXPECT_EQ(l.present, link);
    EXPECT_EQ(l.eth_type, eth_type_none);
  }
  EXPECT_EQ(parsed(eth(be16(0x0600))).eth_type, 0x0600);
  EXPECT_EQ(parsed(eth(tag(0x8100, 5) + be16(38) + zeros(38))).eth_type, eth_type_none);
}

TEST(layers, arp_of_ethernet_and_ipv4_only) {
  const bytes good = eth(arp());
  EXPECT_EQ(parsed(good).present, link | layer::arp);
  for (std::size_t at = 14; at < 20; ++at) {
    bytes bad = good;
    bad[at] ^= 1;
    EXPECT_EQ(parsed(bad).present, link) << at;
  }
}

TEST(layers, mpls_hides_what_is_below) {
  const layers l =
      parsed(eth(tag(0x8100, 3) + mpls({mpls_entry(100, 1, true, 9)}, ipv4_packet({}, tcp(1, 2)))));
  EXPECT_EQ(l.present, link | layer::vlan | layer::mpls);
  EXPECT_EQ(l.network, 18);
  EXPECT_EQ(l.transport, 0);
  EXPECT_EQ(l.ip_proto, 0);
  EXPECT_EQ(parsed(eth(mpls({1}, {}, 0x8848))).present, link | layer::mpls);
  EXPECT_EQ(parsed(eth(be16(0x8847) + zeros(3))).present, link);
}

TEST(layers, transport_of_ipv4) {
  const auto bits = [](unsigned proto, const bytes& payload) {
    return parsed(eth(ipv4({.proto = proto}, payload))).present & ~(ip4);
  };
  EXPECT_EQ(bits(6, tcp(1, 2)), layer::tcp);
  EXPECT_EQ(bits(17, udp(1, 2)), layer::udp);
  EXPECT_EQ(bits(132, sctp(1, 2)), layer::sctp);
  EXPECT_EQ(bits(1, icmp(8, 0)), layer::icmpv4);
  EXPECT_EQ(bits(58, nd(135, {})), 0U) << "ICMPv6 is in IPv6";
  EXPECT_EQ(bits(47, tcp(1, 2)), 0U);
}

TEST(layers, padding_is_no_header) {
  // 8 bytes of TCP, and what looks like the rest is padding of the frame.
  const bytes frame = eth(ipv4({}, zeros(8)) + zeros(18));
  const layers l = parsed(frame);
  EXPECT_EQ(l.present, ip4);
  EXPECT_EQ(l.ip_end, 42U);
  EXPECT_EQ(l.transport, 34);
}

TEST(layers, malformed_ipv4_is_not_ipv4) {
  const bytes good = eth(ipv4({}, tcp(1, 2)));
  const auto with = [&](std::size_t at, unsigned value) {
    bytes frame = good;
    frame[at] = static_cast<std::uint8_t>(value);
    return parsed(frame);
  };
  for (const unsigned first : {0x55U, 0x65U, 0x05U, 0x44U, 0x40U, 0x4fU}) {
    const layers l = with(14, first);
    EXPECT_EQ(l.present, link) << first;
    EXPECT_EQ(l.eth_type, 0x0800);
    EXPECT_EQ(l.ip_proto, 0);
    EXPECT_EQ(l.ip_end, 0U);
  }
  EXPECT_EQ(with(14, 0x4a).present, ip4) << "20 bytes of options";
  EXPECT_EQ(with(17, 41).present, ip4 | layer::tcp) << "a byte longer than the frame";
  EXPECT_EQ(with(17, 19).present, link) << "shorter than its header";
  EXPECT_EQ(with(17, 20).present, ip4);
}

TEST(layers, fragments_of_ipv4) {
  const layers first = parsed(eth(ipv4({.fragment = 0x2000}, tcp(1, 2))));
  EXPECT_EQ(first.present, ip4 | layer::fragment | layer::tcp);
  const layers later = parsed(eth(ipv4({.fragment = 0x0001}, tcp(1, 2))));
  EXPECT_EQ(later.present, ip4 | layer::fragment | layer::later_fragment);
  EXPECT_EQ(later.ip_proto, 6);
  EXPECT_EQ(later.transport, 0);
  const layers whole = parsed(eth(ipv4({.fragment = 0xc000}, tcp(1, 2))));
  EXPECT_EQ(whole.present, ip4 | layer::tcp) << "DF makes no fragment";
}

TEST(layers, transport_of_ipv6) {
  const layers l = parsed(eth(ipv6({.proto = 17}, udp(1, 2))));
  EXPECT_EQ(l.present, ip6 | layer::udp);
  EXPECT_EQ(l.transport, 54);
  EXPECT_EQ(l.ip_end, 62U);
  EXPECT_EQ(l.ip_proto, 17);
  EXPECT_EQ(parsed(eth(ipv6({.proto = 1}, icmp(8, 0)))).present, ip6) << "ICMP is in IPv4";
  EXPECT_EQ(parsed(eth(ipv6({.proto = 58}, icmp(128, 0)))).present, ip6 | layer::icmpv6);
}

TEST(layers, malformed_ipv6_is_not_ipv6) {
  const bytes good = eth(ipv6({}, tcp(1, 2)));
  bytes version = good;
  version[14] = 0x45;
  EXPECT_EQ(parsed(version).present, link);
  bytes longer = good;
  longer[19] += 1;
  EXPECT_EQ(parsed(longer).present, ip6 | layer::tcp) << "a byte longer than the frame";
  bytes shorter = good;
  shorter[19] -= 1;
  EXPECT_EQ(parsed(shorter).present, ip6) << "19 bytes are no TCP header";
}

TEST(layers, extension_headers_are_passed) {
  const layers l =
      parsed(eth(ipv6({.first = 0,
                       .extensions = extension(60) + extension(43, 2) + routing(44, 1) +
                                     fragment(51, 1) + auth(60, 4) + extension(6)},
                      tcp(1, 2))));
  EXPECT_EQ(l.present, ip6 | layer::fragment | layer::routed | layer::tcp);
  EXPECT_EQ(l.ip_proto, 6);
  EXPECT_EQ(l.transport, 14 + 40 + 8 + 24 + 8 + 8 + 24 + 8);
  EXPECT_EQ(l.ipv6_exthdr, exthdr_hop | exthdr_dest | exthdr_router | exthdr_frag | exthdr_auth);
}

TEST(layers, fragments_of_ipv6) {
  const layers atomic = parsed(eth(ipv6({.first = 44, .extensions = fragment(6, 6)}, tcp(1, 2))));
  EXPECT_EQ(atomic.present, ip6 | layer::tcp) << "offset and M are 0";
  EXPECT_EQ(atomic.ipv6_exthdr, exthdr_frag);
  const layers later = parsed(eth(ipv6({.first = 44, .extensions = fragment(60, 8)}, tcp(1, 2))));
  EXPECT_EQ(later.present, ip6 | layer::fragment | layer::later_fragment);
  EXPECT_EQ(later.ip_proto, 60);
  EXPECT_EQ(later.transport, 0);
}

TEST(layers, neighbour_discovery) {
  const layers sol = parsed(eth(ipv6({.proto = 58}, nd(135, nd_option(14) + nd_option(1)))));
  EXPECT_EQ(sol.present, ip6 | layer::icmpv6 | layer::nd_sol | layer::nd_sll);
  EXPECT_EQ(sol.nd_option, 54 + 24 + 8);
  const layers adv = parsed(eth(ipv6({.proto = 58}, nd(136, nd_option(1) + nd_option(2)))));
  EXPECT_EQ(adv.present, ip6 | layer::icmpv6 | layer::nd_adv | layer::nd_tll);
  EXPECT_EQ(adv.nd_option, 54 + 24 + 8);
  const layers none = parsed(eth(ipv6({.proto = 58}, nd(135, nd_option(2)))));
  EXPECT_EQ(none.present, ip6 | layer::icmpv6 | layer::nd_sol);
  EXPECT_EQ(none.nd_option, 0);
  EXPECT_EQ(parsed(eth(ipv6({.proto = 58}, nd(134, nd_option(1))))).present, ip6 | layer::icmpv6);
}

TEST(layers, malformed_nd_options_end_the_search) {
  const auto finds = [](const bytes& options) {
    return parsed(eth(ipv6({.proto = 58}, nd(135, options)))).has(layer::nd_sll);
  };
  bytes empty = nd_option(14);
  empty[1] = 0;
  bytes too_long = nd_option(14);
  too_long[1] = 3;
  EXPECT_TRUE(finds(nd_option(14, 2) + nd_option(1)));
  EXPECT_FALSE(finds(empty + nd_option(1)));
  EXPECT_FALSE(finds(too_long + nd_option(1)));
  EXPECT_TRUE(finds(nd_option(1, 2) + nd_option(1))) << "16 bytes are no Ethernet address";
}

/// A frame, and from which length on each layer is there.
struct growing {
  const char* name;
  bytes frame;
  std::vector<std::pair<std::size_t, layer::bits>> steps;
};

TEST(layers, every_truncation) {
  constexpr layer::bits ip4_bits = layer::ipv4 | layer::ip_proto;
  constexpr layer::bits ip6_bits = layer::ipv6 | layer::ip_proto;
  const std::vector<growing> cases = {
      {"arp",
       eth(tag(0x88a8, 1) + tag(0x8100, 2) + arp()),
       {{14, layer::ethernet},
        {18, layer::vlan},
        {22, layer::second_vlan | layer::eth_type},
        {50, layer::arp}}},
      {"mpls", eth(mpls({5, 0x105}, zeros(4))), {{14, link}, {18, layer::mpls}}},
      {"options",
       eth(ipv4({.options = 8}, tcp(1, 2, zeros(5)))),
       {{14, link}, {42, ip4_bits}, {62, layer::tcp}}},
      {"udp",
       eth(ipv4({.proto = 17}, udp(1, 2, zeros(5)))),
       {{14, link}, {34, ip4_bits}, {42, layer::udp}}},
      {"sctp",
       eth(ipv4({.proto = 132}, sctp(1, 2, zeros(5)))),
       {{14, link}, {34, ip4_bits}, {46, layer::sctp}}},
      {"icmp",
       eth(ipv4({.proto = 1}, icmp(8, 0, zeros(5)))),
       {{14, link}, {34, ip4_bits}, {42, layer::icmpv4}}},
      {"extensions",
       eth(ipv6({.first = 0,
                 .extensions = extension(43, 1) + routing(44, 2) + fragment(51, 1) + auth(6, 1)},
                tcp(1, 2))),
       {{14, link},
        {54, layer::ipv6},
        {54 + 44, layer::ip_proto | layer::routed | layer::fragment},
        {54 + 44 + 20, layer::tcp}}},
      {"nd",
       eth(ipv6({.proto = 58}, nd(136, nd_option(7) + nd_option(2)))),
       {{14, link}, {54, ip6_bits}, {58, layer::icmpv6}, {78, layer::nd_adv}, {94, layer::nd_tll}}},
  };
  for (const growing& c : cases) {
    for (std::size_t length = 0; length <= c.frame.size(); ++length) {
      layer::bits expected = 0;
      for (const auto& [from, bit] : c.steps) {
        if (length >= from) expected |= bit;
      }
      const bytes part(c.frame.begin(), c.frame.begin() + static_cast<long>(length));
      EXPECT_EQ(parsed(part).present, expected) << c.name << " " << length;
    }
  }
}

TEST(layers, a_chain_that_is_cut_off_says_nothing) {
  const bytes frame = eth(ipv6({.first = 44, .extensions = fragment(43, 9) + routing(6, 1)}, {}));
  const layers cut = parsed(bytes(frame.begin(), frame.begin() + 54 + 7));
  EXPECT_EQ(cut.present, link | layer::ipv6);
  EXPECT_EQ(cut.ip_proto, 0);
  EXPECT_EQ(cut.ipv6_exthdr, 0);
  EXPECT_EQ(cut.transport, 0);
  EXPECT_EQ(parsed(frame).present, ip6 | layer::fragment | layer::later_fragment);
}

}  // namespace
}  // namespace coua::net
