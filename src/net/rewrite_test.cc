// SPDX-License-Identifier: Apache-2.0
//
// Each rewrite by its bytes, and that it keeps what the parser said. tests/net compares random ones
// with the pipeline's oracle.
#include "net/rewrite.h"

#include <gtest/gtest.h>

#include "net/rewrite_arp.h"
#include "net/rewrite_ip.h"
#include "net/rewrite_link.h"
#include "net/rewrite_mpls.h"
#include "net/rewrite_transport.h"
#include "net/test_packets.h"

namespace coua::net {
namespace {

using namespace test;
using result = rewrite_result;

/// What `how` makes of a frame; its layers must then be those of a new parse, unless it asks for
/// one.
template <typename How>
bytes rewritten(const bytes& frame, How how, result expected = result::done,
                std::size_t headroom = 64) {
  guarded_frame memory(frame, headroom);
  layers l = parse(memory.at, parse_depth::transport);
  EXPECT_EQ(how(memory.at, l), expected);
  if (expected != result::parse_again) {
    EXPECT_EQ(l, parse(memory.at, parse_depth::transport));
  }
  if (expected == result::no_header || expected == result::no_headroom ||
      expected == result::invalid_ttl) {
    EXPECT_EQ(memory.copy(), frame);
  }
  EXPECT_EQ(memory.at.contiguous, memory.at.length);
  EXPECT_EQ(memory.at.contiguous + memory.at.headroom, frame.size() + headroom);
  return memory.copy();
}

TEST(rewrite_link, writes_addresses) {
  const bytes frame = rewritten(eth(arp()), [](packet& p, layers& l) {
    EXPECT_EQ(set_eth_src(p, l, 0x0102'0304'0506), result::done);
    return set_eth_dst(p, l, 0xffff'0000'0000, 0xff00'0000'00ff);
  });
  EXPECT_EQ(bytes(frame.begin(), frame.begin() + 12),
            (bytes{0xff, 0x11, 0x22, 0x33, 0x44, 0, 1, 2, 3, 4, 5, 6}));
  rewritten(
      zeros(13), [](packet& p, layers& l) { return set_eth_dst(p, l, 1); }, result::no_header);
}

TEST(rewrite_link, pushes_tags) {
  const bytes plain = ipv4({}, tcp(1, 2));
  const auto push = [](packet& p, layers& l) { return push_vlan(p, l, 0x88a8); };
  EXPECT_EQ(rewritten(eth(plain), push), eth(tag(0x88a8, 0) + plain));
  EXPECT_EQ(rewritten(eth(tag(0x8100, 0x7123) + plain), push),
            eth(tag(0x88a8, 0x6123) + tag(0x8100, 0x7123) + plain))
      << "VID and PCP are copied, DEI is not";
  rewritten(eth(plain), push, result::no_headroom, 3);
  rewritten(zeros(13), push, result::no_header);
}

TEST(rewrite_link, pops_tags) {
  const auto pop = [](packet& p, layers& l) { return pop_vlan(p, l); };
  const bytes plain = ipv6({.proto = 58}, nd(135, nd_option(1)));
  EXPECT_EQ(rewritten(eth(tag(0x8100, 5) + plain), pop), eth(plain));
  EXPECT_EQ(rewritten(eth(tag(0x88a8, 5) + tag(0x8100, 6) + plain), pop),
            eth(tag(0x8100, 6) + plain));
  rewritten(eth(plain), pop, result::no_header);
  rewritten(eth(be16(0x8100) + zeros(3)), pop, result::no_header);
}

TEST(rewrite_link, asks_for_a_parse_at_the_limit_of_tags) {
  bytes most;
  for (unsigned n = 0; n < max_vlan_tags; ++n) most = most + tag(0x8100, n);
  const auto push = [](packet& p, layers& l) { return push_vlan(p, l, 0x8100); };
  const auto pop = [](packet& p, layers& l) { return pop_vlan(p, l); };
  rewritten(eth(most + arp()), push, result::parse_again);
  rewritten(eth(most + arp()), pop);
  rewritten(eth(most + tag(0x8100, 9) + arp()), pop, result::parse_again);
  // A tag that is cut off becomes the type behind the last tag that is passed.
  const bytes fewer(most.begin() + 4, most.end());
  rewritten(eth(fewer + be16(0x8100)), push, result::parse_again);
  rewritten(eth(fewer + be16(0x8100)), pop);
}

TEST(rewrite_link, writes_tags) {
  const bytes frame = rewritten(eth(tag(0x8100, 0x3005) + arp()), [](packet& p, layers& l) {
    EXPECT_EQ(set_vlan_pcp(p, l, 7), result::done);
    return set_vlan_vid(p, l, 0x1fff, 0x1ff0);
  });
  EXPECT_EQ(frame, eth(tag(0x8100, 0xfff5) + arp())) << "DEI stays";
  rewritten(
      eth(arp()), [](packet& p, layers& l) { return set_vlan_vid(p, l, 1); }, result::no_header);
}

TEST(rewrite_mpls, pushes_entries) {
  const auto push = [](packet& p, layers& l) { return push_mpls(p, l, 0x8848); };
  const bytes below = ipv4_packet({.ttl = 9}, tcp(1, 2));
  const std::uint32_t first = mpls_entry(0, 0, true, 9);
  EXPECT_EQ(rewritten(eth(tag(0x8100, 1) + be16(0x0800) + below), push),
            eth(tag(0x8100, 1) + mpls({first}, below, 0x8848)));
  const std::uint32_t outer = mpls_entry(77, 5, true, 200);
  EXPECT_EQ(rewritten(eth(mpls({outer}, below)), push),
            eth(mpls({mpls_entry(77, 5, false, 200), outer}, below, 0x8848)));
  const bytes below6 = ipv6_packet({.hop_limit = 3}, tcp(1, 2));
  EXPECT_EQ(rewritten(eth(be16(0x86dd) + below6), push),
            eth(mpls({mpls_entry(0, 0, true, 3)}, below6, 0x8848)));
  EXPECT_EQ(rewritten(eth(be16(0x88b5) + zeros(4)), push),
            eth(mpls({mpls_entry(0, 0, true, 0)}, zeros(4), 0x8848)));
  rewritten(eth(arp()), push, result::no_headroom, 3);
  rewritten(eth(be16(0x8100) + zeros(3)), push, result::no_header);
}

TEST(rewrite_mpls, pops_entries) {
  const bytes below = ipv4_packet({}, tcp(1, 2));
  const bytes two = eth(mpls({mpls_entry(1, 0, false, 5), mpls_entry(2, 0, true, 6)}, below));
  EXPECT_EQ(rewritten(two, [](packet& p, layers& l) { return pop_mpls(p, l, 0x8848); }),
            eth(mpls({mpls_entry(2, 0, true, 6)}, below, 0x8848)));
  EXPECT_EQ(rewritten(eth(mpls({1}, zeros(3))),
                      [](packet& p, layers& l) { return pop_mpls(p, l, 0x8847); }),
            eth(be16(0x8847) + zeros(3)));
  const auto to_ip = [](packet& p, layers& l) { return pop_mpls(p, l, 0x0800); };
  EXPECT_EQ(rewritten(eth(tag(0x8100, 1) + mpls({0x105}, below)), to_ip, result::parse_again),
            eth(tag(0x8100, 1) + be16(0x0800) + below));
  rewritten(eth(be16(0x0800) + below), to_ip, result::no_header);
}

TEST(rewrite_mpls, writes_the_outermost_entry) {
  const bytes frame = rewritten(eth(mpls({0xffff'ffff, 0x101}, {})), [](packet& p, layers& l) {
    EXPECT_EQ(set_mpls_label(p, l, 0x12345), result::done);
    EXPECT_EQ(set_mpls_tc(p, l, 2), result::done);
    EXPECT_EQ(set_mpls_ttl(p, l, 9), result::done);
    return dec_mpls_ttl(p, l);
  });
  EXPECT_EQ(frame, eth(mpls({mpls_entry(0x12345, 2, true, 8), 0x101}, {})));
  for (const std::uint32_t ttl : {0U, 1U}) {
    rewritten(
        eth(mpls({ttl}, {})), [](packet& p, layers& l) { return dec_mpls_ttl(p, l); },
        result::invalid_ttl);
  }
  EXPECT_EQ(rewritten(eth(mpls({2}, {})), [](packet& p, layers& l) { return dec_mpls_ttl(p, l); }),
            eth(mpls({1}, {})));
}

TEST(rewrite_mpls, copies_ttls) {
  const auto out = [](packet& p, layers& l) { return copy_ttl_out(p, l); };
  const auto in = [](packet& p, layers& l) { return copy_ttl_in(p, l); };
  const auto both = [](unsigned outer, unsigned inner) {
    return eth(mpls({mpls_entry(1, 0, false, outer), mpls_entry(2, 0, true, inner)}, zeros(40)));
  };
  EXPECT_EQ(rewritten(both(7, 9), out), both(9, 9));
  EXPECT_EQ(rewritten(both(7, 9), in), both(7, 7));
  const auto over4 = [](unsigned outer, unsigned inner) {
    return eth(mpls({mpls_entry(1, 0, true, outer)}, ipv4_packet({.ttl = inner}, udp(1, 2))));
  };
  EXPECT_EQ(rewritten(over4(7, 9), out), over4(9, 9));
  EXPECT_EQ(rewritten(over4(7, 9), in), over4(7, 7));
  const auto over6 = [](unsigned outer, unsigned inner) {
    return eth(mpls({mpls_entry(1, 0, true, outer)}, ipv6_packet({.hop_limit = inner}, tcp(1, 2))));
  };
  EXPECT_EQ(rewritten(over6(7, 9), out), over6(9, 9));
  EXPECT_EQ(rewritten(over6(7, 9), in), over6(7, 7));
  for (const auto& unknown : {eth(mpls({0x105}, zeros(40))), eth(mpls({5}, zeros(3))),
                              eth(mpls({0x105}, bytes(19, 0x45))), eth(arp())}) {
    rewritten(unknown, out, result::no_header);
    rewritten(unknown, in, result::no_header);
  }
}

TEST(rewrite_ip, writes_dscp_ecn_and_ttl) {
  const auto all = [](packet& p, layers& l) {
    EXPECT_EQ(set_ip_dscp(p, l, 46), result::done);
    EXPECT_EQ(set_ip_ecn(p, l, 1), result::done);
    EXPECT_EQ(set_ip_ttl(p, l, 100), result::done);
    return dec_ip_ttl(p, l);
  };
  EXPECT_EQ(rewritten(eth(ipv4({.options = 4, .tos = 0xff, .ttl = 3}, tcp(1, 2))), all),
            eth(ipv4({.options = 4, .tos = 46 << 2 | 1, .ttl = 99}, tcp(1, 2))));
  bytes expected = eth(ipv6({.hop_limit = 99}, tcp(1, 2)));
  expected[14] = 0x6b;  // version, and 46 << 2 | 1 = 0xb9
  expected[15] = 0x91;
  EXPECT_EQ(rewritten(eth(ipv6({}, tcp(1, 2))), all), expected);
  rewritten(
      eth(arp()), [](packet& p, layers& l) { return set_ip_dscp(p, l, 1); }, result::no_header);
}

TEST(rewrite_ip, decrements_to_one) {
  const auto dec = [](packet& p, layers& l) { return dec_ip_ttl(p, l); };
  EXPECT_EQ(rewritten(eth(ipv4({.ttl = 2}, tcp(1, 2))), dec), eth(ipv4({.ttl = 1}, tcp(1, 2))));
  for (const unsigned ttl : {0U, 1U}) {
    rewritten(eth(ipv4({.ttl = ttl}, tcp(1, 2))), dec, result::invalid_ttl);
    rewritten(eth(ipv6({.hop_limit = ttl}, tcp(1, 2))), dec, result::invalid_ttl);
  }
  rewritten(eth(arp()), dec, result::no_header);
}

TEST(rewrite_ip, writes_ipv4_addresses_and_all_checksums) {
  const auto set = [](packet& p, layers& l) {
    EXPECT_EQ(set_ipv4_src(p, l, 0xffff'ffff, 0x0000'ffff), result::done);
    return set_ipv4_dst(p, l, 0x0102'0304);
  };
  for (const auto& [proto, payload] :
       std::vector<std::pair<unsigned, bytes>>{{6, tcp(80, 81, bytes(7, 3))},
                                               {17, udp(53, 54, bytes(4, 9))},
                                               {1, icmp(8, 0)},
                                               {132, sctp(1, 2, bytes(8, 1))},
                                               {47, bytes(30, 7)}}) {
    EXPECT_EQ(
        rewritten(eth(ipv4({.proto = proto}, payload)), set),
        eth(ipv4({.proto = proto, .source = 0x0a00'ffff, .destination = 0x0102'0304}, payload)))
        << proto;
  }
  rewritten(
      eth(ipv6({}, tcp(1, 2))), [](packet& p, layers& l) { return set_ipv4_src(p, l, 1); },
      result::no_header);
}

TEST(rewrite_ip, leaves_later_fragments_and_udp_without_checksum) {
  const auto set = [](packet& p, layers& l) { return set_ipv4_dst(p, l, 0x0102'0304); };
  const ipv4_header later = {.proto = 17, .fragment = 0x2001};
  ipv4_header to = later;
  to.destination = 0x0102'0304;
  EXPECT_EQ(rewritten(eth(ipv4(later, bytes(20, 8))), set), eth(ipv4(to, bytes(20, 8))));
  bytes none = eth(ipv4({.proto = 17}, udp(1, 2)));
  none[40] = none[41] = 0;
  const bytes now = rewritten(none, set);
  EXPECT_EQ(now[40] | now[41], 0);
}

TEST(rewrite_ip, a_wrong_checksum_stays_wrong) {
  bytes wrong = eth(ipv4({}, tcp(1, 2)));
  wrong[24] ^= 0x10;
  wrong[50] ^= 0x20;
  bytes expected = eth(ipv4({.destination = 0x0102'0304}, tcp(1, 2)));
  const bytes now =
      rewritten(wrong, [](packet& p, layers& l) { return set_ipv4_dst(p, l, 0x0102'0304); });
  EXPECT_NE(now, expected);
  const unsigned ip_sum = plain_sum(bytes(now.begin() + 14, now.begin() + 34));
  EXPECT_NE(ip_sum, 0xffffU);
}

TEST(rewrite_ip, writes_ipv6_addresses_and_all_checksums) {
  const uint128 address = uint128{0x2001'0db8'ffff'0001} << 64 | 0x0123'4567'89ab'cdef;
  for (const auto& [proto, payload] : std::vector<std::pair<unsigned, bytes>>{
           {6, tcp(80, 81, bytes(7, 3))}, {17, udp(53, 54)}, {58, icmp(128, 0)}}) {
    // Swapping the addresses must give the sum of a packet that was made that way.
    const bytes frame = eth(ipv6({.proto = proto}, payload));
    const bytes there = rewritten(frame, [&](packet& p, layers& l) {
      EXPECT_EQ(set_ipv6_src(p, l, address), result::done);
      return set_ipv6_dst(p, l, address, ~uint128{0} << 64);
    });
    const bytes pseudo(there.begin() + 22, there.begin() + 54);
    const bytes message(there.begin() + 54, there.end());
    EXPECT_EQ(plain_sum(pseudo + be32(static_cast<std::uint32_t>(message.size())) + be32(proto) +
                        message),
              0xffff)
        << proto;
    EXPECT_EQ(load_be128(&there[22]), address);
    EXPECT_EQ(load_be128(&there[38]) >> 64, address >> 64);
    EXPECT_EQ(load_be64(&there[46]), load_be64(&frame[46]));
  }
}

TEST(rewrite_ip, a_destination_on_a_source_route_is_not_in_the_checksum) {
  const auto set = [](packet& p, layers& l) { return set_ipv6_dst(p, l, 5); };
  const bytes on_route =
      eth(ipv6({.first = 43, .extensions = routing(6, 1), .routed = true}, tcp(1, 2)));
  bytes expected = on_route;
  store_be128(&expected[38], 5);
  EXPECT_EQ(rewritten(on_route, set), expected);
  const bytes arrived = eth(ipv6({.first = 43, .extensions = routing(6, 0)}, tcp(1, 2)));
  expected = arrived;
  store_be128(&expected[38], 5);
  EXPECT_NE(rewritten(arrived, set), expected);
}

TEST(rewrite_ip, writes_the_flow_label) {
  bytes expected = eth(ipv6({}, tcp(1, 2)));
  store_be32(&expected[14], 0x6ab5'4321);
  EXPECT_EQ(rewritten(eth(ipv6({}, tcp(1, 2))),
                      [](packet& p, layers& l) { return set_ipv6_flabel(p, l, 0xfff5'4321); }),
            expected);
}

TEST(rewrite_arp, writes_all_fields) {
  const bytes frame = rewritten(eth(tag(0x8100, 1) + arp()), [](packet& p, layers& l) {
    EXPECT_EQ(set_arp_op(p, l, 0x0102), result::done);
    EXPECT_EQ(set_arp_sha(p, l, 0x1111'1111'1111), result::done);
    EXPECT_EQ(set_arp_spa(p, l, 0x2222'2222), result::done);
    EXPECT_EQ(set_arp_tha(p, l, 0x3333'3333'3333), result::done);
    return set_arp_tpa(p, l, 0x4444'4444, 0xffff'0000);
  });
  EXPECT_EQ(bytes(frame.begin() + 24, frame.end()),
            (bytes{1,    2,    0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x22,
                   0x22, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x44, 0x44, 0,    2}));
  rewritten(
      eth(ipv4({}, tcp(1, 2))), [](packet& p, layers& l) { return set_arp_op(p, l, 1); },
      result::no_header);
}

TEST(rewrite_transport, writes_ports) {
  const auto set = [](layer::bits kind) {
    return [kind](packet& p, layers& l) {
      EXPECT_EQ(set_port(p, l, kind, port_side::source, 0xfedc), result::done);
      return set_port(p, l, kind, port_side::destination, 0xffff, 0x00f0);
    };
  };
  const bytes data(9, 5);
  EXPECT_EQ(rewritten(eth(ipv4({}, tcp(1, 2, data))), set(layer::tcp)),
            eth(ipv4({}, tcp(0xfedc, 0xf2, data))));
  EXPECT_EQ(rewritten(eth(ipv6({.proto = 17}, udp(1, 2, data))), set(layer::udp)),
            eth(ipv6({.proto = 17}, udp(0xfedc, 0xf2, data))));
  for (const std::size_t n : {0, 1, 4, 1400}) {
    const bytes padding(n % 3, 0x99);
    EXPECT_EQ(
        rewritten(eth(ipv4({.proto = 132}, sctp(1, 2, zeros(n))) + padding), set(layer::sctp)),
        eth(ipv4({.proto = 132}, sctp(0xfedc, 0xf2, zeros(n))) + padding));
  }
  rewritten(
      eth(ipv4({}, tcp(1, 2))),
      [](packet& p, layers& l) { return set_port(p, l, layer::udp, port_side::source, 1); },
      result::no_header);
}

TEST(rewrite_transport, leaves_the_crc_of_a_first_fragment) {
  const ipv4_header first = {.proto = 132, .fragment = 0x2000};
  EXPECT_EQ(rewritten(eth(ipv4(first, sctp(1, 2))),
                      [](packet& p, layers& l) {
                        return set_port(p, l, layer::sctp, port_side::source, 7);
                      }),
            eth(ipv4(first, sctp(7, 2))));
}

TEST(rewrite_transport, writes_icmp) {
  const auto set = [](layer::bits kind) {
    return [kind](packet& p, layers& l) {
      EXPECT_EQ(set_icmp_type(p, l, kind, 3), result::done);
      return set_icmp_code(p, l, kind, 13);
    };
  };
  EXPECT_EQ(rewritten(eth(ipv4({.proto = 1}, icmp(8, 0))), set(layer::icmpv4)),
            eth(ipv4({.proto = 1}, icmp(3, 13))));
  EXPECT_EQ(rewritten(eth(ipv6({.proto = 58}, icmp(128, 0))), set(layer::icmpv6)),
            eth(ipv6({.proto = 58}, icmp(3, 13))));
}

TEST(rewrite_transport, a_type_decides_about_nd) {
  const bytes options = nd_option(1) + nd_option(2);
  const auto set = [](std::uint8_t type) {
    return [type](packet& p, layers& l) { return set_icmp_type(p, l, layer::icmpv6, type); };
  };
  const auto message = [&](unsigned type) { return eth(ipv6({.proto = 58}, nd(type, options))); };
  EXPECT_EQ(rewritten(message(135), set(136)), message(136));
  EXPECT_EQ(rewritten(message(136), set(200)), message(200));
  EXPECT_EQ(rewritten(message(200), set(135)), message(135));
}

TEST(rewrite_transport, writes_nd) {
  const auto sum = [](const bytes& frame) {
    const bytes message(frame.begin() + 54, frame.end());
    return plain_sum(bytes(frame.begin() + 22, frame.begin() + 54) +
                     be32(static_cast<std::uint32_t>(message.size())) + be32(58) + message);
  };
  const bytes sol =
      rewritten(eth(ipv6({.proto = 58}, nd(135, nd_option(1)))), [](packet& p, layers& l) {
        EXPECT_EQ(set_nd_tll(p, l, 1), result::no_header);
        EXPECT_EQ(set_nd_target(p, l, ~uint128{0}, uint128{0xff00} << 64), result::done);
        return set_nd_sll(p, l, 0x0203'0405'0607);
      });
  EXPECT_EQ(load_mac(&sol[54 + 26]), 0x0203'0405'0607U);
  EXPECT_EQ(sol[54 + 8 + 6], 0xff);
  EXPECT_EQ(sum(sol), 0xffff);
  const bytes adv = rewritten(eth(ipv6({.proto = 58}, nd(136, nd_option(2)))),
                              [](packet& p, layers& l) { return set_nd_tll(p, l, 7); });
  EXPECT_EQ(load_mac(&adv[54 + 26]), 7U);
  EXPECT_EQ(sum(adv), 0xffff);
  rewritten(
      eth(ipv6({.proto = 58}, nd(134, nd_option(1)))),
      [](packet& p, layers& l) { return set_nd_target(p, l, 1); }, result::no_header);
}

}  // namespace
}  // namespace coua::net
