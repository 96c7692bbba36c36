// SPDX-License-Identifier: Apache-2.0
//
// Two ends that speak LACP with each other over cables that can be cut, become deaf, or lead
// somewhere else.
#include "dp/bond/lacp.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <vector>

namespace coua::dp {
namespace {

constexpr std::uint64_t ms = 1'000'000, s = 1000 * ms;

mac_bytes mac(unsigned system, unsigned port) {
  return {2, 0, 0, 0, static_cast<std::uint8_t>(system), static_cast<std::uint8_t>(port)};
}

std::vector<mac_bytes> macs(unsigned system, unsigned n) {
  std::vector<mac_bytes> list;
  for (unsigned m = 0; m < n; ++m) list.push_back(mac(system, m));
  return list;
}

/// Ends with their members, and which end of which member a frame comes out at.
class lab {
 public:
  struct end {
    unsigned system, member;
  };
  unsigned add(unsigned n, lacp_rate rate = lacp_rate::fast) {
    ends_.emplace_back(macs(static_cast<unsigned>(ends_.size()) + 1, n), rate);
    return static_cast<unsigned>(ends_.size()) - 1;
  }
  void cable(end a, end b) {
    cables_.push_back({a, b});
    set_link(a, true);
    set_link(b, true);
  }
  /// Cables between two members of each. Whether they agree.
  bool join(unsigned a, unsigned b) {
    for (const unsigned m : {0u, 1u}) cable({a, m}, {b, m});
    run(5 * s);
    return ends_[a].distributing() == 0b11;
  }
  void set_link(end e, bool up) { ends_[e.system].set_link(e.member, up, 1000, now_); }
  /// The frames that this end sends are lost, or are not any more.
  void mute(end e, bool on) { on ? muted_.push_back(e) : muted_.clear(); }

  void run(std::uint64_t ns) {
    for (const std::uint64_t until = now_ + ns; now_ < until; now_ += 100 * ms) {
      for (unsigned e = 0; e < ends_.size(); ++e) ends_[e].tick(now_, sender(e));
      deliver();
    }
  }
  lacp& operator[](unsigned system) { return ends_[system]; }
  std::uint64_t now() const { return now_; }
  std::uint64_t sent() const { return n_sent_; }

 private:
  struct frame {
    end to;
    slow_frame bytes;
  };
  lacp::send_function sender(unsigned system) {
    return [this, system](unsigned member, const slow_frame& bytes) {
      ++n_sent_;
      for (const end& each : muted_)
        if (each.system == system && each.member == member) return;
      for (const auto& [a, b] : cables_) {
        if (a.system == system && a.member == member) wire_.push_back({b, bytes});
        if (b.system == system && b.member == member) wire_.push_back({a, bytes});
      }
    };
  }
  void deliver() {
    while (!wire_.empty()) {
      const frame next = wire_.front();
      wire_.pop_front();
      ends_[next.to.system].receive(next.to.member, next.bytes, now_, sender(next.to.system));
      ends_[next.to.system].tick(now_, sender(next.to.system));
    }
  }

  std::deque<lacp> ends_;
  std::vector<std::pair<end, end>> cables_;
  std::vector<end> muted_;
  std::deque<frame> wire_;
  std::uint64_t now_ = 1000 * s;
  std::uint64_t n_sent_ = 0;
};

TEST(lacp, two_ends_agree) {
  lab l;
  const unsigned a = l.add(2), b = l.add(2);
  l.run(5 * s);
  EXPECT_EQ(l[a].state(0), "down");
  l.cable({a, 0}, {b, 0});
  l.cable({a, 1}, {b, 1});
  l.run(3 * s);  // no more than 3 frames a second
  for (const unsigned e : {a, b}) {
    EXPECT_EQ(l[e].collecting(), 0b11);
    EXPECT_EQ(l[e].distributing(), 0b11);
    EXPECT_EQ(l[e].state(1), "active");
  }
  EXPECT_EQ(l[a].partner(1).system, mac(2, 0));
  EXPECT_EQ(l[a].partner(1).port, 2);
  // Then a frame a second for each end of a cable, as fast as both ask for.
  const std::uint64_t before = l.sent();
  l.run(60 * s);
  EXPECT_NEAR(static_cast<double>(l.sent() - before), 240, 8);
}

TEST(lacp, with_fewer_partners_than_asked_both_ends_carry_nothing) {
  lab l;
  const unsigned a = l.add(3), b = l.add(3);
  l[a].set_min_links(2);
  ASSERT_TRUE(l.join(a, b));
  l.set_link({a, 1}, false);
  l.run(100 * ms);
  EXPECT_EQ(l[a].collecting() | l[a].distributing(), 0);
  EXPECT_EQ(l[b].collecting(), 0b10)
      << "its link has not failed; what it hears by the other one is";
  EXPECT_EQ(l[a].state(0), "too few");
  EXPECT_EQ(l[a].state(1), "down");
  EXPECT_EQ(l[b].state(0), "waiting");
  l.cable({a, 2}, {b, 2});
  l.run(5 * s);
  EXPECT_EQ(l[a].distributing(), 0b101);
  EXPECT_EQ(l[b].distributing(), 0b101);
  l[a].set_min_links(3);
  l.run(1 * s);
  EXPECT_EQ(l[a].collecting() | l[b].distributing(), 0);
  l[a].set_min_links(1);
  l.run(5 * s);
  EXPECT_EQ(l[a].distributing() & l[b].distributing(), 0b101);
}

TEST(lacp, two_ends_that_ask_for_links_do_not_wait_for_each_other) {
  lab l;
  const unsigned a = l.add(2), b = l.add(2);
  for (const unsigned e : {a, b}) l[e].set_min_links(2);
  EXPECT_TRUE(l.join(a, b));
  l.set_link({b, 0}, false);
  l.run(5 * s);
  EXPECT_EQ(l[a].collecting() | l[b].collecting(), 0);
  EXPECT_EQ(l[b].state(1), "too few");
  l.set_link({b, 0}, true);
  l.run(5 * s);
  EXPECT_EQ(l[a].distributing() & l[b].distributing(), 0b11);
}

TEST(lacp, a_member_that_the_partner_keeps_out_does_not_count) {
  constexpr auto silent = [](unsigned, const slow_frame&) {};
  lacp end(macs(1, 2), lacp_rate::fast);
  end.set_min_links(2);
  const auto hear = [&](unsigned m, std::uint8_t flags) {
    lacp_side partner{1,
                      mac(2, 0),
                      1,
                      1,
                      static_cast<std::uint16_t>(m + 1),
                      static_cast<std::uint8_t>(lacp_flag::active | lacp_flag::aggregates | flags)};
    end.receive(m, write_lacpdu({partner, end.actor(m)}, mac(2, m)), 1 * s, silent);
    end.tick(1 * s, silent);
  };
  for (const unsigned m : {0u, 1u}) end.set_link(m, true, 1000, 1 * s);
  constexpr std::uint8_t in_use = lacp_flag::in_sync | lacp_flag::collecting;
  for (int i = 0; i < 2; ++i) hear(0, in_use), hear(1, 0);
  EXPECT_EQ(end.collecting(), 0);
  EXPECT_EQ(end.state(0), "too few");
  EXPECT_EQ(end.state(1), "waiting");
  hear(1, in_use);
  EXPECT_EQ(end.distributing(), 0b11);
  hear(1, 0);
  EXPECT_EQ(end.collecting(), 0);
}

TEST(lacp, slow_ends_send_every_30_s) {
  lab l;
  const unsigned a = l.add(1, lacp_rate::slow), b = l.add(1, lacp_rate::slow);
  l.cable({a, 0}, {b, 0});
  l.run(5 * s);
  EXPECT_EQ(l[a].distributing(), 1);
  const std::uint64_t before = l.sent();
  l.run(300 * s);
  EXPECT_NEAR(static_cast<double>(l.sent() - before), 20, 3);
  l.mute({b, 0}, true);
  l.run(59 * s);
  EXPECT_EQ(l[a].distributing(), 1);
  l.run(35 * s);
  EXPECT_EQ(l[a].distributing(), 0);
  EXPECT_EQ(l[a].state(0), "no partner");
}

// The partner goes over to 30 s at once, and need not say so.
TEST(lacp, who_asks_for_less_does_not_miss_what_comes_less_often) {
  lab l;
  const unsigned a = l.add(1), b = l.add(1);
  l.cable({a, 0}, {b, 0});
  l.run(5 * s);
  ASSERT_EQ(l[a].distributing(), 1);
  l[a].set_rate(lacp_rate::slow);
  l.mute({b, 0}, true);
  l.run(80 * s);
  EXPECT_EQ(l[a].distributing(), 1);
  l.run(15 * s);
  EXPECT_EQ(l[a].distributing(), 0);
}

TEST(lacp, who_asks_for_more_gives_the_partner_time_to_hear_it) {
  lab l;
  const unsigned a = l.add(1, lacp_rate::slow), b = l.add(1, lacp_rate::slow);
  l.cable({a, 0}, {b, 0});
  l.run(20 * s);
  ASSERT_EQ(l[a].distributing(), 1);
  l[a].set_rate(lacp_rate::fast);
  l.run(30 * s);
  EXPECT_EQ(l[a].distributing(), 1);
  l.mute({b, 0}, true);
  l.run(5 * s);
  EXPECT_EQ(l[a].distributing(), 0);
}

// Of a thread that was away: what has come is taken before anybody's time is over.
TEST(lacp, nobody_is_missed_whose_frame_has_come) {
  lab l;
  const unsigned a = l.add(2), b = l.add(2);
  ASSERT_TRUE(l.join(a, b));
  const std::uint64_t late = l.now() + 10 * s;
  const auto nobody = [](unsigned, const slow_frame&) {};
  for (const unsigned m : {0u, 1u})
    l[a].receive(m, write_lacpdu({l[b].actor(m), l[b].partner(m)}, mac(2, m)), late, nobody);
  l[a].tick(late, nobody);
  EXPECT_EQ(l[a].distributing(), 0b11);
}

TEST(lacp, without_a_partner_nothing_is_sent) {
  lab l;
  const unsigned a = l.add(2);
  l.set_link({a, 0}, true);
  l.run(30 * s);
  EXPECT_EQ(l[a].state(0), "no partner");
  EXPECT_EQ(l[a].state(1), "down");
  EXPECT_EQ(l[a].collecting() | l[a].distributing(), 0);
  EXPECT_GE(l.sent(), 29u) << "it goes on asking";
}

TEST(lacp, a_partner_that_falls_silent_leaves_within_3_s_and_comes_back) {
  lab l;
  const unsigned a = l.add(2), b = l.add(2);
  l.cable({a, 0}, {b, 0});
  l.cable({a, 1}, {b, 1});
  l.run(10 * s);
  l.mute({b, 1}, true);
  l.run(1900 * ms);
  EXPECT_EQ(l[a].distributing(), 0b11);
  l.run(1300 * ms);
  EXPECT_EQ(l[a].distributing(), 0b01);
  EXPECT_EQ(l[a].collecting(), 0b01);
  EXPECT_EQ(l[a].state(1), "no partner");
  l.run(1 * s);
  EXPECT_EQ(l[b].distributing(), 0b01) << "the other end is told";
  l.run(10 * s);
  l.mute({b, 1}, false);
  l.run(4 * s);
  EXPECT_EQ(l[a].distributing(), 0b11);
  EXPECT_EQ(l[b].distributing(), 0b11);
}

TEST(lacp, a_link_that_goes_down_leaves_at_once) {
  lab l;
  const unsigned a = l.add(2), b = l.add(2);
  l.cable({a, 0}, {b, 0});
  l.cable({a, 1}, {b, 1});
  l.run(10 * s);
  l.set_link({a, 0}, false);
  l.run(100 * ms);
  EXPECT_EQ(l[a].distributing(), 0b10);
  l.set_link({a, 0}, true);
  l.run(4 * s);
  EXPECT_EQ(l[a].distributing(), 0b11);
}

TEST(lacp, members_with_another_partner_stay_out) {
  lab l;
  const unsigned a = l.add(3), b = l.add(2), c = l.add(1);
  l.cable({a, 0}, {c, 0});
  l.cable({a, 1}, {b, 0});
  l.cable({a, 2}, {b, 1});
  l.run(10 * s);
  // One of the two is in use; nothing goes to both.
  const member_set used = l[a].distributing();
  EXPECT_TRUE(used == 0b001 || used == 0b110) << int{used};
  EXPECT_EQ(l[a].state(used == 0b001 ? 1 : 0), "other partner");
  // Its partner goes: the other one follows.
  for (const unsigned m : {0u, 1u, 2u})
    if ((used & member_bit(m)) != 0) l.set_link({a, m}, false);
  l.run(5 * s);
  EXPECT_EQ(l[a].distributing(), used ^ 0b111);
}

TEST(lacp, a_cable_back_to_itself_is_no_partner) {
  lab l;
  const unsigned a = l.add(2);
  l.cable({a, 0}, {a, 1});
  l.run(10 * s);
  EXPECT_EQ(l[a].collecting() | l[a].distributing(), 0);
  EXPECT_EQ(l[a].state(0), "loop");
}

TEST(lacp, a_partner_that_changes_starts_anew) {
  lab l;
  const unsigned a = l.add(1);
  l.set_link({a, 0}, true);
  slow_frame last{};
  const auto keep = [&](unsigned, const slow_frame& frame) { last = frame; };
  lacp_pdu said;
  said.actor = {1, mac(9, 0), 7, 1, 3, lacp_flag::active | lacp_flag::aggregates};
  const auto say = [&] {
    said.partner = l[a].actor(0);
    l[a].receive(0, write_lacpdu(said, mac(9, 0)), l.now(), keep);
    l[a].tick(l.now(), keep);
  };
  say();
  EXPECT_EQ(l[a].collecting(), 0) << "the partner is not in sync";
  said.actor.flags |= lacp_flag::in_sync;
  say();
  EXPECT_EQ(l[a].collecting(), 1);
  EXPECT_EQ(l[a].distributing(), 0) << "the partner does not collect";
  EXPECT_EQ(l[a].state(0), "collecting");
  said.actor.flags |= lacp_flag::collecting;
  say();
  EXPECT_EQ(l[a].distributing(), 1);
  said.actor.flags &= static_cast<std::uint8_t>(~lacp_flag::in_sync);
  say();
  EXPECT_EQ(l[a].collecting(), 0);
  // What it thinks of us is not what we are.
  said.actor.flags |= lacp_flag::in_sync;
  said.partner.key = 99;
  l[a].receive(0, write_lacpdu(said, mac(9, 0)), l.now(), keep);
  l[a].tick(l.now(), keep);
  EXPECT_EQ(l[a].collecting(), 0);
}

/// What a partner says by one of its members, who knows the other end and wants its frames.
class talker {
 public:
  talker(lab& in, unsigned end) : lab_(in), end_(end) {}
  void say(unsigned member, const mac_bytes& system, std::uint16_t key) {
    constexpr std::uint8_t all = lacp_flag::active | lacp_flag::aggregates | lacp_flag::in_sync |
                                 lacp_flag::collecting | lacp_flag::distributing;
    const lacp_side actor = {1, system, key, 1, static_cast<std::uint16_t>(member + 1), all};
    lab_[end_].receive(member, write_lacpdu({actor, lab_[end_].actor(member)}, system), lab_.now(),
                       count());
    lab_[end_].tick(lab_.now(), count());
  }
  struct word {
    unsigned member;
    mac_bytes system;
    std::uint16_t key;
  };
  /// All of these, every 100 ms, for as long as this.
  void keep_saying(const std::vector<word>& words, std::uint64_t ns) {
    for (const std::uint64_t end = lab_.now() + ns; lab_.now() < end; lab_.run(100 * ms))
      for (const word& each : words) say(each.member, each.system, each.key);
  }
  lacp::send_function count() {
    return [this](unsigned, const slow_frame&) { ++n_sent_; };
  }
  unsigned sent() const { return n_sent_; }

 private:
  lab& lab_;
  unsigned end_, n_sent_ = 0;
};

TEST(lacp, another_lag_of_the_same_partner_stays_out) {
  lab l;
  const unsigned a = l.add(2);
  for (const unsigned m : {0u, 1u}) l.set_link({a, m}, true);
  talker other(l, a);
  other.keep_saying({{0, mac(9, 0), 7}, {1, mac(9, 0), 8}}, 3 * s);
  EXPECT_EQ(l[a].state(0), "active");
  EXPECT_EQ(l[a].state(1), "other partner");
}

TEST(lacp, a_link_of_another_speed_stays_out) {
  lab l;
  const unsigned a = l.add(2);
  l.set_link({a, 0}, true);
  l[a].set_link(1, true, 100, l.now());
  talker other(l, a);
  other.keep_saying({{0, mac(9, 0), 7}, {1, mac(9, 0), 7}}, 3 * s);
  EXPECT_EQ(l[a].distributing(), 0b01);
}

TEST(lacp, the_partner_in_use_stays_though_another_has_more_members) {
  lab l;
  const unsigned a = l.add(3);
  for (const unsigned m : {0u, 1u, 2u}) l.set_link({a, m}, true);
  talker other(l, a);
  other.keep_saying({{0, mac(9, 0), 7}}, 3 * s);
  ASSERT_EQ(l[a].distributing(), 0b001);
  other.keep_saying({{0, mac(9, 0), 7}, {1, mac(8, 0), 7}, {2, mac(8, 0), 7}}, 3 * s);
  EXPECT_EQ(l[a].distributing(), 0b001);
  // It is gone: then those who are the most.
  other.keep_saying({{1, mac(8, 0), 7}, {2, mac(8, 0), 7}}, 6 * s);
  EXPECT_EQ(l[a].distributing(), 0b110);
}

TEST(lacp, members_come_and_go_beside_those_that_stay) {
  lab l;
  const unsigned a = l.add(2), b = l.add(2);
  ASSERT_TRUE(l.join(a, b));
  const mac_bytes system = l[a].actor(0).system;
  const std::uint64_t sent = l[a].sent(1);
  // The first one leaves, its place has another one.
  const std::optional<unsigned> from[] = {std::nullopt, 1};
  const mac_bytes sources[] = {mac(7, 7), l[a].actor(0).system};
  l[a].change_members(from, {std::begin(sources), std::end(sources)});
  EXPECT_EQ(l[a].distributing(), 0b10);
  EXPECT_EQ(l[a].state(0), "down");
  EXPECT_EQ(l[a].actor(0).port, 1);
  EXPECT_EQ(l[a].actor(1).port, 2);
  for (const unsigned m : {0u, 1u}) EXPECT_EQ(l[a].actor(m).system, system);
  EXPECT_EQ(l[a].sent(1), sent);
  // One more; and in another order.
  const std::optional<unsigned> three[] = {1, std::nullopt, 0};
  l[a].change_members(three, std::vector<mac_bytes>(3, mac(8, 8)));
  EXPECT_EQ(l[a].distributing(), 0b001);
  EXPECT_EQ(l[a].actor(0).port, 2);
  EXPECT_EQ(l[a].actor(1).port, 3);
  EXPECT_EQ(l[a].actor(2).port, 1);
  // A new one speaks at the rate of the others.
  EXPECT_EQ(l[a].actor(1).flags & lacp_flag::short_timeout,
            l[a].actor(0).flags & lacp_flag::short_timeout);
}

// IEEE 802.1AX, transmit machine: no more than three in a fast period, whatever there is to say.
TEST(lacp, no_more_than_three_frames_a_second) {
  lab l;
  const unsigned a = l.add(1);
  l.set_link({a, 0}, true);
  talker other(l, a);
  for (unsigned i = 0; i < 100; ++i) other.say(0, mac(9, i), 7);
  EXPECT_GE(other.sent(), 1u);
  EXPECT_LE(other.sent(), 3u);
}

TEST(lacp, a_frame_on_the_wire) {
  lacp_pdu pdu;
  pdu.actor = {0x8000, mac(1, 2), 0x1234, 0x8001, 5, 0x3D};
  pdu.partner = {0xFFFF, mac(3, 4), 0x5678, 0x00FF, 6, 0x85};
  const slow_frame frame = write_lacpdu(pdu, mac(7, 8));
  const std::vector<std::uint8_t> expected = {0x01, 0x80, 0xC2, 0,    0, 2, 2,    0, 0, 0,
                                              7,    8,    0x88, 0x09, 1, 1,  // header
                                              1,    20,   0x80, 0,    2, 0, 0,    0, 1, 2,
                                              0x12, 0x34, 0x80, 1,    0, 5, 0x3D, 0, 0, 0,  // actor
                                              2,    20,   0xFF, 0xFF, 2, 0, 0,    0, 3, 4,
                                              0x56, 0x78, 0,    0xFF, 0, 6, 0x85, 0, 0, 0,
                                              3,    16,   0,    0};
  ASSERT_EQ(frame.size(), 124u);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), frame.begin()));
  lacp_pdu back;
  ASSERT_TRUE(parse_lacpdu(frame, back));
  EXPECT_EQ(back.actor, pdu.actor);
  EXPECT_EQ(back.partner, pdu.partner);
}

TEST(lacp, markers_are_answered) {
  lab l;
  const unsigned a = l.add(1);
  l.set_link({a, 0}, true);
  slow_frame marker = write_lacpdu({}, mac(9, 9));
  std::fill(marker.begin() + 14, marker.end(), std::uint8_t{0});
  marker[14] = 2;
  marker[15] = 1;
  marker[16] = 1;
  marker[17] = 22;
  marker[30] = 77;
  unsigned n = 0;
  l[a].receive(0, marker, l.now(), [&](unsigned, const slow_frame& answer) {
    ++n;
    slow_frame expected = marker;
    std::copy_n(mac(1, 0).begin(), 6, expected.begin() + 6);
    expected[16] = 2;
    EXPECT_EQ(answer, expected);
  });
  EXPECT_EQ(n, 1u);
}

RC_GTEST_PROP(lacp_fuzz, whatever_comes_nothing_is_sent_to_no_partner,
              (const std::vector<std::vector<std::uint8_t>>& frames)) {
  lacp end(macs(1, 2), lacp_rate::fast);
  end.set_link(0, true, 1000, 0);
  std::uint64_t now = 0, n_sent = 0;
  const auto count = [&](unsigned, const slow_frame&) { ++n_sent; };
  for (std::vector<std::uint8_t> frame : frames) {
    // Some get past the first checks.
    const bool is_near = *rc::gen::arbitrary<bool>();
    if (is_near) {
      const slow_frame good = write_lacpdu({}, mac(2, 2));
      std::vector<std::uint8_t> bytes(good.begin(), good.end());
      for (const std::uint8_t each : frame)
        bytes[*rc::gen::inRange<std::size_t>(14, bytes.size())] = each;
      bytes.resize(*rc::gen::inRange<std::size_t>(14, bytes.size() + 1));
      frame = bytes;
    }
    end.receive(0, frame, now, count);
    now += *rc::gen::inRange<std::uint64_t>(0, 2 * s);
    end.tick(now, count);
    RC_ASSERT((end.distributing() & ~end.collecting()) == 0);
    RC_ASSERT((end.collecting() & 0b10) == 0);
    if (end.partner(0).system == mac_bytes{}) RC_ASSERT(end.collecting() == 0);
  }
}

/// Cables that are cut and mended, ends that fall silent: what is sent by one end is taken by the
/// other, but for the time that it takes to notice; and in the end all is well again.
RC_GTEST_PROP(lacp_model, it_heals, ()) {
  lab l;
  const unsigned n = *rc::gen::inRange(1u, 5u);
  const auto rate = [] { return *rc::gen::element(lacp_rate::slow, lacp_rate::fast); };
  const unsigned a = l.add(n, rate()), b = l.add(n, rate());
  for (const unsigned e : {a, b}) l[e].set_min_links(*rc::gen::inRange(1u, n + 1));
  for (unsigned m = 0; m < n; ++m) l.cable({a, m}, {b, m});
  const auto steps = *rc::gen::inRange(0, 20);
  for (int i = 0; i < steps; ++i) {
    const unsigned m = *rc::gen::inRange(0u, n);
    const bool up = *rc::gen::arbitrary<bool>();
    switch (*rc::gen::inRange(0, 3)) {
      case 0: l.set_link({a, m}, up), l.set_link({b, m}, up); break;
      case 1: l.mute({a, m}, up); break;
      default: l.mute({b, m}, up);
    }
    l.run(*rc::gen::inRange<std::uint64_t>(1, 50) * 100 * ms);
  }
  l.mute({}, false);
  for (unsigned m = 0; m < n; ++m) l.set_link({a, m}, true), l.set_link({b, m}, true);
  l.run(100 * s);
  const auto all = static_cast<member_set>((1u << n) - 1);
  RC_ASSERT(l[a].distributing() == all);
  RC_ASSERT(l[b].distributing() == all);
}

}  // namespace
}  // namespace coua::dp
