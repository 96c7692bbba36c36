// SPDX-License-Identifier: Apache-2.0
//
// Bonds that speak LACP with another end: the same machines, at the far ends of the members' rings.
#include "base/clock.h"
#include "dp/bond/lacp.h"
#include "dp/test_switch.h"

namespace coua::dp {
namespace {

constexpr unsigned n_members = 2;

class lacp_test : public switch_test {
 protected:
  void bond(lacp_rate rate = lacp_rate::fast) {
    port_config config;
    for (unsigned m = 0; m < n_members; ++m) {
      const std::string name = "m" + std::to_string(m);
      rings_[name] = std::make_unique<test_ring_port>(name);
      config = config_of(name);
      config_.bond.members.push_back(config.devargs);
    }
    config_.name = "bond";
    config_.rx_descriptors = config_.tx_descriptors = 64;
    config_.bond.mode = bond_mode::lacp;
    config_.bond.rate = rate;
    add(config_);
  }
  /// What the switch says last is taken out, or its packets would stay with the process.
  void TearDown() override {
    if (switch_) (void)switch_->remove_port("bond");
    for (unsigned m = 0; m < n_members; ++m)
      while (rings_.contains("m" + std::to_string(m)) && member(m).came_out() > 0)
        (void)member(m).receive();
    switch_test::TearDown();
  }
  test_ring_port& member(unsigned m) { return *rings_.at("m" + std::to_string(m)); }
  port_status status() { return status_of("bond"); }

  /// The other end hears what came out, keeps what is not LACP, and answers.
  void turn() {
    const auto send = [&](unsigned m, const slow_frame& frame) {
      if (!silent_[m]) member(m).send(frame_bytes(frame.begin(), frame.end()));
    };
    const std::uint64_t now = now_ns();
    for (unsigned m = 0; m < n_members; ++m) {
      partner_.set_link(m, true, 0, now);
      while (member(m).came_out() > 0) {
        const frame_bytes frame = *member(m).receive();
        if (frame[12] == 0x88 && frame[13] == 0x09)
          partner_.receive(m, frame, now, send);
        else
          came_[m].push_back(frame);
      }
    }
    partner_.tick(now, send);
  }
  template <typename Condition>
  bool comes(const Condition& condition) {
    return eventually([&] {
      turn();
      return condition();
    });
  }
  bool becomes(unsigned m, const std::string& state) {
    return comes([&] { return status().members.at(m).state == state; });
  }
  bool both_active() { return becomes(0, "active") && becomes(1, "active"); }
  std::size_t came() { return came_[0].size() + came_[1].size(); }

  port_config config_;
  lacp partner_{{mac_bytes{2, 0, 0, 0, 9, 1}, mac_bytes{2, 0, 0, 0, 9, 2}}, lacp_rate::fast};
  bool silent_[n_members] = {};
  std::vector<frame_bytes> came_[n_members];
};

TEST_F(lacp_test, without_a_partner_it_is_down) {
  auto& a = access("a");
  bond();
  EXPECT_FALSE(status().link_up);
  EXPECT_EQ(status().members[0].state, "no partner");
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(counts("a", "drop_no_member", 1));
  ASSERT_TRUE(member(0).send(make_frame(broadcast, host(2))));
  EXPECT_TRUE(counts("bond", "drop_bond_standby", 1));
  EXPECT_TRUE(a.silent(50));
}

TEST_F(lacp_test, it_comes_up_and_carries_traffic) {
  auto& a = access("a");
  bond();
  ASSERT_TRUE(both_active());
  const port_status now = status();
  EXPECT_TRUE(now.link_up);
  ASSERT_TRUE(now.members[1].lacp);
  const std::uint8_t expected[6] = {2, 0, 0, 0, 9, 1};
  EXPECT_TRUE(std::equal(expected, expected + 6, now.members[1].lacp->partner_system));
  EXPECT_EQ(now.members[1].lacp->partner_port, 2);
  EXPECT_GT(now.members[1].lacp->received, 0u);
  for (unsigned n = 1; n <= 64; ++n) ASSERT_TRUE(a.send(make_frame(broadcast, host(n))));
  ASSERT_TRUE(comes([&] { return came() == 64; }));
  EXPECT_FALSE(came_[0].empty() || came_[1].empty());
  const frame_bytes frame = make_frame(host(1), host(200));
  ASSERT_TRUE(member(1).send(frame));
  EXPECT_EQ(a.receive(), frame);
  EXPECT_GT(count("bond", "to_lacp"), 0u);
  EXPECT_EQ(partner_.partner(0).key, now.number + 1) << "bonds may have one system, not one key";
  EXPECT_EQ(count("bond", "drop_lacp_full") + count("bond", "drop_lacp_tx"), 0u);
}

TEST_F(lacp_test, a_partner_that_falls_silent_leaves_and_comes_back) {
  auto& a = access("a");
  bond();
  ASSERT_TRUE(both_active());
  silent_[1] = true;
  const std::uint64_t start = now_ns();
  ASSERT_TRUE(becomes(1, "no partner"));
  EXPECT_LT(now_ns() - start, 5'000'000'000u) << "3 s, and what a busy machine takes";
  for (unsigned n = 1; n <= 32; ++n) ASSERT_TRUE(a.send(make_frame(broadcast, host(n))));
  ASSERT_TRUE(comes([&] { return came() == 32; }));
  EXPECT_EQ(came_[0].size(), 32u);
  silent_[1] = false;
  EXPECT_TRUE(becomes(1, "active"));
}

TEST_F(lacp_test, slow_protocols_never_leave_the_port) {
  auto& a = access("a");
  bond();
  ASSERT_TRUE(both_active());
  frame_bytes odd = make_frame(slow_address, host(5));
  odd[12] = 0x88;
  odd[13] = 0x09;
  for (const std::uint8_t subtype : {1, 3, 10}) {
    odd[14] = subtype;
    ASSERT_TRUE(member(0).send(odd));
  }
  ASSERT_TRUE(comes([&] { return status().members[0].lacp->malformed == 1; }));
  EXPECT_TRUE(a.silent(50));
  EXPECT_FALSE(switch_->fib_find({}, 1, host(5)));
}

/// At `slow`, the other end would go on for 90 s.
TEST_F(lacp_test, who_leaves_says_so) {
  bond(lacp_rate::slow);
  partner_.set_rate(lacp_rate::slow);
  const auto both_carry = [&] { return partner_.distributing() == 0b11; };
  const auto carries = [&](member_set set) {
    return comes([&, set] { return partner_.distributing() == set; });
  };
  const auto comes_up = [&] { return both_active() && comes(both_carry); };
  ASSERT_TRUE(comes_up());
  port_config fewer = config_;
  fewer.bond.members.pop_back();
  ASSERT_TRUE(switch_->update_port(fewer));
  EXPECT_TRUE(carries(0b01)) << "a member that leaves";
  member(1).make();
  ASSERT_TRUE(switch_->update_port(config_));
  ASSERT_TRUE(comes_up());

  test_ring_port::fail_links(-ENOTSUP);
  config_.enabled = false;
  ASSERT_TRUE(switch_->update_port(config_));
  EXPECT_TRUE(carries(0)) << "off";
  config_.enabled = true;
  ASSERT_TRUE(switch_->update_port(config_));
  ASSERT_TRUE(comes_up());

  config_.bond.mode = bond_mode::backup;
  ASSERT_TRUE(switch_->update_port(config_));
  EXPECT_TRUE(carries(0)) << "another mode";
  config_.bond.mode = bond_mode::lacp;
  ASSERT_TRUE(switch_->update_port(config_));
  ASSERT_TRUE(comes_up());

  ASSERT_TRUE(switch_->remove_port("bond"));
  EXPECT_TRUE(carries(0)) << "a port that is removed";
  for (unsigned m = 0; m < n_members; ++m) member(m).make();
  add(config_);
  ASSERT_TRUE(comes_up());

  switch_.reset();
  EXPECT_TRUE(carries(0)) << "a switch that stops";
}

TEST_F(lacp_test, what_is_off_says_nothing_though_its_driver_leaves_the_link_up) {
  bond();
  ASSERT_TRUE(both_active());
  test_ring_port::fail_links(-ENOTSUP);
  config_.enabled = false;
  ASSERT_TRUE(switch_->update_port(config_));
  EXPECT_EQ(status().members[0].state, "down");
  const std::uint64_t sent = status().members[0].lacp->sent;
  // The other end was told, and asks in vain.
  ASSERT_TRUE(comes([&] { return (partner_.actor(0).flags & lacp_flag::distributing) == 0; }));
  EXPECT_EQ(status().members[0].lacp->sent, sent);
  config_.enabled = true;
  ASSERT_TRUE(switch_->update_port(config_));
  EXPECT_TRUE(both_active());
}

TEST_F(lacp_test, the_others_stay_agreed_when_a_member_comes_or_goes) {
  access("a");
  bond();
  ASSERT_TRUE(both_active());
  const port_status before = status();
  port_config config = config_;
  config.bond.members.erase(config.bond.members.begin());
  ASSERT_TRUE(switch_->update_port(config));
  // The other end has said nothing since.
  ASSERT_EQ(status().members.size(), 1u);
  EXPECT_EQ(status().members[0].state, "active");
  EXPECT_TRUE(status().link_up);
  EXPECT_EQ(status().members[0].lacp->actor_flags, before.members[1].lacp->actor_flags);
  member(0).make();
  ASSERT_TRUE(switch_->update_port(config_));
  EXPECT_EQ(status().members[1].state, "active");
  // It has yet to agree: at once only where what the other end said before waits in its ring.
  const auto added = status().members[0];
  EXPECT_TRUE(added.state != "active" || added.lacp->received != 0);
  EXPECT_TRUE(both_active());
}

TEST_F(lacp_test, what_was_learned_goes_with_the_last_member_that_is_in_use) {
  access("a");
  bond();
  config_.bond.mode = bond_mode::balance;
  ASSERT_TRUE(switch_->update_port(config_));
  ASSERT_TRUE(member(0).send(make_frame(broadcast, host(5))));
  ASSERT_TRUE(learned(1, host(5), "bond"));
  config_.bond.mode = bond_mode::lacp;
  ASSERT_TRUE(switch_->update_port(config_));
  EXPECT_FALSE(status().link_up) << "the other end is silent yet";
  EXPECT_TRUE(eventually([&] { return !switch_->fib_find({}, 1, host(5)); }));
}

TEST_F(lacp_test, the_mode_changes_while_it_runs_and_the_port_goes) {
  access("a");
  bond();
  ASSERT_TRUE(both_active());
  config_.bond.mode = bond_mode::balance;
  config_.bond.rate = lacp_rate::slow;
  ASSERT_TRUE(switch_->update_port(config_));
  EXPECT_EQ(status().members[0].state, "active");
  EXPECT_FALSE(status().members[0].lacp);
  config_.bond.mode = bond_mode::lacp;
  ASSERT_TRUE(switch_->update_port(config_));
  EXPECT_FALSE(status().link_up) << "it starts anew";
  ASSERT_TRUE(both_active());
  ASSERT_TRUE(switch_->remove_port("bond"));
  for (unsigned m = 0; m < n_members; ++m) member(m).make();
  add(config_);
  ASSERT_TRUE(both_active());
}

}  // namespace
}  // namespace coua::dp
