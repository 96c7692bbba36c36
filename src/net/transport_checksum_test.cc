// SPDX-License-Identifier: Apache-2.0
#include "net/transport_checksum.h"

#include <gtest/gtest.h>

#include "net/test_packets.h"

namespace coua::net {
namespace {

using namespace test;

std::optional<std::uint16_t> computed(const bytes& frame) {
  const guarded_frame memory(frame);
  return transport_checksum(memory.at, parse(memory.at, parse_depth::transport));
}

TEST(transport_checksum, equals_that_of_whole_packets) {
  struct sample {
    bytes frame;
    std::size_t at;
  };
  const bytes odd(7, 0xab);
  const bytes padding(5, 0x77);
  for (const sample& s : std::vector<sample>{
           {eth(ipv4({.options = 4}, tcp(1, 2, odd)) + padding), 38 + 16},
           {eth(ipv4({.proto = 17}, udp(1, 2, odd)) + padding), 34 + 6},
           {eth(ipv4({.proto = 1}, icmp(8, 0, odd)) + padding), 34 + 2},
           {eth(ipv6({}, tcp(1, 2, odd)) + padding), 54 + 16},
           {eth(ipv6({.proto = 17, .first = 60, .extensions = extension(17)}, udp(1, 2))), 62 + 6},
           {eth(ipv6({.proto = 58}, nd(135, nd_option(1)))), 54 + 2}}) {
    bytes frame = s.frame;
    EXPECT_EQ(computed(frame), load_be16(&frame[s.at]));
    frame[s.at] ^= 0x55;
    EXPECT_EQ(computed(frame), load_be16(&s.frame[s.at])) << "what stands there does not count";
  }
}

TEST(transport_checksum, of_udp_is_never_0) {
  // Ports that make the sum 0xffff.
  const bytes frame = eth(ipv4({.proto = 17}, udp(0, 0)));
  const unsigned rest = ~unsigned{load_be16(&frame[40])} & 0xffffU;
  EXPECT_EQ(computed(eth(ipv4({.proto = 17}, udp(0xffff - rest, 0)))), 0xffff);
}

TEST(transport_checksum, is_not_told_without_the_whole_message) {
  EXPECT_FALSE(computed(eth(arp())));
  EXPECT_FALSE(computed(eth(ipv4({.proto = 132}, sctp(1, 2)))));
  EXPECT_FALSE(computed(eth(ipv4({.fragment = 0x2000}, tcp(1, 2)))));
  EXPECT_FALSE(
      computed(eth(ipv6({.first = 43, .extensions = routing(6, 1), .routed = true}, tcp(1, 2)))));
  bytes cut = eth(ipv4({}, tcp(1, 2, zeros(4))));
  cut.pop_back();
  EXPECT_FALSE(computed(cut));
}

}  // namespace
}  // namespace coua::net
