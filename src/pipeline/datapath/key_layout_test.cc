// SPDX-License-Identifier: Apache-2.0
//
// Keys against the oracle: a rule's words hold for a packet's key exactly when the match holds for
// the fields that the oracle sees.
#include "pipeline/datapath/key_layout.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

#include "pipeline/datapath/test_frames.h"
#include "pipeline/datapath/test_received.h"
#include "pipeline/model/test_model.h"
#include "pipeline/oracle/parse.h"

namespace coua::pipeline {
namespace {

using test::ipv4;
using test::where;

constexpr unsigned exact_words = 16;  // of the key of a flow table

/// Of a list that is written here.
key_layout layout_of(const std::vector<match>& matches) { return key_layout::of(matches); }

bool holds(const key_layout& layout, const match& what, const packet_state& state) {
  if (!layout.may_match(state.layers)) return false;
  std::uint64_t key[key_words::max];
  layout.take(&state, nullptr, 1, key, key_words::max);
  const auto ways = layout.words_of(what);
  COUA_CHECK(ways.has_value());
  for (const key_words& each : *ways) {
    bool all = true;
    for (unsigned i = 0; i < layout.n_words(); ++i) {
      all = all && (key[i] & each.mask[i]) == each.value[i];
    }
    if (all) return true;
  }
  return false;
}

/// A match for each field, which takes it as a whole.
std::vector<match> of_all_fields() {
  const auto proto = [](std::uint8_t number) { return exact(field::ip_proto, number); };
  const match_term arp = exact(field::eth_type, 0x0806), icmpv6 = proto(58);
  const match_term solicitation = exact(field::icmpv6_type, 135);
  const match_term advertisement = exact(field::icmpv6_type, 136);
  std::vector<match> all;
  for (std::size_t i = 0; i < n_fields; ++i) {
    const auto which = static_cast<field>(i);
    const match_term one = exact(which, 0);
    switch (info(which).needs) {
      case prerequisite::none: all.push_back(where({one})); break;
      case prerequisite::in_port: all.push_back(where({exact(field::in_port, 1), one})); break;
      case prerequisite::vlan: all.push_back(where({test::tagged(), one})); break;
      case prerequisite::mpls: all.push_back(where({test::mpls(), one})); break;
      case prerequisite::ip:
        all.push_back(where({ipv4(), one}));
        all.push_back(where({test::ipv6(), one}));
        break;
      case prerequisite::ipv4: all.push_back(where({ipv4(), one})); break;
      case prerequisite::ipv6: all.push_back(where({test::ipv6(), one})); break;
      case prerequisite::arp: all.push_back(where({arp, one})); break;
      case prerequisite::tcp: all.push_back(where({ipv4(), proto(6), one})); break;
      case prerequisite::udp: all.push_back(where({test::ipv6(), proto(17), one})); break;
      case prerequisite::sctp: all.push_back(where({ipv4(), proto(132), one})); break;
      case prerequisite::icmpv4: all.push_back(where({ipv4(), proto(1), one})); break;
      case prerequisite::icmpv6: all.push_back(where({test::ipv6(), icmpv6, one})); break;
      case prerequisite::nd:
      case prerequisite::nd_sol:
        all.push_back(where({test::ipv6(), icmpv6, solicitation, one}));
        if (info(which).needs == prerequisite::nd_sol) break;
        [[fallthrough]];
      case prerequisite::nd_adv:
        all.push_back(where({test::ipv6(), icmpv6, advertisement, one}));
        break;
    }
  }
  return all;
}

// A table may have rules of any kind beside each other.
TEST(key_layout, there_is_room_for_all_fields) {
  const std::vector<match> all = of_all_fields();
  ASSERT_GE(all.size(), n_fields);
  for (const auto width : {key_layout::width::bits, key_layout::width::fields}) {
    const key_layout layout = key_layout::of(all, width);
    EXPECT_GT(layout.n_words(), exact_words);
    for (const match& each : all) EXPECT_TRUE(layout.words_of(each).has_value());
  }
}

TEST(key_layout, fields_that_stand_together_share_a_word) {
  const auto n_words = [](std::vector<match_term> terms) {
    return layout_of({where(std::move(terms))}).n_words();
  };
  EXPECT_EQ(n_words({}), 0U);
  EXPECT_EQ(n_words({exact(field::eth_dst, 1)}), 1U);
  EXPECT_EQ(n_words({exact(field::eth_dst, 1), exact(field::eth_src, 2)}), 2U);
  EXPECT_EQ(n_words({exact(field::in_port, 1)}), 1U);
  EXPECT_EQ(n_words({exact(field::in_port, 1), test::tagged(), ipv4()}), 1U);
  EXPECT_EQ(
      n_words({ipv4(), exact(field::ip_proto, 6), exact(field::ipv4_src, 1),
               exact(field::ipv4_dst, 2), exact(field::tcp_src, 3), exact(field::tcp_dst, 4)}),
      2U);
}

// Nobody compares a type or a protocol when the header is there that only they have.
TEST(key_layout, what_layers_say_takes_no_word) {
  const auto n_words = [](std::vector<match_term> terms) {
    return layout_of({where(std::move(terms))}).n_words();
  };
  const match_term tcp = exact(field::ip_proto, 6);
  EXPECT_EQ(n_words({ipv4(), exact(field::ipv4_dst, 1)}), 1U);
  EXPECT_EQ(n_words({ipv4(), tcp, exact(field::ipv4_dst, 1), exact(field::tcp_dst, 80)}), 2U);
  EXPECT_EQ(n_words({test::ipv6(), exact(field::ipv6_src, 1)}), 2U);
  EXPECT_EQ(n_words({exact(field::eth_type, 0x0806), exact(field::arp_op, 1)}), 1U);
  // A broken header has the type as well, and the ports do not say of which version it is.
  EXPECT_EQ(n_words({ipv4()}), 1U);
  EXPECT_EQ(n_words({ipv4(), tcp}), 1U);
  EXPECT_EQ(n_words({ipv4(), tcp, exact(field::tcp_dst, 80)}), 2U);
  EXPECT_EQ(n_words({test::mpls(), exact(field::mpls_label, 1)}), 2U);
  // So rules of one mask and two versions have one layout.
  const match four = where({ipv4(), tcp, exact(field::tcp_dst, 80)});
  const match six = where({test::ipv6(), tcp, exact(field::tcp_dst, 80)});
  EXPECT_EQ(layout_of({four}), layout_of({six}));
  EXPECT_NE(layout_of({four}).words_of(four)->at(0).value[0],
            layout_of({six}).words_of(six)->at(0).value[0]);
}

TEST(key_layout, shares_with_a_match_the_bits_that_both_have) {
  const match_term tcp = exact(field::ip_proto, 6), to = exact(field::ipv4_dst, 1);
  const key_layout whole = layout_of({where({ipv4(), tcp, to, exact(field::tcp_dst, 80)})});
  const match some = where({ipv4(), tcp, exact(field::tcp_dst, 443)});
  EXPECT_FALSE(whole.terms_of(some));  // the type, which layers say to the other one
  const key_words shared = whole.shared_with(some);
  EXPECT_EQ(shared.mask[0], 0U);
  EXPECT_EQ(shared.mask[1], whole.windows()[1].mask);
  EXPECT_NE(shared.value[1], 0U);
}

TEST(key_layout, says_what_all_rules_need) {
  const key_layout one = layout_of(
      {where({ipv4(), exact(field::ipv4_dst, 1)}), where({ipv4(), exact(field::ipv4_dst, 2)})});
  EXPECT_FALSE(one.has_layers());
  net::layers there;
  there.present = net::layer::ethernet | net::layer::eth_type;
  EXPECT_FALSE(one.may_match(there));
  there.present |= net::layer::ipv4;
  EXPECT_TRUE(one.may_match(there));
  EXPECT_TRUE(layout_of({where({ipv4(), exact(field::ipv4_dst, 1)}), match()}).has_layers());
  // Tagged and untagged packets are told apart by the field itself.
  EXPECT_FALSE(layout_of({where({exact(field::vlan_vid, 0)}),
                          where({exact(field::vlan_vid, vlan_present | 7)})})
                   .has_layers());
}

TEST(key_layout, knows_no_other_bits_than_those_it_was_made_for) {
  const key_layout one = layout_of({where({exact(field::eth_dst, 1)})});
  EXPECT_TRUE(one.words_of(where({exact(field::eth_dst, 99)})));
  EXPECT_FALSE(one.words_of(where({exact(field::eth_src, 1)})));
  EXPECT_FALSE(one.words_of(match()));  // needs less
}

/// A match on some of what the packet has, with its values, some of them wrong; prerequisites
/// included.
match random_match(const parsed& packet, std::mt19937_64& random) {
  std::vector<match_term> terms;
  for (std::size_t i = 0; i < n_fields; ++i) {
    const auto which = static_cast<field>(i);
    if (!packet.has(which)) continue;
    const bool decides = which == field::eth_type || which == field::ip_proto ||
                         which == field::icmpv6_type || which == field::vlan_vid;
    if (!decides && random() % 8 != 0) continue;
    value128 mask = full_mask(which);
    if (info(which).maskable && !(decides && which != field::vlan_vid) && random() % 2 == 0) {
      mask &= value128{random()} << 64 | random();
    }
    value128 value = packet.get(which) & mask;
    if (random() % 16 == 0) value ^= mask & (value128{random()} << 64 | random());
    terms.push_back({which, value, mask});
  }
  // What does not go together is left out, one term after the other.
  for (;;) {
    of_result<match> made = match::make(terms);
    if (made) return *made;
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(random() % terms.size()));
  }
}

TEST(key_layout, of_fewer_matches_has_no_more_words) {
  std::mt19937_64 random(9);
  const std::vector<test::bytes>& all = test::frames();
  std::size_t n_fewer = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<match> matches;
    for (std::uint64_t n = 2 + random() % 4; n > 0; --n) {
      matches.push_back(random_match(parse(test::with_state(all[random() % all.size()])), random));
    }
    const unsigned n_of_all = key_layout::of(matches).n_words();
    const match gone = matches.back();
    matches.pop_back();
    const unsigned n_of_fewer = key_layout::of(matches).n_words();
    ASSERT_LE(n_of_fewer, n_of_all) << gone.to_string();
    n_fewer += n_of_fewer < n_of_all ? 1 : 0;
  }
  EXPECT_GT(n_fewer, 1000U);
}

/// Whether the recipe makes the words that the layout has of the match.
void expect_same_words(const key_layout& layout, const key_recipe& recipe, const match& what) {
  ASSERT_TRUE(recipe.takes(what)) << what.to_string();
  const auto ways = layout.words_of(what);
  ASSERT_TRUE(ways && ways->size() == 1) << what.to_string();
  std::uint64_t made[key_words::max];
  recipe.make(what, made);
  for (unsigned i = 0; i < layout.n_words(); ++i) {
    EXPECT_EQ(made[i], (*ways)[0].value[i]) << what.to_string() << ", word " << i;
  }
}

TEST(key_layout, a_recipe_makes_the_words_of_all_matches_like_it) {
  std::mt19937_64 random(6);
  const std::vector<test::bytes>& all = test::frames();
  unsigned n_other_values = 0;
  for (int round = 0; round < 3000; ++round) {
    const packet from = test::with_state(all[random() % all.size()]);
    const match one = random_match(parse(from), random);
    const key_layout layout = key_layout::of({&one, 1});
    const auto recipe = layout.recipe_of(one);
    ASSERT_TRUE(recipe) << one.to_string();
    expect_same_words(layout, *recipe, one);
    // The same fields and masks with other values, which may put fields elsewhere.
    std::vector<match_term> terms = one.terms();
    for (match_term& term : terms) {
      if (random() % 2 == 0) term.value = (value128{random()} << 64 | random()) & term.mask;
    }
    const auto other = match::make(terms);
    if (!other || *other == one) continue;
    if (key_layout::of({&*other, 1}) != layout) {
      EXPECT_FALSE(recipe->takes(*other)) << one.to_string() << ", " << other->to_string();
    } else if (recipe->takes(*other)) {
      ++n_other_values;
      expect_same_words(layout, *recipe, *other);
    }
  }
  EXPECT_GT(n_other_values, 500U);
}

/// Keys that differ differ when they are packed, and packets' are packed as rules' are.
TEST(key_layout, packed_keys_have_all_bits) {
  std::mt19937_64 random(8);
  const std::vector<test::bytes>& all = test::frames();
  unsigned n_shorter = 0;
  for (int round = 0; round < 3000; ++round) {
    const packet from = test::with_state(all[random() % all.size()]);
    const match one = random_match(parse(from), random);
    const key_layout layout = key_layout::of({&one, 1});
    const test::received got(from);
    if (!layout.may_match(got.state.layers)) continue;
    const key_packing packing(layout);
    n_shorter += packing.n_words() < layout.n_words();
    int n_bits = 0, n_packed_bits = 0;
    for (const key_window& each : layout.windows()) n_bits += std::popcount(each.mask);
    for (unsigned w = 0; w < packing.n_words(); ++w)
      n_packed_bits += std::popcount(packing.mask(w));
    ASSERT_EQ(n_bits, n_packed_bits) << one.to_string();
    constexpr std::uint8_t slots[] = {0};
    std::uint64_t words[key_words::max], expected[key_words::max];
    layout.take(&got.state, slots, 1, words, key_words::max);
    packing.pack(words, expected);
    for (const std::uint8_t* at : {slots, static_cast<const std::uint8_t*>(nullptr)}) {
      std::uint64_t packed[key_words::max];
      std::fill(std::begin(packed), std::end(packed), ~std::uint64_t{0});
      layout.take_packed(&got.state, at, 1, packing, packed, key_words::max);
      ASSERT_TRUE(std::equal(packed, packed + packing.n_words(), expected)) << one.to_string();
      ASSERT_EQ(std::count(packed + packing.n_words(), std::end(packed), 0U),
                key_words::max - packing.n_words());
    }
    int n_in_words = 0, n_in_packed = 0;
    for (unsigned w = 0; w < layout.n_words(); ++w) n_in_words += std::popcount(words[w]);
    for (unsigned w = 0; w < packing.n_words(); ++w) n_in_packed += std::popcount(expected[w]);
    ASSERT_EQ(n_in_words, n_in_packed);
  }
  EXPECT_GT(n_shorter, 500U);
  // A port, two addresses and a port.
  const match four =
      where({exact(field::in_port, 1), ipv4(), exact(field::ip_proto, 6), exact(field::ipv4_src, 1),
             exact(field::ipv4_dst, 2), exact(field::tcp_dst, 80)});
  EXPECT_EQ(layout_of({four}).n_words(), 3U);
  EXPECT_EQ(key_packing(layout_of({four})).n_words(), 2U);
}

/// Words up to the next key are cleared, and no others.
TEST(key_layout, packed_keys_stand_apart) {
  const match some = where({ipv4(), exact(field::ip_proto, 6), exact(field::ipv4_dst, 2),
                            exact(field::tcp_dst, 80), exact(field::metadata, 1)});
  const key_layout layout = layout_of({some});
  const key_packing packing(layout);
  ASSERT_EQ(packing.n_words(), 2U);
  unsigned n_taken = 0;
  for (const test::bytes& each : test::frames()) {
    const test::received got(test::with_state(each));
    if (!layout.may_match(got.state.layers)) continue;
    ++n_taken;
    constexpr std::uint8_t slots[] = {0, 0, 0};
    for (std::size_t stride = 2; stride <= 5; ++stride) {
      std::uint64_t packed[3 * 5 + 1];
      std::fill(std::begin(packed), std::end(packed), ~std::uint64_t{0});
      layout.take_packed(&got.state, slots, 3, packing, packed, stride);
      for (std::size_t w = 0; w < 3 * stride; ++w)
        EXPECT_EQ(packed[w], w % stride < 2 ? packed[w % stride] : 0) << stride;
      EXPECT_NE(packed[0], ~std::uint64_t{0});
      EXPECT_EQ(packed[3 * stride], ~std::uint64_t{0});
    }
  }
  EXPECT_GT(n_taken, 0U);
}

TEST(key_layout, a_recipe_takes_nothing_else) {
  const match one = where({ipv4(), exact(field::ipv4_dst, 1)});
  const auto recipe = *layout_of({one}).recipe_of(one);
  EXPECT_FALSE(recipe.takes(where({ipv4()})));
  EXPECT_FALSE(recipe.takes(where({ipv4(), {field::ipv4_dst, 2, 0xff}})));
  EXPECT_FALSE(recipe.takes(where({ipv4(), exact(field::ipv4_src, 1)})));
  EXPECT_FALSE(recipe.takes(where({ipv4(), exact(field::ipv4_src, 1), exact(field::ipv4_dst, 1)})));
  // The class of traffic stands elsewhere in IPv6.
  const match dscp = where({ipv4(), exact(field::ip_dscp, 1)});
  EXPECT_FALSE(
      layout_of({dscp}).recipe_of(dscp)->takes(where({test::ipv6(), exact(field::ip_dscp, 1)})));
  // There is none for a layout that has more.
  EXPECT_FALSE(layout_of({one, match()}).recipe_of(one));
}

TEST(key_layout, words_hold_when_the_match_holds) {
  std::mt19937_64 random(7);
  const std::vector<test::bytes>& all = test::frames();
  std::size_t n_held = 0, n_asked = 0, n_with_layers = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<packet> packets;
    for (int i = 0; i < 6; ++i) {
      const bool whole = random() % 2 == 0;
      packets.push_back(
          test::with_state(whole ? all[random() % all.size()] : test::damaged_frame(all, random)));
    }
    std::vector<match> matches;
    for (std::uint64_t n = 1 + random() % 3; n > 0; --n) {
      matches.push_back(random_match(parse(packets[random() % packets.size()]), random));
    }
    const key_layout layout = key_layout::of(matches);
    n_with_layers += layout.has_layers();
    for (const packet& each : packets) {
      const parsed fields = parse(each);
      const test::received got(each);
      for (const match& what : matches) {
        const bool expected = what.matches(fields.values);
        ASSERT_EQ(holds(layout, what, got.state), expected) << what.to_string() << "\n"
                                                            << ::testing::PrintToString(each.bytes);
        n_held += expected;
        ++n_asked;
      }
    }
  }
  EXPECT_GT(n_held, n_asked / 10);
  EXPECT_GT(n_with_layers, 500U);
}

}  // namespace
}  // namespace coua::pipeline
