// SPDX-License-Identifier: Apache-2.0
//
// Bonds: who sends, who is heard, and what happens when a member comes and goes.
#include <algorithm>

#include "dp/test_switch.h"

namespace coua::dp {
namespace {

/// UDP from `from` to `to`.
frame_bytes flow(std::uint64_t to, std::uint64_t from, unsigned port, unsigned size = 60) {
  frame_bytes frame = make_frame(to, from, -1, size);
  std::fill(frame.begin() + 14, frame.end(), std::uint8_t{0});
  frame[14] = 0x45;
  frame[23] = 17;
  frame[34] = static_cast<std::uint8_t>(port >> 8);
  frame[35] = static_cast<std::uint8_t>(port);
  return frame;
}

class bond_test : public switch_test {
 protected:
  /// A bond of ring ports m0, m1...
  void bond(unsigned n, bond_mode mode = bond_mode::balance) {
    port_config config;
    for (unsigned m = 0; m < n; ++m) {
      const std::string name = "m" + std::to_string(m);
      rings_[name] = std::make_unique<test_ring_port>(name);
      config = config_of(name);
      members_.push_back(config.devargs);
    }
    config.name = "bond";
    config.devargs.clear();
    config.bond = {mode, members_, bond_hash::l34};
    config_ = config;
    add(config);
  }
  test_ring_port& member(unsigned m) { return *rings_.at("m" + std::to_string(m)); }
  port_status status() { return status_of("bond"); }
  bool becomes(unsigned m, const std::string& state) {
    return eventually([&] { return status().members.at(m).state == state; });
  }
  /// Sends the frame into `from`, and says by which member it came out.
  unsigned way_of(test_ring_port& from, const frame_bytes& frame) {
    EXPECT_TRUE(from.send(frame));
    unsigned found = bond_members_max;
    EXPECT_TRUE(eventually([&] {
      for (unsigned m = 0; m < members_.size(); ++m)
        if (member(m).came_out() > 0) found = m;
      return found != bond_members_max;
    }));
    if (found == bond_members_max) return found;
    EXPECT_EQ(member(found).receive(), frame);
    for (unsigned m = 0; m < members_.size(); ++m) EXPECT_EQ(member(m).came_out(), 0u);
    return found;
  }

  std::vector<std::string> members_;
  port_config config_;
};

TEST_F(bond_test, flows_are_spread_and_each_keeps_its_member) {
  auto& a = access("a");
  bond(3);
  std::map<unsigned, unsigned> shares;
  for (unsigned port = 0; port < 60; ++port) {
    const frame_bytes frame = flow(host(2), host(1), port);
    const unsigned way = way_of(a, frame);
    EXPECT_EQ(way_of(a, frame), way);
    ++shares[way];
  }
  ASSERT_EQ(shares.size(), 3u);
  for (const auto& [m, share] : shares) EXPECT_GT(share, 5u) << m;
  EXPECT_EQ(status().members[0].tx_packets + status().members[1].tx_packets +
                status().members[2].tx_packets,
            120u);
  EXPECT_TRUE(counts("bond", "tx_packets", 120));
}

TEST_F(bond_test, a_burst_is_parted_in_order) {
  auto& a = access("a");
  bond(2);
  std::vector<frame_bytes> sent;
  for (unsigned i = 0; i < 200; ++i) {
    frame_bytes frame = flow(host(2), host(1), i % 10);
    frame[59] = static_cast<std::uint8_t>(i);
    sent.push_back(frame);
    ASSERT_TRUE(a.send(frame));
  }
  ASSERT_TRUE(eventually([&] { return member(0).came_out() + member(1).came_out() == 200; }));
  std::map<unsigned, std::vector<frame_bytes>> by_flow, expected;
  for (unsigned m = 0; m < 2; ++m)
    while (member(m).came_out() > 0) {
      const frame_bytes frame = *member(m).receive();
      by_flow[frame[35]].push_back(frame);
    }
  for (const frame_bytes& each : sent) expected[each[35]].push_back(each);
  EXPECT_EQ(by_flow, expected);
}

TEST_F(bond_test, what_one_member_brings_goes_to_no_other_and_belongs_to_the_port) {
  auto& a = access("a");
  bond(2);
  const frame_bytes frame = flow(broadcast, host(5), 1);
  ASSERT_TRUE(member(1).send(frame));
  EXPECT_EQ(a.receive(), frame);
  EXPECT_TRUE(member(0).silent(100));
  EXPECT_EQ(member(1).came_out(), 0u);
  EXPECT_TRUE(learned(1, host(5), "bond"));
  // By the other member: the address does not move.
  ASSERT_TRUE(member(0).send(frame));
  EXPECT_EQ(a.receive(), frame);
  EXPECT_EQ(switch_->fib().moved, 0u);
}

TEST_F(bond_test, a_trace_names_the_member) {
  auto& a = access("a");
  bond(3);
  for (unsigned port = 0; port < 20; ++port) {
    const frame_bytes frame = flow(broadcast, host(1), port);
    const auto said = switch_->trace_l2(numbers_["a"], frame);
    ASSERT_TRUE(said);
    ASSERT_EQ(said->copies.size(), 1u);
    EXPECT_EQ(said->copies[0].member, members_[way_of(a, frame)]);
  }
}

TEST_F(bond_test, floods_are_sent_once) {
  auto& a = access("a");
  bond(2);
  for (unsigned i = 0; i < 20; ++i) way_of(a, flow(broadcast, host(1), i));
  EXPECT_TRUE(counts("a", "flood_copies", 20));
}

TEST_F(bond_test, the_flows_of_a_member_that_goes_down_move_and_come_back) {
  auto& a = access("a");
  bond(3);
  ASSERT_TRUE(member(1).send(flow(broadcast, host(2), 1)));
  ASSERT_TRUE(a.receive());
  ASSERT_TRUE(learned(1, host(2), "bond"));
  std::vector<unsigned> before;
  for (unsigned port = 0; port < 40; ++port)
    before.push_back(way_of(a, flow(host(2), host(1), port)));
  member(1).set_link(false);
  ASSERT_TRUE(becomes(1, "down"));
  EXPECT_TRUE(status().link_up);
  for (unsigned port = 0; port < 40; ++port) {
    const unsigned way = way_of(a, flow(host(2), host(1), port));
    EXPECT_NE(way, 1u);
    if (before[port] != 1) {
      EXPECT_EQ(way, before[port]);
    }
  }
  EXPECT_TRUE(learned(1, host(2), "bond")) << "the port is the same";
  member(1).set_link(true);
  ASSERT_TRUE(becomes(1, "active"));
  for (unsigned port = 0; port < 40; ++port)
    EXPECT_EQ(way_of(a, flow(host(2), host(1), port)), before[port]);
}

TEST_F(bond_test, without_members_that_have_a_link_it_is_down) {
  auto& a = access("a");
  bond(2);
  for (unsigned m = 0; m < 2; ++m) member(m).set_link(false);
  ASSERT_TRUE(eventually([&] { return !status().link_up; }));
  ASSERT_TRUE(a.send(flow(host(2), host(1), 1)));
  EXPECT_TRUE(counts("a", "drop_no_member", 1));
  member(1).set_link(true);
  ASSERT_TRUE(eventually([&] { return status().link_up; }));
  EXPECT_EQ(way_of(a, flow(host(2), host(1), 1)), 1u);
}

TEST_F(bond_test, backup_uses_one_member_and_hears_no_other) {
  auto& a = access("a");
  bond(2, bond_mode::backup);
  for (unsigned port = 0; port < 10; ++port) EXPECT_EQ(way_of(a, flow(host(2), host(1), port)), 0u);
  ASSERT_TRUE(member(1).send(flow(broadcast, host(2), 1)));
  EXPECT_TRUE(counts("bond", "drop_bond_standby", 1));
  EXPECT_TRUE(a.silent());
  member(0).set_link(false);
  ASSERT_TRUE(becomes(1, "active"));
  EXPECT_EQ(way_of(a, flow(host(2), host(1), 1)), 1u);
  ASSERT_TRUE(member(1).send(flow(broadcast, host(2), 1)));
  EXPECT_TRUE(a.receive());
  member(0).set_link(true);
  ASSERT_TRUE(becomes(0, "standby"));
}

TEST_F(bond_test, mode_hash_and_what_else_a_port_can_change) {
  auto& a = access("a");
  bond(2);
  port_config config = config_;
  config.bond.mode = bond_mode::backup;
  config.bond.hash = bond_hash::l2;
  config.native_vlan = 7;
  ASSERT_TRUE(switch_->update_port(config));
  EXPECT_EQ(status().members[1].state, "standby");
  ASSERT_TRUE(a.send(flow(host(2), host(1), 1)));
  EXPECT_TRUE(counts("a", "drop_no_member", 1));
  config.native_vlan = 1;
  config.enabled = false;
  ASSERT_TRUE(switch_->update_port(config));
  EXPECT_FALSE(status().members[0].link_up);
  config.enabled = true;
  ASSERT_TRUE(switch_->update_port(config));
  EXPECT_EQ(way_of(a, flow(host(2), host(1), 1)), 0u);
}

TEST_F(bond_test, members_come_and_go_while_it_works) {
  auto& a = access("a");
  bond(3);
  const port_status before = status();
  ASSERT_TRUE(member(2).send(flow(broadcast, host(5), 1)));
  ASSERT_TRUE(learned(1, host(5), "bond"));
  ASSERT_TRUE(a.receive());
  std::vector<frame_bytes> frames;
  for (unsigned port = 0; port < 40; ++port) frames.push_back(flow(host(5), host(1), port));

  // The first one leaves, a new one stands before the others.
  const std::string first = members_[0];
  rings_["m3"] = std::make_unique<test_ring_port>("m3");
  members_ = {rings_["m3"]->devargs(), members_[2], members_[1]};
  port_config config = config_;
  config.bridge = "br0";  // as answers name it
  config.bond.members = members_;
  config.recover_s = 5;
  ASSERT_TRUE(switch_->update_port(config));
  ASSERT_EQ(status().members.size(), 3u);
  for (unsigned m = 0; m < 3; ++m) {
    EXPECT_EQ(status().members[m].devargs, members_[m]);
    EXPECT_EQ(status().members[m].state, "active");
  }
  EXPECT_EQ(status().config, config);
  EXPECT_EQ(status().rx_queues, 3u);
  EXPECT_TRUE(std::ranges::equal(status().mac, before.mac));
  EXPECT_TRUE(learned(1, host(5), "bond"));
  std::map<std::string, unsigned> shares;
  for (const frame_bytes& each : frames) {
    ASSERT_TRUE(a.send(each));
    ASSERT_TRUE(eventually([&] {
      for (const char* name : {"m1", "m2", "m3"}) {
        if (rings_[name]->came_out() == 0) continue;
        ++shares[name];
        return rings_[name]->receive() == each;
      }
      return false;
    }));
  }
  EXPECT_EQ(shares.size(), 3u);
  // What the new one brings belongs to the port, and what left is another port's.
  ASSERT_TRUE(rings_["m3"]->send(flow(broadcast, host(6), 1)));
  EXPECT_TRUE(learned(1, host(6), "bond"));
  member(0).make();
  add(config_of("m0"));

  // None that cannot be used: nothing is changed.
  const auto refused = [&](std::vector<std::string> members, const std::string& what) {
    port_config wrong = config;
    wrong.bond.members = std::move(members);
    const auto done = switch_->update_port(wrong);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message().find(what), std::string::npos) << done.error().message();
    EXPECT_EQ(status().config, config);
  };
  refused({members_[0], first}, "the device net_ring_m0 is in use");
  refused({members_[0], "net_nonesuch0"}, "member net_nonesuch0");
  refused({members_[0], members_[0]}, "a member twice");
  refused(std::vector<std::string>(9, members_[0]), "at most 8");
  refused({}, "cannot change");
  port_config too_long = config;
  too_long.bond.members = {members_[0]};
  too_long.rx_descriptors = 128;
  EXPECT_EQ(switch_->update_port(too_long).error().code, errc::unsupported);
  EXPECT_EQ(status().members.size(), 3u);
}

TEST_F(bond_test, the_member_in_use_stays_it_in_another_place) {
  auto& a = access("a");
  bond(2, bond_mode::backup);
  member(0).set_link(false);
  ASSERT_TRUE(becomes(1, "active"));
  member(0).set_link(true);
  ASSERT_TRUE(becomes(0, "standby"));
  port_config config = config_;
  std::swap(config.bond.members[0], config.bond.members[1]);
  ASSERT_TRUE(switch_->update_port(config));
  EXPECT_EQ(status().members[0].state, "active");
  EXPECT_EQ(status().members[1].state, "standby");
  EXPECT_EQ(way_of(a, flow(host(2), host(1), 1)), 1u);
  // It leaves: the other one has a link.
  config.bond.members.erase(config.bond.members.begin());
  ASSERT_TRUE(switch_->update_port(config));
  EXPECT_EQ(status().members[0].state, "active");
  EXPECT_TRUE(status().link_up);
  ASSERT_TRUE(a.send(flow(host(2), host(1), 1)));
  EXPECT_TRUE(member(0).receive());
}

TEST_F(bond_test, members_change_under_traffic) {
  auto& a = access("a");
  bond(2);
  std::atomic<bool> over{false};
  std::thread sender([&] {
    for (unsigned i = 0; !over; ++i) {
      a.send(flow(host(2), host(1), i % 64));
      std::this_thread::yield();  // all three free packets, perhaps on two CPUs: they wait in turns
    }
  });
  for (unsigned turn = 0; turn < 20; ++turn) {
    port_config config = config_;
    config.bond.members.erase(config.bond.members.begin() + turn % 2);
    ASSERT_TRUE(switch_->update_port(config));
    rings_["m" + std::to_string(turn % 2)]->make();
    ASSERT_TRUE(switch_->update_port(config_));
    // What is there now: while the sender goes on, there might always be more.
    for (unsigned m = 0; m < 2; ++m)
      for (unsigned n = member(m).came_out(); n > 0; --n) (void)member(m).receive();
  }
  over = true;
  sender.join();
  EXPECT_EQ(status().members.size(), 2u);
}

TEST_F(bond_test, a_member_whose_device_went_away_is_left_out_and_hinders_no_change) {
  auto& a = access("a");
  bond(2);
  member(0).vanish();
  ASSERT_TRUE(becomes(0, "lost"));
  for (unsigned port = 0; port < 8; ++port) EXPECT_EQ(way_of(a, flow(host(2), host(1), port)), 1u);
  port_config config = config_;
  config.enabled = false;
  ASSERT_TRUE(switch_->update_port(config));
  EXPECT_EQ(status().members[1].state, "down");
  config.enabled = true;
  ASSERT_TRUE(switch_->update_port(config));
  EXPECT_EQ(way_of(a, flow(host(2), host(1), 1)), 1u);
}

TEST_F(bond_test, captures_and_mirrors_see_the_port) {
  auto& a = access("a");
  bond(2);
  rings_["span"] = std::make_unique<test_ring_port>("span");
  port_config config = config_of("span");
  config.mirror = {{"bond"}, {"bond"}, {}};
  add(config);
  for (unsigned port = 0; port < 16; ++port) {
    const frame_bytes frame = flow(host(2), host(1), port);
    way_of(a, frame);
    EXPECT_EQ(rings_["span"]->receive(), frame);
  }
  const frame_bytes frame = flow(broadcast, host(3), 1);
  for (unsigned m = 0; m < 2; ++m) {
    ASSERT_TRUE(member(m).send(frame));
    EXPECT_EQ(rings_["span"]->receive(), frame);
    EXPECT_EQ(a.receive(), frame);
  }
}

TEST_F(bond_test, a_bond_is_added_whole_or_not_at_all) {
  access("a");
  bond(2);
  const auto refused = [&](std::vector<std::string> members, errc code, const std::string& what) {
    port_config config;
    config.name = "other";
    config.bond.members = std::move(members);
    config.rx_descriptors = config.tx_descriptors = 64;
    const auto added = switch_->add_port(config);
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, code) << added.error().message();
    EXPECT_NE(added.error().message().find(what), std::string::npos) << added.error().message();
  };
  rings_["free"] = std::make_unique<test_ring_port>("free");
  const std::string free = rings_["free"]->devargs();
  refused({free, members_[0]}, errc::exists, "the device net_ring_m0 is in use");
  rings_["free"]->make();  // it was closed with the attempt
  refused({free, rings_["a"]->devargs()}, errc::exists, "in use");
  rings_["free"]->make();
  refused({free, free}, errc::invalid, "a member twice");
  refused({free, "net_nonesuch0"}, errc::io, "member net_nonesuch0");
  refused(std::vector<std::string>(9, free), errc::invalid, "at most 8");
  rings_["free"]->make();
  port_config both = config_of("free");
  both.bond.members = {free};
  EXPECT_EQ(switch_->add_port(both).error().code, errc::invalid);
  // Nothing is left of all that.
  const port_config config = config_of("free");
  EXPECT_TRUE(switch_->add_port(config));
  EXPECT_TRUE(switch_->remove_port("free"));
}

TEST_F(bond_test, it_goes_and_comes_back_under_traffic) {
  auto& a = access("a");
  auto& b = access("b");
  bond(2);
  for (unsigned turn = 0; turn < 5; ++turn) {
    for (unsigned i = 0; i < 100; ++i) a.send(flow(broadcast, host(1), i));
    ASSERT_TRUE(switch_->remove_port("bond"));
    EXPECT_EQ(switch_->ports().size(), 2u);
    while (b.receive(50)) {
    }
    for (unsigned m = 0; m < 2; ++m) member(m).make();
    add(config_);
  }
  for (unsigned m = 0; m < 2; ++m)
    while (member(m).receive(50)) {
    }
  way_of(a, flow(broadcast, host(1), 1));
}

TEST_F(bond_test, a_share_is_of_the_sum_of_its_members) {
  access("a");
  bond(2);
  const auto says = [&](const std::string& speed) {
    return eventually([&] {
      const auto said = switch_->trace_l2(status().number, make_frame(broadcast, host(1)));
      return said && said->limit == "storm.broadcast: at most 1% of the link of " + speed +
                                        " Mbit/s by this port, not reached now";
    });
  };
  member(0).set_speed(10);
  member(1).set_speed(100);
  ASSERT_TRUE(eventually([&] { return status().link_mbps == 110; }));
  config_.storm.broadcast = flood_limit::percent_hundredths(100);
  ASSERT_TRUE(switch_->update_port(config_));
  EXPECT_TRUE(says("110"));
  member(1).set_speed(1000);
  EXPECT_TRUE(says("1010"));
  member(0).set_link(false);
  EXPECT_TRUE(says("1000"));
  // One that says none: the last sum stays.
  member(0).set_link(true);
  ASSERT_TRUE(says("1010"));
  member(0).set_speed(0);
  EXPECT_TRUE(eventually([&] { return status().link_mbps == 0; }));
  EXPECT_TRUE(says("1010"));
}

class many_workers_bond_test : public bond_test {
 protected:
  void SetUp() override {
    cores_ = {0, 1};
    start({});
  }
};

TEST_F(many_workers_bond_test, workers_share_the_queues_of_members) {
  auto& a = access("a");
  auto& b = access("b");
  bond(2);
  EXPECT_TRUE(status().tx_shared);
  for (unsigned i = 0; i < 300; ++i) {
    ASSERT_TRUE(a.send(flow(broadcast, host(1), i)));
    ASSERT_TRUE(b.send(flow(broadcast, host(2), i)));
  }
  EXPECT_TRUE(eventually([&] { return member(0).came_out() + member(1).came_out() == 600; }));
}

}  // namespace
}  // namespace coua::dp
