// SPDX-License-Identifier: Apache-2.0
#include "net/ipv6_extensions.h"

#include <gtest/gtest.h>

#include "net/layers.h"
#include "net/test_packets.h"

namespace coua::net {
namespace {

using namespace test;

ipv6_chain follow(const bytes& chain, unsigned first) {
  const guarded_frame memory(chain);
  return follow_ipv6_extensions(memory.at.bytes, 0, chain.size(), static_cast<std::uint8_t>(first));
}

/// exthdr_* of headers of 8 bytes in this order, before TCP.
std::uint16_t seen(const std::vector<unsigned>& order) {
  bytes chain;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const unsigned next = i + 1 < order.size() ? order[i + 1] : 6;
    chain = chain + (order[i] == 44   ? fragment(next, 0)
                     : order[i] == 51 ? auth(next, 0)
                                      : extension(next));
  }
  return follow(chain + zeros(20), order[0]).seen;
}

TEST(ipv6_extensions, order_of_rfc_8200) {
  constexpr std::uint16_t all =
      exthdr_hop | exthdr_dest | exthdr_router | exthdr_frag | exthdr_auth;
  EXPECT_EQ(seen({0, 60, 43, 44, 51, 60}), all);
  EXPECT_EQ(seen({0, 60}), exthdr_hop | exthdr_dest);
  EXPECT_EQ(seen({60, 60}), exthdr_dest);
  EXPECT_EQ(seen({43, 60}), exthdr_router | exthdr_dest);
  EXPECT_EQ(seen({60, 0}), exthdr_hop | exthdr_dest | exthdr_unseq);
  EXPECT_EQ(seen({44, 43}), exthdr_frag | exthdr_router | exthdr_unseq);
  EXPECT_EQ(seen({44, 60, 51}), exthdr_frag | exthdr_dest | exthdr_auth | exthdr_unseq);
  EXPECT_EQ(seen({60, 60, 43}), exthdr_dest | exthdr_router | exthdr_unseq);
  EXPECT_EQ(seen({0, 0}), exthdr_hop | exthdr_unrep);
  EXPECT_EQ(seen({44, 51, 44}), exthdr_frag | exthdr_auth | exthdr_unrep);
  EXPECT_EQ(seen({60, 60, 60}), exthdr_dest | exthdr_unrep);
}

TEST(ipv6_extensions, ends_at_esp_and_at_no_next) {
  const ipv6_chain esp = follow(extension(50) + zeros(16), 0);
  EXPECT_EQ(esp.seen, exthdr_hop | exthdr_esp);
  EXPECT_EQ(esp.next, 50);
  EXPECT_EQ(esp.offset, 8U);
  const ipv6_chain none = follow(extension(59), 60);
  EXPECT_EQ(none.seen, exthdr_dest | exthdr_no_next);
  EXPECT_EQ(none.next, 59);
  EXPECT_EQ(follow(extension(50), 60).seen, exthdr_dest | exthdr_esp);
  EXPECT_EQ(follow(auth(60, 0) + extension(50), 51).seen,
            exthdr_auth | exthdr_dest | exthdr_esp | exthdr_unseq);
}

TEST(ipv6_extensions, a_chain_that_is_cut_off_is_not_known) {
  const bytes chain =
      extension(43) + routing(51, 1) + auth(60, 2) + extension(44, 1) + fragment(17, 1);
  for (std::size_t length = 0; length < chain.size(); ++length) {
    const ipv6_chain got =
        follow(bytes(chain.begin(), chain.begin() + static_cast<long>(length)), 0);
    EXPECT_FALSE(got.known || got.routed || got.fragment) << length;
    EXPECT_EQ(got.seen | got.next | got.offset, 0U) << length;
  }
  const ipv6_chain whole = follow(chain, 0);
  EXPECT_TRUE(whole.known && whole.routed && whole.fragment && !whole.later_fragment);
  EXPECT_EQ(whole.next, 17);
  EXPECT_EQ(whole.offset, chain.size());
}

TEST(ipv6_extensions, what_follows_a_later_fragment_is_only_named) {
  const ipv6_chain got = follow(fragment(50, 8), 44);
  EXPECT_TRUE(got.known && got.fragment && got.later_fragment);
  EXPECT_EQ(got.next, 50);
  EXPECT_EQ(got.seen, exthdr_frag);
  EXPECT_EQ(got.offset, 0U);
}

TEST(ipv6_extensions, long_chains_are_left) {
  bytes chain;
  for (unsigned n = 1; n < max_ipv6_extensions; ++n) chain = chain + extension(60);
  const ipv6_chain most = follow(chain + extension(6), 60);
  EXPECT_TRUE(most.known);
  EXPECT_EQ(most.next, 6);
  EXPECT_EQ(most.offset, 8 * max_ipv6_extensions);
  EXPECT_FALSE(follow(chain + extension(60) + extension(6), 60).known);
}

TEST(ipv6_extensions, routing_without_segments_left_is_at_its_end) {
  EXPECT_TRUE(follow(routing(6, 1), 43).routed);
  EXPECT_FALSE(follow(routing(6, 0), 43).routed);
}

}  // namespace
}  // namespace coua::net
