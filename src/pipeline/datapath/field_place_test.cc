// SPDX-License-Identifier: Apache-2.0
//
// Every field that the datapath sees, against the oracle, which shares neither parser nor places
// with it.
#include "pipeline/datapath/field_place.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "pipeline/datapath/test_frames.h"
#include "pipeline/datapath/test_received.h"
#include "pipeline/oracle/parse.h"
#include "pipeline/oracle/test_packet.h"

namespace coua::pipeline {
namespace {

using test::bytes;
using test::frames;
using test::received;
using test::with_state;
using test::operator+;

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
  const std::vector<bytes>& all = frames();
  for (int i = 0; i < 40'000; ++i) {
    compare(with_state(test::damaged_frame(all, random)));
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
