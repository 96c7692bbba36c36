// SPDX-License-Identifier: Apache-2.0
//
// What the parser of usual frames takes is what parse() says of them: for frames of every kind, cut
// off at every byte, and with every byte of their headers changed.
#include "net/parse_usual.h"

#include <gtest/gtest.h>

#include "net/test_packets.h"

namespace coua::net {
namespace {

using namespace test;

/// Whether it was taken.
template <class Parse>
bool agrees(Parse parse_one, const packet& frame, parse_depth depth) {
  layers untouched;
  untouched.ip_proto = 1;
  layers usual = untouched;
  const bool taken = parse_one(frame, usual);
  EXPECT_EQ(usual, taken ? parse(frame, depth) : untouched) << "depth " << static_cast<int>(depth);
  return taken;
}

/// Whether one of the kinds took it: no two do.
template <parse_depth Depth>
bool agrees(const packet& frame) {
  const unsigned n =
      unsigned{agrees(parse_usual_kind<Depth, usual_kind::untagged>, frame, Depth)} +
      unsigned{agrees(parse_usual_kind<Depth, usual_kind::tagged>, frame, Depth)} +
      unsigned{agrees(parse_usual_kind<Depth, usual_kind::tagged_qinq>, frame, Depth)};
  EXPECT_LE(n, 1U);
  return n != 0;
}

/// How often it was taken, of three depths.
unsigned agrees(const bytes& frame) {
  const guarded_frame memory(frame);
  return unsigned{agrees(parse_usual_link, memory.at, parse_depth::link)} +
         unsigned{agrees<parse_depth::network>(memory.at)} +
         unsigned{agrees<parse_depth::transport>(memory.at)};
}

TEST(parse_usual, takes_what_is_usual) {
  EXPECT_EQ(agrees(eth(ipv4({}, tcp(80, 81)))), 3U);
  EXPECT_EQ(agrees(eth(ipv4({.proto = 17}, udp(53, 54)))), 3U);
  EXPECT_EQ(agrees(eth(tag(0x8100, 0xe007) + ipv4({}, tcp(80, 81)))), 3U);
  EXPECT_EQ(agrees(eth(tag(0x88a8, 7) + ipv4({.proto = 17}, udp(53, 54, zeros(18))))), 3U);
}

TEST(parse_usual, says_what_parse_says) {
  const std::vector<bytes> frames = {
      eth(ipv4({}, tcp(80, 81))),
      eth(ipv4({.proto = 17}, udp(53, 54, zeros(7)))) + zeros(4),
      eth(tag(0x8100, 0xe007) + ipv4({}, tcp(80, 81))),
      eth(tag(0x88a8, 7) + tag(0x8100, 8) + ipv4({}, tcp(80, 81))),
      eth(ipv4({.options = 8}, tcp(80, 81))),
      eth(ipv4({.fragment = 0x2000}, tcp(80, 81))),
      eth(ipv4({.fragment = 3}, tcp(80, 81))),
      eth(ipv4({.proto = 1}, icmp(8, 0))),
      eth(ipv4({.proto = 132}, sctp(1, 2))),
      eth(ipv4({.proto = 47}, zeros(8))),
      eth(ipv6({}, tcp(80, 81))),
      eth(arp()),
      eth(mpls({mpls_entry(1, 0, true, 64)}, zeros(20))),
      eth(be16(46) + zeros(46)),
  };
  unsigned n_taken = 0, n_left = 0;
  const auto count = [&](const bytes& frame) {
    const unsigned n = agrees(frame);
    n_taken += n;
    n_left += 3 - n;
  };
  for (const bytes& frame : frames) {
    for (std::size_t n = 0; n <= frame.size(); ++n) {
      count({frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(n)});
    }
    for (std::size_t at = 12; at < frame.size() && at < 44; ++at) {
      for (unsigned value = 0; value < 256; ++value) {
        bytes other = frame;
        other[at] = static_cast<std::uint8_t>(value);
        count(other);
      }
    }
  }
  EXPECT_GT(n_taken, 100'000U);
  EXPECT_GT(n_left, 50'000U);
}

}  // namespace
}  // namespace coua::net
