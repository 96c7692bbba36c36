// SPDX-License-Identifier: Apache-2.0
//
// What is forwarded and flooded, and in which form.
#include <set>
#include <thread>

#include "dp/test_switch.h"

namespace coua::dp {
namespace {

TEST_F(switch_test, floods_the_unknown_then_forwards_what_it_learned) {
  auto& a = access("a");
  auto& b = access("b");
  auto& c = access("c");
  const frame_bytes hello = make_frame(host(2), host(1));
  ASSERT_TRUE(a.send(hello));
  EXPECT_EQ(b.receive(), hello);
  EXPECT_EQ(c.receive(), hello);
  EXPECT_TRUE(a.silent());
  ASSERT_TRUE(learned(1, host(1), "a"));
  const frame_bytes answer = make_frame(host(1), host(2), -1, 1514);
  ASSERT_TRUE(b.send(answer));
  EXPECT_EQ(a.receive(), answer);
  EXPECT_TRUE(c.silent());
  EXPECT_TRUE(b.silent());
  EXPECT_TRUE(counts("a", "flooded", 1));
  EXPECT_TRUE(counts("a", "flood_copies", 2));
  EXPECT_TRUE(counts("b", "forwarded", 1));
  EXPECT_TRUE(counts("a", "tx_bytes", 1514));
  const std::map<std::string, std::uint64_t> of_vlan{
      {"rx_packets", 2}, {"rx_bytes", 60 + 1514}, {"flooded", 1}, {"forwarded", 1}};
  EXPECT_TRUE(eventually([&] { return counts_of_vlan(1) == of_vlan; }));
}

TEST_F(switch_test, a_mixed_burst_goes_where_each_frame_belongs) {
  auto& a = access("a");
  auto& b = access("b");
  auto& c = access("c");
  ASSERT_TRUE(b.send(make_frame(broadcast, host(2))));
  ASSERT_TRUE(c.send(make_frame(broadcast, host(3))));
  ASSERT_TRUE(learned(1, host(2), "b"));
  ASSERT_TRUE(learned(1, host(3), "c"));
  for (auto* port : {&a, &a, &b, &c}) ASSERT_TRUE(port->receive());  // the two broadcasts
  std::vector<frame_bytes> to_b, to_c;
  for (unsigned i = 0; i < 500; ++i) {
    const unsigned kind = i % 5;
    const std::uint64_t to = kind == 0 ? broadcast : kind % 2 == 0 ? host(2) : host(3);
    const frame_bytes frame = make_frame(to, host(100 + i), -1, 60 + i);
    ASSERT_TRUE(a.send(frame));
    if (to != host(3)) to_b.push_back(frame);
    if (to != host(2)) to_c.push_back(frame);
  }
  for (const frame_bytes& frame : to_b) ASSERT_EQ(b.receive(), frame);
  for (const frame_bytes& frame : to_c) ASSERT_EQ(c.receive(), frame);
  EXPECT_TRUE(a.silent());
}

TEST_F(switch_test, a_trace_says_what_the_workers_do) {
  std::map<std::string, test_ring_port*> ports{{"a", &access("a", 10)},
                                               {"b", &access("b", 20)},
                                               {"c", &access("c", 10)},
                                               {"t", &trunk("t", 10, {20})},
                                               {"u", &trunk("u", 0, {10, 20})}};
  const auto name_of = [&](unsigned number) {
    for (const auto& [name, each] : numbers_)
      if (each == number) return name;
    return std::string();
  };
  ASSERT_TRUE(ports["c"]->send(make_frame(broadcast, host(3))));
  ASSERT_TRUE(learned(10, host(3), "c"));
  for (const char* each : {"a", "t", "u"}) ASSERT_TRUE(ports[each]->receive());
  std::set<std::string> verdicts;
  for (const auto& [from, port] : ports) {
    for (const std::uint64_t to : {broadcast, host(3), host(99), std::uint64_t{0x0180C2000000u}}) {
      for (const int control : {-1, 0x6000, 0xA000 | 10, 20, 30}) {
        const frame_bytes frame = make_frame(to, host(100), control, 64);
        const auto said = switch_->trace_l2(numbers_.at(from), frame);
        ASSERT_TRUE(said) << said.error().message();
        verdicts.insert(said->what);
        const std::uint64_t before = count(from, said->what);
        ASSERT_TRUE(port->send(frame));
        EXPECT_TRUE(counts(from, said->what, before + 1)) << from << " " << control;
        for (const l2_verdict::copy& each : said->copies)
          EXPECT_EQ(ports[name_of(each.port)]->receive(), each.bytes) << from << " " << control;
        for (const auto& [name, other] : ports) EXPECT_TRUE(other->silent(0)) << name;
      }
    }
  }
  const std::set<std::string> all{"forwarded", "flooded", "drop_ingress_vlan", "drop_link_local",
                                  "drop_hairpin"};
  EXPECT_EQ(verdicts, all);
  EXPECT_FALSE(switch_->trace_l2(63, make_frame(broadcast, host(1))));
}

TEST_F(switch_test, vlans_are_apart) {
  auto& a = access("a", 10);
  auto& b = access("b", 20);
  auto& c = access("c", 10);
  const frame_bytes frame = make_frame(broadcast, host(1));
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(c.receive(), frame);
  EXPECT_TRUE(b.silent());
  ASSERT_TRUE(learned(10, host(1), "a"));
  EXPECT_FALSE(switch_->fib_find({}, 20, host(1)));
}

TEST_F(switch_test, trunks_push_and_pop_tags) {
  auto& a = access("a", 10);
  auto& b = access("b", 20);
  auto& t = trunk("t", 10, {20, 30});
  auto& u = trunk("u", 0, {10, 20});
  // Flooded from an access port: untagged to t (native), tagged to u.
  const frame_bytes plain = make_frame(broadcast, host(1));
  ASSERT_TRUE(a.send(plain));
  EXPECT_EQ(t.receive(), plain);
  EXPECT_EQ(u.receive(), with_tag(plain, 10));
  EXPECT_TRUE(b.silent());
  // Flooded from a trunk: the tag and its priority stay on the trunk, and go on the access port.
  const frame_bytes tagged = make_frame(broadcast, host(2), 0xA000 | 20, 64);
  ASSERT_TRUE(t.send(tagged));
  EXPECT_EQ(u.receive(), tagged);
  EXPECT_EQ(b.receive(), without_tag(tagged));
  EXPECT_TRUE(a.silent());
  // Unicast both ways.
  ASSERT_TRUE(learned(20, host(2), "t"));
  const frame_bytes back = make_frame(host(2), host(3));
  ASSERT_TRUE(b.send(back));
  EXPECT_EQ(t.receive(), with_tag(back, 20));
  ASSERT_TRUE(learned(20, host(3), "b"));
  const frame_bytes again = make_frame(host(3), host(2), 20, 64);
  ASSERT_TRUE(t.send(again));
  EXPECT_EQ(b.receive(), without_tag(again));
  // Trunk to trunk, as it is.
  const frame_bytes across = make_frame(host(2), host(4), 20, 64);
  ASSERT_TRUE(u.send(across));
  EXPECT_EQ(t.receive(), across);
  const std::map<std::string, std::uint64_t> of_10{
      {"rx_packets", 1}, {"rx_bytes", 60}, {"flooded", 1}, {"forwarded", 0}};
  const std::map<std::string, std::uint64_t> of_20{
      {"rx_packets", 4}, {"rx_bytes", 3 * 64 + 60}, {"flooded", 1}, {"forwarded", 3}};
  EXPECT_TRUE(eventually([&] { return counts_of_vlan(10) == of_10; }));
  EXPECT_TRUE(eventually([&] { return counts_of_vlan(20) == of_20; }));
}

TEST_F(switch_test, priority_tags_leave_as_the_port_wants_them) {
  auto& a = access("a", 10);
  auto& b = access("b", 10);
  auto& t = trunk("t", 0, {10});
  const frame_bytes frame = make_frame(broadcast, host(1), 0xE000, 64);
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(b.receive(), without_tag(frame));
  EXPECT_EQ(t.receive(), with_tag(without_tag(frame), 0xE000 | 10));
}

// What came in may still be on its way elsewhere (a ring between two ports). Red when its tag is
// changed in place.
TEST_F(switch_test, a_frame_that_others_still_hold_is_not_written_to) {
  auto& a = access("a", 10);
  auto& b = access("b", 10);
  auto& c = access("c", 10);
  auto& d = access("d", 20);
  auto& u = trunk("u", 0, {20});
  const frame_bytes frame = make_frame(broadcast, host(1));
  ASSERT_TRUE(a.send(frame));
  ASSERT_TRUE(d.send_from(b));  // c holds it too
  EXPECT_EQ(u.receive(), with_tag(frame, 20));
  EXPECT_EQ(c.receive(), frame);
  const fib_entry to_u{20, host(2), numbers_["u"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&to_u, 1)));
  const frame_bytes unicast = make_frame(host(2), host(3));
  ASSERT_TRUE(a.send(unicast));
  ASSERT_TRUE(d.send_from(b));
  EXPECT_EQ(u.receive(), with_tag(unicast, 20));
  EXPECT_EQ(c.receive(), unicast);
}

// Frames in several buffers: each is flooded, copied, tagged and freed as a whole.
TEST_F(switch_test, segmented_frames_pass_whole) {
  auto& a = access("a", 10);
  auto& b = access("b", 10);
  auto& c = access("c", 10);
  auto& t = trunk("t", 0, {10});
  const frame_bytes flooded = make_frame(broadcast, host(1), -1, 1514);
  ASSERT_TRUE(a.send(flooded, 4));
  EXPECT_EQ(b.receive(), flooded);
  EXPECT_EQ(c.receive(), flooded);
  EXPECT_EQ(t.receive(), with_tag(flooded, 10));
  ASSERT_TRUE(learned(10, host(1), "a"));
  const frame_bytes tagged = make_frame(host(1), host(2), 10, 1200);
  ASSERT_TRUE(t.send(tagged, 3));
  EXPECT_EQ(a.receive(), without_tag(tagged));
  ASSERT_TRUE(learned(10, host(2), "t"));
  const frame_bytes back = make_frame(host(2), host(1), -1, 1000);
  ASSERT_TRUE(a.send(back, 2));
  EXPECT_EQ(t.receive(), with_tag(back, 10));
  EXPECT_TRUE(counts("b", "tx_bytes", 1514));
  EXPECT_TRUE(counts("a", "rx_bytes", 2514));
  // The headers must be in the first buffer: a driver that splits them is not served.
  ASSERT_TRUE(b.send(make_frame(host(1), host(3)), 6));
  EXPECT_TRUE(counts("b", "drop_truncated", 1));
}

TEST_F(switch_test, two_workers_share_a_transmit_queue) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two CPUs";
  cores_ = {0, 1};
  start({});
  auto& a = access("a");
  auto& b = access("b");
  auto& c = access("c");
  const fib_entry to_c{1, host(9), numbers_["c"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&to_c, 1)));
  const auto workers = switch_->workers();
  ASSERT_EQ(workers.size(), 2u);
  EXPECT_EQ(workers[0].queues, (std::vector<std::string>{"a:0", "c:0"}));
  EXPECT_EQ(workers[1].queues, (std::vector<std::string>{"b:0"}));
  EXPECT_TRUE(switch_->ports()[2].tx_shared);
  std::map<frame_bytes, unsigned> awaited;
  for (unsigned i = 0; i < 400; ++i) {
    const frame_bytes from_a = make_frame(host(9), host(1), -1, 60 + i);
    const frame_bytes from_b = make_frame(host(9), host(2), -1, 60 + i);
    ASSERT_TRUE(a.send(from_a));
    ASSERT_TRUE(b.send(from_b));
    ++awaited[from_a];
    ++awaited[from_b];
  }
  for (unsigned i = 0; i < 800; ++i) {
    const auto frame = c.receive();
    ASSERT_TRUE(frame) << i;
    ASSERT_EQ(awaited[*frame]--, 1u);
  }
  // An address that moves from one worker's port to the other's follows the later frame.
  ASSERT_TRUE(a.send(make_frame(host(9), host(5))));
  ASSERT_TRUE(learned(1, host(5), "a"));
  ASSERT_TRUE(b.send(make_frame(host(9), host(5))));
  EXPECT_TRUE(learned(1, host(5), "b"));
}

}  // namespace
}  // namespace coua::dp
