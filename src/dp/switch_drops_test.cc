// SPDX-License-Identifier: Apache-2.0
//
// What is not forwarded, and where it is counted.
#include "dp/test_switch.h"

namespace coua::dp {
namespace {

TEST_F(switch_test, every_drop_has_its_counter) {
  auto& a = access("a", 10);
  auto& b = access("b", 20);
  auto& t = trunk("t", 0, {10});
  frame_bytes group_source = make_frame(broadcast, host(1));
  group_source[6] |= 1;
  ASSERT_TRUE(a.send(group_source));
  ASSERT_TRUE(a.send(make_frame(0x0180C2000003u, host(1))));
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1), 10)));
  ASSERT_TRUE(a.send(frame_bytes(13)));
  ASSERT_TRUE(t.send(make_frame(broadcast, host(1))));
  ASSERT_TRUE(b.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(counts("a", "rx_packets", 4));
  EXPECT_TRUE(counts("b", "drop_no_member", 1));
  EXPECT_TRUE(counts("t", "drop_ingress_vlan", 1));
  EXPECT_TRUE(counts("a", "drop_source_multicast", 1));
  EXPECT_TRUE(counts("a", "drop_link_local", 1));
  EXPECT_TRUE(counts("a", "drop_ingress_vlan", 1));
  EXPECT_TRUE(counts("a", "drop_truncated", 1));
  EXPECT_TRUE(t.silent());

  const auto entry = [&](unsigned n, const std::string& port) {
    const fib_entry fixed{10, host(n), numbers_[port], true, 0};
    ASSERT_TRUE(switch_->fib_insert(std::span(&fixed, 1)));
  };
  entry(50, "a");
  entry(51, "b");
  entry(52, "t");
  port_config down = config_of("t");
  down.mode = vlan_mode::trunk;
  down.native_vlan = 0;
  down.tagged = {10};
  down.enabled = false;
  ASSERT_TRUE(switch_->update_port(down));
  for (const unsigned n : {50, 51, 52}) ASSERT_TRUE(a.send(make_frame(host(n), host(1))));
  EXPECT_TRUE(counts("a", "rx_packets", 7));
  EXPECT_TRUE(counts("a", "drop_port_down", 1));
  EXPECT_TRUE(counts("a", "drop_hairpin", 1));
  EXPECT_TRUE(counts("a", "drop_egress_vlan", 1));
  EXPECT_TRUE(b.silent());
}

TEST_F(switch_test, a_full_transmit_queue_drops_and_counts) {
  auto& a = access("a");
  rings_["b"] = std::make_unique<test_ring_port>("b", 64);
  add(config_of("b"));
  const fib_entry to_b{1, host(2), numbers_["b"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&to_b, 1)));
  for (unsigned i = 0; i < 200; ++i) ASSERT_TRUE(a.send(make_frame(host(2), host(1))));
  EXPECT_TRUE(counts("a", "forwarded", 200));
  EXPECT_TRUE(
      eventually([&] { return count("b", "tx_packets") + count("b", "drop_tx_full") == 200; }));
  EXPECT_TRUE(counts("b", "tx_packets", 63));  // what a ring of 64 holds
  EXPECT_TRUE(counts("b", "tx_bytes", 63 * 60));
}

// Red when a lost copy is not counted, or takes the frame of the other ports with it.
TEST_F(switch_test, a_flood_without_packets_for_its_copies_counts_them) {
  auto& a = access("a", 10);
  auto& b = access("b", 10);
  auto& t = trunk("t", 0, {10});
  auto& u = trunk("u", 0, {10});
  test_ring_port::exhaust(1);
  const frame_bytes frame = make_frame(broadcast, host(1));
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(b.receive(), frame);
  test_ring_port::relax();
  EXPECT_TRUE(t.silent());
  EXPECT_TRUE(u.silent());
  EXPECT_TRUE(counts("a", "flooded", 1));
  EXPECT_TRUE(counts("a", "flood_copies", 1));
  EXPECT_TRUE(counts("a", "drop_no_mbuf", 2));  // one per port that wanted it
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(t.receive(), with_tag(frame, 10));
}

TEST_F(switch_test, a_frame_that_cannot_take_a_tag_is_dropped_and_counted) {
  auto& a = access("a", 10);
  auto& b = access("b", 10);
  auto& c = access("c", 10);
  auto& d = access("d", 20);
  auto& t = trunk("t", 0, {20});
  const fib_entry to_t{20, host(2), numbers_["t"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&to_t, 1)));
  d.leave_no_headroom();
  ASSERT_TRUE(d.send(make_frame(host(2), host(1))));
  EXPECT_TRUE(counts("d", "drop_no_headroom", 1));
  // One that others hold would have to be copied.
  const frame_bytes shared = make_frame(host(2), host(1));
  ASSERT_TRUE(a.send(shared));
  ASSERT_TRUE(eventually([&] { return b.came_out() == 1 && c.came_out() == 1; }));
  test_ring_port::exhaust(0);
  ASSERT_TRUE(d.send_from(b));
  EXPECT_TRUE(counts("d", "drop_no_headroom", 2));
  test_ring_port::relax();
  EXPECT_EQ(c.receive(), shared);
  EXPECT_TRUE(t.silent());
  EXPECT_EQ(count("d", "forwarded"), 0u);
}

// Red when such a frame counts as flooded, or as one for whose copies there were no packets.
TEST_F(switch_test, a_flood_that_cannot_take_a_tag_is_a_drop_of_its_frame) {
  auto& a = access("a", 10);
  auto& t = trunk("t", 0, {10});
  auto& u = trunk("u", 0, {10});
  a.leave_no_headroom();
  const frame_bytes frame = make_frame(broadcast, host(1));
  ASSERT_TRUE(a.send(frame));
  EXPECT_TRUE(counts("a", "drop_no_headroom", 1));
  EXPECT_EQ(count("a", "flooded"), 0u);
  EXPECT_EQ(count("a", "drop_no_mbuf"), 0u);
  EXPECT_TRUE(t.silent());
  EXPECT_TRUE(u.silent());
  // The copy for the trunks has room, whatever the frame has.
  auto& b = access("b", 10);
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(t.receive(), with_tag(frame, 10));
  EXPECT_EQ(u.receive(), with_tag(frame, 10));
  EXPECT_EQ(b.receive(), frame);
  EXPECT_EQ(count("a", "drop_no_headroom"), 1u);
}

// As net_tap does, the driver stops at a frame that is too long. Red when the frames behind it are
// dropped with it.
TEST_F(switch_test, a_frame_too_long_for_its_port_is_dropped_alone) {
  auto& a = access("a");
  auto& b = access("b");
  const fib_entry to_b{1, host(2), numbers_["b"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&to_b, 1)));
  b.refuse_longer_than(1522);
  std::vector<frame_bytes> fitting;
  for (unsigned i = 0; i < 100; ++i) {
    const bool too_long = i % 3 == 2;
    const frame_bytes frame = make_frame(host(2), host(1), -1, too_long ? 1523 : 60 + i);
    ASSERT_TRUE(a.send(frame));
    if (!too_long) fitting.push_back(frame);
  }
  for (const frame_bytes& frame : fitting) ASSERT_EQ(b.receive(), frame);
  EXPECT_TRUE(b.silent());
  EXPECT_TRUE(counts("b", "drop_tx_too_long", 33));
  EXPECT_TRUE(counts("b", "tx_packets", 67));
  EXPECT_EQ(count("b", "drop_tx_full"), 0u);
  std::uint64_t bytes = 0;
  for (const frame_bytes& frame : fitting) bytes += frame.size();
  EXPECT_TRUE(counts("b", "tx_bytes", bytes));
}

}  // namespace
}  // namespace coua::dp
