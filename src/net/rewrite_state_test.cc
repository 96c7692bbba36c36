// SPDX-License-Identifier: Apache-2.0
//
// What rewrites keep: of a parse to any depth, and of a packet that is not all in its first buffer.
#include <gtest/gtest.h>

#include "net/rewrite_link.h"
#include "net/rewrite_mpls.h"
#include "net/rewrite_transport.h"
#include "net/test_packets.h"

namespace coua::net {
namespace {

using namespace test;
using result = rewrite_result;

TEST(rewrite_state, keeps_what_a_parse_to_the_same_depth_says) {
  for (const auto depth : {parse_depth::link, parse_depth::network, parse_depth::transport}) {
    for (const bytes& rest : {ipv6({.proto = 58}, nd(135, nd_option(1))), ipv4({}, tcp(1, 2)),
                              mpls({5, 0x105}, zeros(20)), arp()}) {
      guarded_frame memory(eth(tag(0x8100, 0x2003) + rest));
      layers l = parse(memory.at, depth);
      const auto is_kept = [&] { return l == parse(memory.at, depth); };
      EXPECT_EQ(push_vlan(memory.at, l, 0x88a8), result::done);
      EXPECT_TRUE(is_kept());
      EXPECT_EQ(pop_vlan(memory.at, l), result::done);
      EXPECT_EQ(pop_vlan(memory.at, l), result::done);
      EXPECT_TRUE(is_kept());
      if (depth == parse_depth::link) continue;
      EXPECT_EQ(push_mpls(memory.at, l, 0x8847), result::done);
      EXPECT_TRUE(is_kept());
      EXPECT_EQ(pop_mpls(memory.at, l, 0x8847), result::done);
      EXPECT_TRUE(is_kept());
    }
  }
}

TEST(rewrite_state, of_a_packet_in_several_buffers) {
  const auto message = [](unsigned port, const bytes& tags) {
    return eth(tags + ipv4({.proto = 132}, sctp(port, 2, bytes(1400, 7))));
  };
  const bytes before = message(1, {});
  const bytes after = message(99, tag(0x8100, 0));
  guarded_frame first(bytes(before.begin(), before.begin() + 60));
  first.at.length = static_cast<std::uint32_t>(before.size());
  layers l = parse(first.at, parse_depth::transport);
  EXPECT_EQ(set_port(first.at, l, layer::sctp, port_side::source, 99), result::done);
  EXPECT_EQ(push_vlan(first.at, l, 0x8100), result::done);
  EXPECT_EQ(first.copy(), bytes(after.begin(), after.begin() + 64)) << "with the CRC over all";
  EXPECT_EQ(first.at.length, after.size());
  EXPECT_EQ(l, parse(first.at, parse_depth::transport));
}

}  // namespace
}  // namespace coua::net
