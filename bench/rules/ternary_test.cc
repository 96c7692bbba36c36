// SPDX-License-Identifier: Apache-2.0
//
// Against a model: the rule itself.
#include "bench/rules/ternary.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>

#include "bench/rules/five_tuple_set.h"

namespace coua::bench {
namespace {

using key_bytes = std::array<std::uint8_t, most_key_bytes>;

template <typename Key>
std::size_t matching(const ternary_set& set, const Key& key) {
  key_bytes bytes = {};
  put_key(key, bytes.data());
  return static_cast<std::size_t>(
      std::count_if(set.entries.begin(), set.entries.end(), [&](const ternary_entry& each) {
        bool all = true;
        for (std::size_t i = 0; i < set.key_bytes; ++i) {
          all = all && (bytes[i] & each.mask[i]) == each.key[i];
        }
        return all;
      }));
}

ip_prefix arbitrary_prefix() {
  ip_prefix out;
  out.bits = *rc::gen::inRange(0U, 33U);
  out.address = *rc::gen::arbitrary<std::uint32_t>() & out.mask();
  return out;
}

port_range arbitrary_range() {
  const auto one = *rc::gen::arbitrary<std::uint16_t>(),
             other = *rc::gen::arbitrary<std::uint16_t>();
  switch (*rc::gen::inRange(0, 4)) {
    case 0: return {};
    case 1: return {one, one};
    case 2: return {1024, 65535};
    default: return {std::min(one, other), std::max(one, other)};
  }
}

/// At an end of the range, just outside, or anywhere.
std::uint16_t port_near(const port_range& range) {
  return *rc::gen::element(range.low, range.high, static_cast<std::uint16_t>(range.low - 1),
                           static_cast<std::uint16_t>(range.high + 1),
                           *rc::gen::arbitrary<std::uint16_t>());
}

/// In the prefix, with one bit of all changed, or not.
std::uint32_t address_near(const ip_prefix& prefix) {
  const std::uint32_t inside =
      prefix.address | (*rc::gen::arbitrary<std::uint32_t>() & ~prefix.mask());
  return *rc::gen::element(inside, inside, inside ^ std::uint32_t{1} << *rc::gen::inRange(0, 32));
}

TEST(ternary, a_five_tuple_matches_one_entry_if_it_matches_the_rule_and_else_none) {
  int matches = 0;
  EXPECT_TRUE(rc::check([&] {
    five_tuple_set set;
    five_tuple_rule& rule = set.rules.emplace_back();
    rule.source = arbitrary_prefix();
    rule.destination = arbitrary_prefix();
    rule.source_port = arbitrary_range();
    rule.destination_port = arbitrary_range();
    const auto protocol = *rc::gen::inRange(0, 512);
    if (protocol < 256) rule.protocol = static_cast<std::uint8_t>(protocol);
    rule.priority = 17;
    rule.number = 4;
    const ternary_set entries = expand(set);
    for (int i = 0; i < 50; ++i) {
      const five_tuple key = {address_near(rule.source), address_near(rule.destination),
                              port_near(rule.source_port), port_near(rule.destination_port),
                              static_cast<std::uint8_t>(protocol & 0xff)};
      RC_ASSERT(matching(entries, key) == (rule.matches(key) ? 1U : 0U));
      matches += rule.matches(key) ? 1 : 0;
    }
    for (const ternary_entry& each : entries.entries) {
      RC_ASSERT(each.priority == 17U && each.rule == 4U);
      for (std::size_t i = 0; i < each.key.size(); ++i)
        RC_ASSERT((each.key[i] & ~each.mask[i]) == 0);
    }
  }));
  EXPECT_GT(matches, 100);  // or the test asked nothing
}

TEST(ternary, a_wide_packet_matches_the_entry_if_it_matches_the_rule) {
  int matches = 0;
  EXPECT_TRUE(rc::check([&] {
    wide_set set;
    wide_rule& rule = set.rules.emplace_back();
    for (std::size_t i = 0; i < n_wide_fields; ++i) {
      const unsigned width = wide_layout::fields[i].bits;
      const unsigned bits = *rc::gen::inRange(0U, width + 1);
      rule.fields[i] = {*rc::gen::arbitrary<std::uint64_t>() & prefix_mask(width, bits), bits};
    }
    const ternary_set entries = expand(set);
    RC_ASSERT(entries.entries.size() == 1U);
    for (int n = 0; n < 50; ++n) {
      wide_tuple key;
      for (std::size_t i = 0; i < n_wide_fields; ++i) {
        const unsigned width = wide_layout::fields[i].bits;
        key[i] = rule.fields[i].value |
                 (*rc::gen::arbitrary<std::uint64_t>() & prefix_mask(width, width) &
                  ~prefix_mask(width, rule.fields[i].bits));
      }
      if (n % 2 == 1) {
        const std::size_t i = *rc::gen::inRange<std::size_t>(0, n_wide_fields);
        key[i] ^= std::uint64_t{1} << *rc::gen::inRange(0U, wide_layout::fields[i].bits);
      }
      RC_ASSERT(matching(entries, key) == (rule.matches(key) ? 1U : 0U));
      matches += rule.matches(key) ? 1 : 0;
    }
  }));
  EXPECT_GT(matches, 100);
}

TEST(ternary, keys_are_read_back) {
  EXPECT_TRUE(rc::check([](std::uint32_t source, std::uint32_t destination, std::uint16_t from,
                           std::uint16_t to, std::uint8_t protocol) {
    const five_tuple key = {source, destination, from, to, protocol};
    key_bytes bytes = {};
    put_key(key, bytes.data());
    five_tuple again;
    get_key(bytes.data(), again);
    RC_ASSERT(again == key);
  }));
  wide_tuple key = {}, again = {};
  for (std::size_t i = 0; i < n_wide_fields; ++i) {
    key[i] = 0x123456789abc & prefix_mask(wide_layout::fields[i].bits, wide_layout::fields[i].bits);
  }
  key_bytes bytes = {};
  put_key(key, bytes.data());
  get_key(bytes.data(), again);
  EXPECT_EQ(again, key);
}

TEST(ternary, fields_lie_in_network_order_in_their_layer) {
  key_bytes bytes = {};
  put_key(five_tuple{0x01020304, 0x05060708, 0x0a0b, 0x0c0d, 9}, bytes.data());
  const std::array<std::uint8_t, 16> expected = {1, 2, 3, 4, 5,  6,  7,  8,
                                                 9, 0, 0, 0, 10, 11, 12, 13};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), bytes.begin()));

  // No two fields share a byte, and each is whole in the layer that it belongs to.
  std::array<int, wide_layout::bytes> users = {};
  const auto within = [](wide_field field, std::size_t begin, std::size_t end) {
    const field_place& place = place_of(field);
    return begin <= place.offset && place.offset + place.bytes <= end &&
           place.bits <= place.bytes * 8;
  };
  for (const field_place& place : wide_layout::fields) {
    for (std::size_t i = 0; i < place.bytes; ++i) ++users[place.offset + i];
  }
  EXPECT_LE(*std::max_element(users.begin(), users.end()), 1);
  const key_layers& layers = wide_layout::layers;
  EXPECT_TRUE(within(wide_field::in_port, 0, layers.metadata));
  for (const auto field :
       {wide_field::eth_dst, wide_field::eth_src, wide_field::eth_type, wide_field::vlan}) {
    EXPECT_TRUE(within(field, layers.metadata, layers.l2));
  }
  for (const auto field :
       {wide_field::ip_src, wide_field::ip_dst, wide_field::ip_proto, wide_field::dscp}) {
    EXPECT_TRUE(within(field, layers.l2, layers.l3));
  }
  for (const auto field : {wide_field::tp_src, wide_field::tp_dst}) {
    EXPECT_TRUE(within(field, layers.l3, layers.l4));
  }
  EXPECT_EQ(layers.l4, wide_layout::bytes);
}

TEST(ternary, counts_masks_and_not_entries) {
  five_tuple_set set;
  five_tuple_rule rule;
  rule.destination_port = {1, 7};  // 1, 2-3, 4-7: three masks
  set.rules.push_back(rule);
  rule.destination_port = {9, 15};  // the same masks
  set.rules.push_back(rule);
  EXPECT_EQ(expand(set).entries.size(), 6u);
  EXPECT_EQ(distinct_masks(expand(set)), 3u);
  rule.protocol = 6;
  set.rules.push_back(rule);
  EXPECT_EQ(distinct_masks(expand(set)), 6u);
  rule.source_port = {1, 3};  // two masks for each of the three
  set.rules.push_back(rule);
  EXPECT_EQ(expand(set).entries.size(), 15u);
  EXPECT_EQ(distinct_masks(expand(set)), 12u);
}

TEST(ternary, entries_of_a_set_are_the_products_of_both_covers) {
  const result<five_tuple_set> set = make_five_tuple_set(fw_figures(), {2000, 1, true});
  ASSERT_TRUE(set);
  const ternary_set entries = expand(*set);
  std::size_t hi_hi = 0;
  for (const five_tuple_rule& rule : set->rules) {
    const port_range hi = {1024, 65535};
    if (rule.source_port != hi || rule.destination_port != hi) continue;
    ++hi_hi;
    EXPECT_EQ(std::count_if(entries.entries.begin(), entries.entries.end(),
                            [&](const ternary_entry& each) { return each.rule == rule.number; }),
              36);
  }
  EXPECT_GT(hi_hi, 10u);
}

}  // namespace
}  // namespace coua::bench
