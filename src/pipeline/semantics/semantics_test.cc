// SPDX-License-Identifier: Apache-2.0
//
// What oracle and datapath share: how a select group spreads, how a meter counts, what a remark is.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "pipeline/semantics/dscp_remark.h"
#include "pipeline/semantics/meter_buckets.h"
#include "pipeline/semantics/select_key.h"
#include "pipeline/semantics/select_map.h"

namespace coua::pipeline {
namespace {

using weights = std::vector<std::uint16_t>;

std::vector<std::size_t> slots_of(const select_map& map, std::size_t n_buckets) {
  std::vector<std::size_t> counted(n_buckets);
  for (const std::uint16_t one : map.slots()) ++counted.at(one);
  return counted;
}

TEST(select_map, shares_slots_by_weight) {
  const weights given{1, 2, 5, 0, 2};
  const std::vector<std::size_t> counted = slots_of({hash_key{1}, given}, given.size());
  EXPECT_EQ(counted[3], 0U);
  for (std::size_t i = 0; i < given.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(counted[i]), 1024.0 * given[i] / 10, 2.0) << i;
  }
}

TEST(select_map, every_weight_has_a_slot) {
  weights given(1024, 1);
  given[7] = 65535;
  const std::vector<std::size_t> counted = slots_of({hash_key{}, given}, given.size());
  for (const std::size_t n : counted) EXPECT_GE(n, 1U);
}

TEST(select_map, leads_nowhere_without_live_buckets) {
  EXPECT_EQ(select_map(hash_key{}, weights{}).bucket(5), std::nullopt);
  EXPECT_EQ(select_map(hash_key{}, weights{0, 0}).bucket(5), std::nullopt);
  EXPECT_EQ(select_map(hash_key{}, weights{0, 3}).bucket(~std::uint64_t{0}), 1U);
  EXPECT_EQ(select_map(hash_key{}, weights{0, 3}).bucket(0), 1U);
}

TEST(select_map, flows_of_live_buckets_mostly_stay_when_one_dies) {
  const weights before(8, 10);
  weights after = before;
  after[3] = 0;
  for (std::uint8_t secret = 0; secret < 10; ++secret) {
    const select_map a(hash_key{secret}, before), b(hash_key{secret}, after);
    std::size_t moved = 0;
    for (std::size_t i = 0; i < a.slots().size(); ++i) {
      moved += a.slots()[i] != 3 && a.slots()[i] != b.slots()[i];
    }
    // About one of forty; a hash modulo 7 would move six of seven, orders without steps a fifth.
    EXPECT_LT(moved, a.slots().size() / 16);
  }
}

TEST(select_map, secrets_make_a_difference) {
  const weights given(8, 1);
  const select_map a(hash_key{1}, given), b(hash_key{2}, given);
  EXPECT_FALSE(std::equal(a.slots().begin(), a.slots().end(), b.slots().begin()));
}

TEST(select_key, takes_what_tells_flows_apart) {
  const auto key = [](std::initializer_list<std::pair<field, value128>> values) {
    field_values packet;
    for (const auto& [which, value] : values) packet.set(which, value);
    return make_select_key(packet);
  };
  std::set<select_key> seen{key({})};
  for (const field which : {field::eth_dst, field::eth_src, field::eth_type, field::vlan_vid,
                            field::ipv4_src, field::ipv4_dst, field::ip_proto, field::tcp_src,
                            field::tcp_dst, field::arp_op, field::arp_sha, field::arp_tha}) {
    EXPECT_TRUE(seen.insert(key({{which, 5}})).second) << info(which).name;
  }
  for (const field which : {field::ipv6_src, field::ipv6_dst}) {
    EXPECT_TRUE(seen.insert(key({{which, value128{5} << 64}})).second);
  }
  EXPECT_EQ(key({{field::udp_src, 5}}), key({{field::tcp_src, 5}}));
  EXPECT_EQ(key({{field::sctp_dst, 5}}), key({{field::tcp_dst, 5}}));
  EXPECT_EQ(key({{field::arp_spa, 5}}), key({{field::ipv4_src, 5}}));
  EXPECT_EQ(key({{field::arp_tpa, 5}}), key({{field::ipv4_dst, 5}}));
  EXPECT_EQ(key({{field::vlan_pcp, 5}, {field::ip_dscp, 3}, {field::ip_ttl, 9}}), key({}));
  EXPECT_EQ(key({{field::ip_frag, frag_any}, {field::tcp_src, 5}}),
            key({{field::ip_frag, frag_any | frag_later}}));
}

meter make_meter(meter_unit unit, std::vector<meter_band> bands, bool burst = true) {
  return {1, unit, burst, false, std::move(bands)};
}

TEST(meter_buckets, let_a_burst_pass_and_then_the_rate) {
  meter_buckets packets(make_meter(meter_unit::pktps, {{band_type::drop, 10, 3, 0}}), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(packets.charge(60, 0), std::nullopt);
  EXPECT_EQ(packets.charge(60, 0), 0U);
  EXPECT_EQ(packets.charge(60, ns_per_s / 10 - 1), 0U);
  EXPECT_EQ(packets.charge(60, ns_per_s / 10), std::nullopt);
  EXPECT_EQ(packets.charge(60, ns_per_s / 10), 0U);
  // A long pause fills it to the burst and no further.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(packets.charge(60, 100 * ns_per_s), std::nullopt);
  EXPECT_EQ(packets.charge(60, 100 * ns_per_s), 0U);
}

TEST(meter_buckets, count_bits_in_kilobit_meters) {
  // 8 kbit/s is a byte a millisecond; the burst is 1,000 bytes.
  meter_buckets bits(make_meter(meter_unit::kbps, {{band_type::drop, 8, 8, 0}}), 0);
  EXPECT_EQ(bits.charge(1'000, 0), std::nullopt);
  EXPECT_EQ(bits.charge(1, 999'999), 0U);
  EXPECT_EQ(bits.charge(1, 1'000'000), std::nullopt);
  EXPECT_EQ(bits.charge(60, 60'000'000), 0U);
  EXPECT_EQ(bits.charge(60, 61'000'000), std::nullopt);
}

TEST(meter_buckets, the_exceeded_band_with_the_highest_rate_takes_the_packet) {
  meter_buckets two(make_meter(meter_unit::pktps,
                               {{band_type::dscp_remark, 1, 1, 1}, {band_type::drop, 2, 2, 0}}),
                    0);
  EXPECT_EQ(two.charge(60, 0), std::nullopt);
  EXPECT_EQ(two.charge(60, 0), 0U);
  EXPECT_EQ(two.charge(60, 0), 1U);
  EXPECT_EQ(two.charge(60, ns_per_s / 2), 0U);  // half a token of the slow one, one of the other
}

TEST(meter_buckets, have_a_burst_of_a_second_when_none_is_set) {
  meter_buckets packets(make_meter(meter_unit::pktps, {{band_type::drop, 5, 0, 0}}, false), 0);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(packets.charge(60, 0), std::nullopt);
  EXPECT_EQ(packets.charge(60, 0), 0U);
  meter_buckets slow(make_meter(meter_unit::kbps, {{band_type::drop, 1, 0, 0}}, false), 0);
  EXPECT_EQ(slow.charge(9'018, 0), std::nullopt);  // a jumbo frame passes
}

TEST(meter_buckets, extremes_do_not_overflow) {
  constexpr std::uint32_t most = 0xffff'ffff;
  for (const meter_unit unit : {meter_unit::kbps, meter_unit::pktps}) {
    meter_buckets big(make_meter(unit, {{band_type::drop, most, most, 0}}), 0);
    EXPECT_EQ(big.charge(65'535, 0), std::nullopt);
    EXPECT_EQ(big.charge(65'535, ~time_ns{0}), std::nullopt);
    EXPECT_EQ(big.charge(65'535, 5), std::nullopt);  // a clock that goes back stands still
  }
}

TEST(dscp_remark, raises_drop_precedence_of_assured_forwarding_only) {
  EXPECT_EQ(remark_dscp(10, 1), 12);  // AF11 to AF12
  EXPECT_EQ(remark_dscp(10, 2), 14);
  EXPECT_EQ(remark_dscp(10, 9), 14);
  EXPECT_EQ(remark_dscp(36, 1), 38);  // AF42 to AF43
  for (const std::uint8_t other : {0, 46, 48, 8, 16, 40, 42, 11}) {
    EXPECT_EQ(remark_dscp(other, 1), other) << int{other};
  }
}

}  // namespace
}  // namespace coua::pipeline
