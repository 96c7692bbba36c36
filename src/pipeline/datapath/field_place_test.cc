// SPDX-License-Identifier: Apache-2.0
//
// Every field that the datapath sees, against the oracle, which shares neither parser nor places
// with it.
#include "pipeline/datapath/field_place.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "pipeline/oracle/parse.h"
#include "pipeline/oracle/test_packet.h"

namespace coua::pipeline {
namespace {

using test::bytes;
using test::operator+;

/// The bytes in a buffer of exactly their size: what reads beyond them is caught by sanitizers.
struct received {
  explicit received(const packet& from)
      : size(from.bytes.size()), memory(new std::uint8_t[size == 0 ? 1 : size]) {
    std::copy(from.bytes.begin(), from.bytes.end(), memory.get());
    const auto length = static_cast<std::uint32_t>(size);
    state.buffer = {memory.get(), length, length, 0};
    state.in_port = from.in_port;
    state.in_phy_port = from.in_phy_port != 0 ? from.in_phy_port : from.in_port;
    state.metadata = from.metadata;
    state.tunnel_id = from.tunnel_id;
    std::copy(from.reg.begin(), from.reg.end(), state.reg);
    state.layers = net::parse(state.buffer, net::parse_depth::transport);
  }
  std::size_t size;
  std::unique_ptr<std::uint8_t[]> memory;
  packet_state state;
};

std::string hex_of(const bytes& all) {
  std::string text;
  for (const std::uint8_t each : all) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x ", each);
    text += digits;
  }
  return text;
}

/// How many fields the packet has; fails where the two see different ones.
std::size_t compare(const packet& from) {
  const parsed expected = parse(from);
  const received got(from);
  std::size_t n = 0;
  for (std::size_t i = 0; i < n_fields; ++i) {
    const auto which = static_cast<field>(i);
    const std::optional<value128> value = read_field(got.state, which);
    EXPECT_EQ(value.has_value(), expected.has(which))
        << info(which).name << ' ' << hex_of(from.bytes);
    if (!value) continue;
    ++n;
    EXPECT_TRUE(*value == expected.get(which)) << info(which).name << ' ' << hex_of(from.bytes);
  }
  return n;
}

packet with_state(const bytes& frame) {
  packet one;
  one.bytes = frame;
  one.in_port = 7;
  one.in_phy_port = 9;
  one.metadata = 0x1122'3344'5566'7788;
  one.tunnel_id = 0x99aa'bbcc'ddee'ff00;
  for (unsigned i = 0; i < n_registers; ++i) one.reg[i] = 0x0101'0101 * i + 3;
  return one;
}

std::vector<bytes> frames() {
  using namespace test;
  const bytes port_pair = tcp(80, 4711, zeros(4));
  std::vector<bytes> all = {
      ethernet(0x0042) + zeros(60),
      ethernet(0x88b5) + zeros(10),
      ethernet(0x0806) + arp(),
      ethernet(0x0800) + ipv4(6, port_pair),
      ethernet(0x0800) + ipv4(17, udp(53, 5353), hex("01 01 01 00"), 0, 0xb9),
      ethernet(0x0800) + ipv4(132, sctp(1, 2)),
      ethernet(0x0800) + ipv4(1, icmp(8, 0, zeros(8))),
      ethernet(0x0800) + ipv4(6, port_pair, {}, 0x2000),
      ethernet(0x0800) + ipv4(17, zeros(32), {}, 0x0007),
      ethernet(0x86dd) + ipv6(6, port_pair),
      ethernet(0x86dd) + ipv6(17, udp(1, 2)),
      ethernet(0x86dd) + ipv6(58, neighbour(135, hex("01 01 02 03 04 05 06 07"))),
      ethernet(0x86dd) +
          ipv6(58, neighbour(136, hex("0e 01 00 00 00 00 00 00 02 01 02 03 04 05 06 07"))),
      ethernet(0x86dd) +
          ipv6(0, hex("3c 00 00 00 00 00 00 00 06 00 00 00 00 00 00 00") + port_pair),
      ethernet(0x86dd) + ipv6(44, hex("11 00 00 09 00 00 00 01") + zeros(24)),
      ethernet(0x86dd) + ipv6(44, hex("11 00 00 01 00 00 00 01") + udp(7, 8, zeros(8))),
      ethernet(0x86dd) + ipv6(43, hex("3a 00 00 01 00 00 00 00") + icmp(128, 0, zeros(8))),
      ethernet(0x86dd) + ipv6(51, hex("06 01 00 00 00 00 00 01 00 00 00 02") + port_pair),
      ethernet(0x86dd) + ipv6(59, zeros(8)),
      ethernet(0x8847) + mpls_entry(1234, 5, true, 33) + ipv4(6, port_pair),
      ethernet(0x8848) + mpls_entry(77, 1, false, 2) + mpls_entry(78, 0, true, 3),
  };
  // The same behind one tag, behind two, and behind more than are followed.
  for (std::size_t i = all.size(); i-- > 0;) {
    const bytes& plain = all[i];
    const bytes addresses(plain.begin(), plain.begin() + 12);
    const bytes rest(plain.begin() + 12, plain.end());
    for (const char* tags :
         {"8100 a005", "88a8 6fff 8100 0001", "8100 0001 8100 0002 88a8 0003 8100 0004",
          "8100 0001 8100 0002 88a8 0003 8100 0004 8100 0005"}) {
      all.push_back(addresses + hex(tags) + rest);
    }
  }
  return all;
}

TEST(field_place, whole_packets_have_the_fields_that_the_oracle_sees) {
  std::size_t n = 0;
  for (const bytes& frame : frames()) n += compare(with_state(frame));
  EXPECT_GT(n, frames().size() * 24);
}

TEST(field_place, packets_that_are_cut_have_the_fields_that_the_oracle_sees) {
  for (const bytes& frame : frames()) {
    for (std::size_t length = 0; length < frame.size(); ++length) {
      compare(with_state({frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(length)}));
      if (HasFailure()) return;
    }
  }
}

TEST(field_place, packets_with_wrong_bytes_have_the_fields_that_the_oracle_sees) {
  std::mt19937_64 random(1);
  const std::vector<bytes> all = frames();
  for (int i = 0; i < 40'000; ++i) {
    bytes frame = all[random() % all.size()];
    for (std::uint64_t n = 1 + random() % 4; n > 0; --n) {
      // Most of what decides stands before byte 80.
      const std::size_t at = random() % std::min<std::size_t>(frame.size(), 80);
      frame[at] = static_cast<std::uint8_t>(random() % 3 == 0 ? random() % 8 : random());
    }
    if (random() % 4 == 0) frame.resize(random() % frame.size());
    compare(with_state(frame));
    if (HasFailure()) return;
  }
}

TEST(field_place, is_as_wide_as_the_field) {
  for (std::size_t i = 0; i < n_fields; ++i) {
    const auto which = static_cast<field>(i);
    for (const ip_version version : {ip_version::v4, ip_version::v6}) {
      const field_place place = place_of(which, version);
      EXPECT_EQ(place.n_bits, info(which).n_bits) << info(which).name;
      EXPECT_LE(place.shift + place.n_bits, 8 * place.n_bytes) << info(which).name;
    }
  }
}

TEST(field_place, is_seen_at_its_depth) {
  EXPECT_EQ(depth_of(field::in_port), net::parse_depth::link);
  EXPECT_EQ(depth_of(field::eth_dst), net::parse_depth::link);
  EXPECT_EQ(depth_of(field::vlan_vid), net::parse_depth::link);
  EXPECT_EQ(depth_of(field::eth_type), net::parse_depth::link);
  EXPECT_EQ(depth_of(field::mpls_label), net::parse_depth::network);
  EXPECT_EQ(depth_of(field::ipv4_dst), net::parse_depth::network);
  EXPECT_EQ(depth_of(field::ip_proto), net::parse_depth::network);
  EXPECT_EQ(depth_of(field::arp_op), net::parse_depth::network);
  EXPECT_EQ(depth_of(field::tcp_dst), net::parse_depth::transport);
  EXPECT_EQ(depth_of(field::nd_target), net::parse_depth::transport);
  // A shallower parse sees the field all the same.
  const packet one = with_state(test::ethernet(0x0800) + test::ipv4(6, test::tcp(1, 2)));
  received got(one);
  for (std::size_t i = 0; i < n_fields; ++i) {
    const auto which = static_cast<field>(i);
    const std::optional<value128> deep = read_field(got.state, which);
    const net::layers all = got.state.layers;
    got.state.layers = net::parse(got.state.buffer, depth_of(which));
    const std::optional<value128> shallow = read_field(got.state, which);
    EXPECT_TRUE(deep == shallow) << info(which).name;
    got.state.layers = all;
  }
}

}  // namespace
}  // namespace coua::pipeline
