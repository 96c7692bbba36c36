// SPDX-License-Identifier: Apache-2.0
#include "dp/l2/domain_map.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <set>

namespace coua::dp {
namespace {

class domain_map_test : public ::testing::Test {
 protected:
  /// How many are missing; 0: it is done. Bridge 0 is the first one.
  unsigned take(unsigned bridge, std::vector<std::uint16_t> vlans) {
    taken_.clear();
    const auto in_use = [&](std::uint16_t domain) { return used_[domain]; };
    return map_->take(bridge, bridge == 0, vlans, in_use, taken_).value_or(0);
  }
  /// As the ports that carry them.
  void use(unsigned bridge, const std::vector<std::uint16_t>& vlans, bool on = true) {
    for (const std::uint16_t vlan : vlans) used_[map_->find(bridge, vlan)] = on;
  }
  static std::vector<std::uint16_t> all(std::uint16_t first = 1) {
    std::vector<std::uint16_t> vlans(n_vlans - 1u - first);
    std::iota(vlans.begin(), vlans.end(), first);
    return vlans;
  }

  std::unique_ptr<domain_map> map_ = std::make_unique<domain_map>();
  std::bitset<n_domains> used_;
  std::vector<std::uint16_t> taken_;
};

TEST_F(domain_map_test, the_first_bridge_has_its_vlans_for_domains) {
  EXPECT_EQ(take(0, {1, 10, 4094}), 0u);
  EXPECT_EQ(taken_.size(), 3u);
  for (const std::uint16_t vlan : {1, 10, 4094}) {
    EXPECT_EQ(map_->find(0, vlan), vlan);
    EXPECT_EQ(map_->vlan_of(vlan), vlan);
    EXPECT_TRUE(map_->is_of(vlan, 0));
  }
  EXPECT_EQ(map_->find(0, 2), 0);
  EXPECT_EQ(take(0, {1, 10}), 0u);
  EXPECT_TRUE(taken_.empty());
}

// Red when two pairs share a domain.
TEST_F(domain_map_test, a_vlan_of_two_bridges_has_two_domains) {
  for (const unsigned bridge : {0u, 1u, 15u}) {
    EXPECT_EQ(take(bridge, {1, 2, 4094}), 0u);
    use(bridge, {1, 2, 4094});
  }
  std::set<std::uint16_t> all;
  for (const unsigned bridge : {0u, 1u, 15u})
    for (const std::uint16_t vlan : {1, 2, 4094}) {
      const std::uint16_t domain = map_->find(bridge, vlan);
      all.insert(domain);
      EXPECT_TRUE(map_->is_of(domain, bridge));
      EXPECT_EQ(map_->vlan_of(domain), vlan);
    }
  EXPECT_EQ(all.size(), 9u);
  EXPECT_EQ(all.count(0), 0u);
}

TEST_F(domain_map_test, what_needs_more_than_there_are_gets_none) {
  EXPECT_EQ(take(0, all()), 0u);
  use(0, all());
  EXPECT_EQ(take(1, {7, 8, 9}), 2u);
  EXPECT_TRUE(taken_.empty());
  for (const std::uint16_t vlan : {7, 8, 9}) EXPECT_EQ(map_->find(1, vlan), 0);
  EXPECT_EQ(take(1, {8}), 0u);
  use(1, {8});
  EXPECT_EQ(take(1, {8}), 0u) << "it has it";
  EXPECT_EQ(take(2, {1}), 1u);
}

TEST_F(domain_map_test, domains_that_nobody_uses_are_given_away) {
  EXPECT_EQ(take(1, all()), 0u);
  use(1, all());
  use(1, {10}, false);
  EXPECT_EQ(take(2, {20, 21}), 0u) << "the one that was left, and the one that is not used";
  EXPECT_EQ(map_->find(1, 10), 0);
  EXPECT_EQ(map_->find(1, 11), n_domains - 11);
  use(2, {20, 21});
  EXPECT_EQ(take(1, {10}), 1u);
}

// Red when the VLANs that a request has already are given to its new ones.
TEST_F(domain_map_test, a_request_takes_nothing_from_itself) {
  EXPECT_EQ(take(1, all()), 0u);  // and nobody uses them
  EXPECT_EQ(take(2, {1}), 0u);
  std::vector<std::uint16_t> mine = all(2);
  mine.push_back(1);
  EXPECT_EQ(take(1, mine), 0u);
  std::set<std::uint16_t> domains;
  for (const std::uint16_t vlan : mine) domains.insert(map_->find(1, vlan));
  EXPECT_EQ(domains.size(), mine.size());
}

TEST_F(domain_map_test, the_first_bridge_takes_other_domains_where_its_own_are_taken) {
  EXPECT_EQ(take(1, all()), 0u);
  use(1, all());
  use(1, {4094, 4093}, false);  // domains 2 and 3
  EXPECT_EQ(take(0, {2, 100}), 0u);
  EXPECT_EQ(map_->find(0, 2), 2);
  EXPECT_EQ(map_->find(0, 100), 1) << "that nobody had";
}

TEST_F(domain_map_test, domains_of_a_bridge_that_is_gone_are_nobodys_until_they_are_empty) {
  EXPECT_EQ(take(1, {5}), 0u);
  const std::uint16_t domain = map_->find(1, 5);
  use(1, {5});
  map_->forget(1);
  EXPECT_EQ(map_->find(1, 5), 0);
  EXPECT_FALSE(map_->is_of(domain, 1));
  EXPECT_EQ(take(1, {5}), 0u);
  EXPECT_NE(map_->find(1, 5), domain);
  used_[domain] = false;
  EXPECT_EQ(take(2, {5}), 0u);
  EXPECT_EQ(map_->find(2, 5), domain);
}

}  // namespace
}  // namespace coua::dp
