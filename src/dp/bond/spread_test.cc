// SPDX-License-Identifier: Apache-2.0
#include "dp/bond/spread.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace coua::dp {
namespace {

using bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t seed = 0x0123'4567'89AB'CDEFu;

bytes ethernet(unsigned station, unsigned type, int tag = -1) {
  bytes frame(12, 2);
  frame[4] = static_cast<std::uint8_t>(station >> 8);
  frame[5] = static_cast<std::uint8_t>(station);
  if (tag >= 0)
    frame.insert(frame.end(),
                 {0x81, 0, static_cast<std::uint8_t>(tag >> 8), static_cast<std::uint8_t>(tag)});
  frame.insert(frame.end(),
               {static_cast<std::uint8_t>(type >> 8), static_cast<std::uint8_t>(type)});
  return frame;
}

bytes ipv4(unsigned station, unsigned address, unsigned port, std::uint8_t protocol = 17,
           unsigned fragment = 0, int tag = -1) {
  bytes frame = ethernet(station, 0x0800, tag);
  bytes header(20, 0);
  header[0] = 0x45;
  header[6] = static_cast<std::uint8_t>(fragment >> 8);
  header[7] = static_cast<std::uint8_t>(fragment);
  header[9] = protocol;
  header[15] = static_cast<std::uint8_t>(address);
  frame.insert(frame.end(), header.begin(), header.end());
  frame.insert(frame.end(), {static_cast<std::uint8_t>(port >> 8), static_cast<std::uint8_t>(port),
                             0, 80, 0, 0, 0, 0});
  return frame;
}

bytes ipv6(unsigned station, unsigned address, unsigned port, std::uint8_t next = 6) {
  bytes frame = ethernet(station, 0x86DD);
  bytes header(40, 0);
  header[0] = 0x60;
  header[6] = next;
  header[23] = static_cast<std::uint8_t>(address);
  frame.insert(frame.end(), header.begin(), header.end());
  frame.insert(frame.end(),
               {static_cast<std::uint8_t>(port >> 8), static_cast<std::uint8_t>(port), 0, 80});
  return frame;
}

unsigned bucket(const bytes& frame, bond_hash by) {
  // Of exact size, so that a sanitizer sees a byte too many.
  return bucket_of(frame.data(), static_cast<unsigned>(frame.size()), by, seed);
}

/// In how many buckets 64 frames end.
template <typename Make>
std::size_t buckets(bond_hash by, const Make& make) {
  std::set<unsigned> seen;
  for (unsigned i = 0; i < 64; ++i) seen.insert(bucket(make(i), by));
  return seen.size();
}

TEST(bond_spread, what_makes_a_flow) {
  const auto by_station = [](unsigned i) { return ipv4(i, 1, 1); };
  const auto by_address = [](unsigned i) { return ipv4(1, i, 1); };
  const auto by_port = [](unsigned i) { return ipv4(1, 1, i); };
  EXPECT_GT(buckets(bond_hash::l2, by_station), 40u);
  EXPECT_EQ(buckets(bond_hash::l2, by_address), 1u);
  EXPECT_EQ(buckets(bond_hash::l2, by_port), 1u);
  EXPECT_GT(buckets(bond_hash::l23, by_station), 40u);
  EXPECT_GT(buckets(bond_hash::l23, by_address), 40u);
  EXPECT_EQ(buckets(bond_hash::l23, by_port), 1u);
  EXPECT_EQ(buckets(bond_hash::l34, by_station), 1u);
  EXPECT_GT(buckets(bond_hash::l34, by_address), 40u);
  EXPECT_GT(buckets(bond_hash::l34, by_port), 40u);
}

TEST(bond_spread, ipv6_and_tags) {
  EXPECT_GT(buckets(bond_hash::l34, [](unsigned i) { return ipv6(1, i, 1); }), 40u);
  EXPECT_GT(buckets(bond_hash::l34, [](unsigned i) { return ipv6(1, 1, i); }), 40u);
  EXPECT_EQ(buckets(bond_hash::l23, [](unsigned i) { return ipv6(1, 1, i); }), 1u);
  EXPECT_EQ(buckets(bond_hash::l34, [](unsigned i) { return ipv6(1, 1, i, 44); }), 1u)
      << "fragment";
  EXPECT_GT(buckets(bond_hash::l34, [](unsigned i) { return ipv4(1, 1, i, 6, 0, 10); }), 40u);
  // The VLAN is part of the flow where no IP address is.
  EXPECT_GT(
      buckets(bond_hash::l2, [](unsigned i) { return ethernet(1, 0x88B5, static_cast<int>(i)); }),
      40u);
}

TEST(bond_spread, fragments_and_protocols_without_ports_are_one_flow) {
  for (const unsigned fragment : {0x2000u, 0x0010u, 0x2010u})
    EXPECT_EQ(bucket(ipv4(1, 1, 7, 17, fragment), bond_hash::l34),
              bucket(ipv4(1, 1, 8, 17, 0x2000), bond_hash::l34));
  EXPECT_EQ(buckets(bond_hash::l34, [](unsigned i) { return ipv4(1, 1, i, 1); }), 1u) << "ICMP";
}

TEST(bond_spread, other_frames_go_by_their_addresses) {
  for (const bond_hash by : {bond_hash::l2, bond_hash::l23, bond_hash::l34})
    EXPECT_GT(buckets(by, [](unsigned i) { return ethernet(i, 0x0806); }), 40u);
}

TEST(bond_spread, short_frames_are_read_no_further) {
  for (const bytes& whole : {ipv4(1, 1, 1), ipv4(1, 1, 1, 6, 0, 10), ipv6(1, 1, 1)})
    for (std::size_t n = 0; n <= whole.size(); ++n)
      for (const bond_hash by : {bond_hash::l2, bond_hash::l23, bond_hash::l34})
        EXPECT_LT(bucket(bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)), by),
                  bond_buckets);
}

TEST(bond_spread, shares_are_even_and_flows_stay_where_their_member_sends) {
  for (unsigned n = 1; n <= bond_members_max; ++n) {
    const auto all = static_cast<member_set>((1u << n) - 1);
    const bucket_table whole = fill_buckets(n, all);
    for (unsigned sending = 1; sending <= all; ++sending) {
      const bucket_table table = fill_buckets(n, static_cast<member_set>(sending));
      std::map<unsigned, unsigned> share;
      for (unsigned b = 0; b < bond_buckets; ++b) {
        ASSERT_NE(sending >> table[b] & 1, 0u);
        if ((sending >> whole[b] & 1) != 0) {
          ASSERT_EQ(table[b], whole[b]);
        }
        ++share[table[b]];
      }
      const auto n_sending = static_cast<unsigned>(std::popcount(sending));
      ASSERT_EQ(share.size(), n_sending);
      for (const auto& [member, buckets] : share)
        EXPECT_NEAR(buckets, 1.0 * bond_buckets / n_sending, 8) << n << " " << sending;
    }
  }
}

}  // namespace
}  // namespace coua::dp
