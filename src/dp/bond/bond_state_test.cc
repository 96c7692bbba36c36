// SPDX-License-Identifier: Apache-2.0
#include "dp/bond/bond_state.h"

#include <gtest/gtest.h>

namespace coua::dp {
namespace {

constexpr link_state up{true, 10'000, false}, down{}, lost{false, 0, true};

bond_config of(bond_mode mode) {
  bond_config config;
  config.mode = mode;
  config.members = {"a", "b", "c"};
  return config;
}

void see(bond_state& bond, std::vector<link_state> links) {
  bond.update(links, 0, [](unsigned, const slow_frame&) {});
}

TEST(bond_state, balance_takes_from_all_and_sends_by_those_with_a_link) {
  bond_state bond(of(bond_mode::balance), {3, mac_bytes{}});
  see(bond, {down, down, down});
  EXPECT_FALSE(bond.link().up);
  EXPECT_EQ(bond.view().sending, 0);
  see(bond, {up, down, up});
  EXPECT_EQ(bond.view().sending, 0b101);
  EXPECT_EQ(bond.view().collecting, 0b111);
  EXPECT_EQ(bond.link().mbps, 20'000u);
  EXPECT_EQ(bond.state(0), "active");
  EXPECT_EQ(bond.state(1), "down");
  see(bond, {lost, lost, up});
  EXPECT_EQ(bond.view().lost, 0b011);
  EXPECT_EQ(bond.state(0), "lost");
  EXPECT_FALSE(bond.link().lost);
  see(bond, {lost, lost, lost});
  EXPECT_TRUE(bond.link().lost);
}

TEST(bond_state, backup_stays_with_the_member_that_works) {
  bond_state bond(of(bond_mode::backup), {3, mac_bytes{}});
  see(bond, {down, up, up});
  EXPECT_EQ(bond.view().sending, 0b010);
  EXPECT_EQ(bond.view().collecting, 0b010);
  EXPECT_EQ(bond.state(2), "standby");
  see(bond, {up, up, up});
  EXPECT_EQ(bond.view().sending, 0b010) << "it works";
  see(bond, {up, down, up});
  EXPECT_EQ(bond.view().sending, 0b001);
  EXPECT_EQ(bond.link().mbps, 10'000u);
  see(bond, {down, down, down});
  EXPECT_EQ(bond.view().sending, 0);
  EXPECT_FALSE(bond.link().up);
  see(bond, {down, down, up});
  EXPECT_EQ(bond.view().sending, 0b100);
}

TEST(bond_state, a_sum_of_unknown_speeds_is_unknown) {
  bond_state bond(of(bond_mode::balance), {3, mac_bytes{}});
  link_state silent = up;
  silent.mbps = 0;
  see(bond, {silent, up, up});
  EXPECT_EQ(bond.link().mbps, 0u);
  see(bond, {up, up, silent});
  EXPECT_EQ(bond.link().mbps, 0u);
  see(bond, {up, up, down});
  EXPECT_EQ(bond.link().mbps, 20'000u);
  bond_state backup(of(bond_mode::backup), {2, mac_bytes{}});
  see(backup, {up, silent});
  EXPECT_EQ(backup.link().mbps, 10'000u) << "it sends nothing";
}

TEST(bond_state, with_fewer_links_than_asked_it_has_none) {
  bond_config config = of(bond_mode::balance);
  config.min_links = 2;
  bond_state bond(config, {3, mac_bytes{}});
  see(bond, {up, down, lost});
  EXPECT_FALSE(bond.link().up);
  EXPECT_EQ(bond.link().mbps, 0u);
  EXPECT_EQ(bond.view().sending | bond.view().collecting, 0);
  EXPECT_EQ(bond.view().lost, 0b100);
  EXPECT_EQ(bond.states(), (std::vector<std::string>{"too few", "down", "lost"}));
  see(bond, {up, up, lost});
  EXPECT_TRUE(bond.link().up);
  EXPECT_EQ(bond.view().sending, 0b011);
  EXPECT_EQ(bond.view().collecting, 0b111);
  config.min_links = 3;
  bond.configure(config);
  EXPECT_EQ(bond.view().sending | bond.view().collecting, 0);
  config.min_links = 1;
  bond.configure(config);
  EXPECT_EQ(bond.view().sending, 0b011);
}

TEST(bond_state, the_mode_changes_while_it_runs) {
  bond_state bond(of(bond_mode::backup), {3, mac_bytes{}});
  see(bond, {up, up, down});
  bond.configure(of(bond_mode::balance));
  EXPECT_EQ(bond.view().sending, 0b011);
  EXPECT_EQ(bond.view().collecting, 0b111);
}

TEST(bond_state, backup_begins_with_the_first_whoever_was_in_use_before) {
  bond_state bond(of(bond_mode::backup), {3, mac_bytes{}});
  see(bond, {down, up, up});
  bond.configure(of(bond_mode::balance));
  see(bond, {up, up, up});
  bond.configure(of(bond_mode::backup));
  EXPECT_EQ(bond.view().sending, 0b001);
}

TEST(bond_state, the_member_in_use_stays_it_in_its_new_place) {
  bond_state bond(of(bond_mode::backup), {3, mac_bytes{}});
  see(bond, {down, up, up});
  ASSERT_EQ(bond.view().sending, 0b010);
  const std::optional<unsigned> from[] = {2, std::nullopt, 1};
  bond.change_members(from, {3, mac_bytes{}});
  EXPECT_EQ(bond.view().sending, 0b100);
  see(bond, {up, up, up});
  EXPECT_EQ(bond.view().sending, 0b100) << "it works";
}

TEST(bond_state, by_lacp_too_few_links_are_none_either) {
  bond_config config = of(bond_mode::lacp);
  config.members = {"a", "b"};
  config.rate = lacp_rate::fast;
  config.min_links = 2;
  bond_state bond(config, {mac_bytes{2, 0, 0, 0, 0, 1}, mac_bytes{2, 0, 0, 0, 0, 2}});
  lacp partner({mac_bytes{2, 0, 0, 0, 1, 1}, mac_bytes{2, 0, 0, 0, 1, 2}}, lacp_rate::fast);
  std::uint64_t now = 0;
  const auto speak = [&](link_state second) {
    for (unsigned m : {0u, 1u}) partner.set_link(m, m == 0 || second.up, 10'000, now);
    for (const std::uint64_t until = now + 5'000'000'000; now < until; now += 100'000'000) {
      const auto nothing = [](unsigned, const slow_frame&) {};
      const std::vector<link_state> links = {up, second};
      bond.update(links, now, [&](unsigned m, const slow_frame& frame) {
        partner.receive(m, frame, now, nothing);
      });
      partner.tick(
          now, [&](unsigned m, const slow_frame& frame) { bond.receive(m, frame, now, nothing); });
    }
  };
  speak(up);
  EXPECT_EQ(bond.view().sending, 0b11);
  speak(down);
  EXPECT_EQ(bond.view().sending | bond.view().collecting, 0);
  EXPECT_EQ(bond.states(), (std::vector<std::string>{"too few", "down"}));
  config.min_links = 1;
  bond.configure(config);
  speak(down);
  EXPECT_EQ(bond.view().sending, 0b01);
}

TEST(bond_state, by_lacp_links_are_not_enough) {
  bond_state bond(of(bond_mode::lacp), {3, mac_bytes{2, 0, 0, 0, 0, 1}});
  see(bond, {up, up, lost});
  EXPECT_TRUE(bond.view().lacp);
  EXPECT_EQ(bond.view().sending | bond.view().collecting, 0);
  EXPECT_EQ(bond.states(), (std::vector<std::string>{"no partner", "no partner", "lost"}));
  bond.configure(of(bond_mode::balance));
  EXPECT_FALSE(bond.view().lacp);
  EXPECT_EQ(bond.view().sending, 0b011);
}

}  // namespace
}  // namespace coua::dp
