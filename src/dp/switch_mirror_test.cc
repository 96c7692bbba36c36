// SPDX-License-Identifier: Apache-2.0
//
// Mirror ports: what they send, and that nothing else changes for anybody.
#include "dp/test_switch.h"

namespace coua::dp {
namespace {

class mirror_test : public switch_test {
 protected:
  test_ring_port& mirror(const std::string& name, mirror_sources sources, unsigned size = 1024) {
    rings_[name] = std::make_unique<test_ring_port>(name, size);
    port_config config = config_of(name);
    config.mirror = std::move(sources);
    add(config);
    return *rings_[name];
  }
};

TEST_F(mirror_test, of_what_a_port_receives_and_sends) {
  auto& a = access("a");
  auto& b = access("b");
  auto& in = mirror("in", {{"a"}, {}, {}});
  auto& out = mirror("out", {{}, {"a"}, {}});
  auto& both = mirror("both", {{"a"}, {"a"}, {}});
  const frame_bytes from_a = make_frame(broadcast, host(1));
  ASSERT_TRUE(a.send(from_a));
  EXPECT_EQ(b.receive(), from_a);
  EXPECT_EQ(in.receive(), from_a);
  EXPECT_EQ(both.receive(), from_a);
  ASSERT_TRUE(learned(1, host(1), "a"));
  const frame_bytes from_b = make_frame(host(1), host(2), -1, 200);
  ASSERT_TRUE(b.send(from_b));
  EXPECT_EQ(a.receive(), from_b);
  EXPECT_EQ(out.receive(), from_b);
  EXPECT_EQ(both.receive(), from_b);
  for (auto* each : {&a, &b, &in, &out, &both}) EXPECT_TRUE(each->silent());
  EXPECT_TRUE(counts("both", "mirrored", 2));
  EXPECT_TRUE(counts("both", "tx_packets", 2));
}

TEST_F(mirror_test, what_is_dropped_is_seen_and_retagging_does_not_show) {
  auto& a = access("a", 10);
  auto& t = trunk("t", 0, {10});
  auto& m = mirror("m", {{"a"}, {}, {}});
  const frame_bytes foreign = make_frame(broadcast, host(1), 99);
  ASSERT_TRUE(a.send(foreign));
  EXPECT_EQ(m.receive(), foreign);
  EXPECT_TRUE(counts("a", "drop_ingress_vlan", 1));
  const frame_bytes frame = make_frame(broadcast, host(1));
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(t.receive(), with_tag(frame, 10));
  EXPECT_EQ(m.receive(), frame);
}

TEST_F(mirror_test, of_a_vlan) {
  auto& a = access("a", 10);
  auto& b = access("b", 20);
  trunk("t", 0, {10, 20});
  auto& m = mirror("m", {{}, {}, {20}});
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  const frame_bytes frame = make_frame(broadcast, host(2));
  ASSERT_TRUE(b.send(frame));
  EXPECT_EQ(m.receive(), frame);
  const frame_bytes tagged = make_frame(broadcast, host(3), 20);
  ASSERT_TRUE(rings_["t"]->send(tagged));
  EXPECT_EQ(m.receive(), tagged);
  EXPECT_TRUE(m.silent());
}

TEST_F(mirror_test, a_mirror_port_is_in_no_vlan) {
  auto& a = access("a");
  auto& m = mirror("m", {{"nobody"}, {}, {}});
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(counts("a", "drop_no_member", 1));
  ASSERT_TRUE(m.send(make_frame(broadcast, host(2))));
  EXPECT_TRUE(a.silent(100) && m.silent());
  EXPECT_FALSE(switch_->fib_find({}, 1, host(2)));
  // It becomes a port like others, and a mirror again.
  ASSERT_TRUE(switch_->update_port(config_of("m")));
  EXPECT_TRUE(a.receive()) << "what waited in its driver";
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(m.receive());
}

TEST_F(mirror_test, a_full_mirror_port_costs_copies_only) {
  auto& a = access("a");
  auto& b = access("b");
  mirror("m", {{"a"}, {}, {}}, 64);
  const fib_entry to_b{1, host(2), numbers_["b"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&to_b, 1)));
  for (unsigned i = 0; i < 300; ++i) ASSERT_TRUE(a.send(make_frame(host(2), host(1))));
  for (unsigned i = 0; i < 300; ++i) ASSERT_TRUE(b.receive());
  EXPECT_TRUE(counts("m", "mirrored", 300));
  EXPECT_TRUE(counts("m", "tx_packets", 63));
  EXPECT_TRUE(counts("m", "drop_tx_full", 237));
  EXPECT_EQ(count("b", "drop_tx_full"), 0u);
}

TEST_F(mirror_test, what_was_not_sent_is_not_mirrored) {
  auto& a = access("a");
  rings_["b"] = std::make_unique<test_ring_port>("b", 64);
  add(config_of("b"));
  auto& m = mirror("m", {{}, {"b"}, {}});
  const fib_entry to_b{1, host(2), numbers_["b"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&to_b, 1)));
  for (unsigned i = 0; i < 300; ++i) ASSERT_TRUE(a.send(make_frame(host(2), host(1))));
  EXPECT_TRUE(counts("b", "tx_packets", 63));
  EXPECT_TRUE(counts("b", "drop_tx_full", 237));
  for (unsigned i = 0; i < 63; ++i) ASSERT_TRUE(m.receive());
  EXPECT_TRUE(m.silent());
  EXPECT_TRUE(counts("m", "mirrored", 63));
}

TEST_F(mirror_test, a_tag_that_the_driver_took_out_is_in_the_copy) {
  auto& a = trunk("a", 1, {20});
  auto& all = mirror("all", {{"a"}, {}, {}});
  auto& of_20 = mirror("of20", {{}, {}, {20}});
  const frame_bytes frame = make_frame(broadcast, host(1), -1, 100);
  ASSERT_TRUE(a.send_stripped(frame, 0xA000 | 20));
  EXPECT_EQ(all.receive(), with_tag(frame, 0xA000 | 20));
  EXPECT_EQ(of_20.receive(), with_tag(frame, 0xA000 | 20));
}

TEST_F(mirror_test, without_packets_for_copies_the_frames_go_on) {
  auto& a = access("a");
  auto& b = access("b");
  mirror("m", {{"a"}, {}, {}});
  test_ring_port::exhaust(1);
  const frame_bytes frame = make_frame(broadcast, host(1));
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(b.receive(), frame);
  EXPECT_TRUE(counts("m", "drop_mirror_no_mbuf", 1));
  test_ring_port::relax();
}

TEST_F(mirror_test, captures_and_mirrors_do_not_disturb_each_other) {
  auto& a = access("a");
  auto& b = access("b");
  auto& m = mirror("m", {{"a"}, {"a"}, {}});
  capture_spec spec;
  spec.ports = {"a", "m"};
  auto running = switch_->start_capture(spec);
  ASSERT_TRUE(running) << running.error().message();
  const frame_bytes frame = make_frame(broadcast, host(1));
  ASSERT_TRUE(a.send(frame));
  EXPECT_TRUE(b.receive() && m.receive());
  std::size_t seen = 0;
  EXPECT_TRUE(eventually([&] {
    seen += (*running)->read([](const captured_packet&) { return true; });
    return seen == 2;  // received by a, sent by m
  }));
  running->reset();
  ASSERT_TRUE(a.send(frame));
  EXPECT_TRUE(b.receive() && m.receive());
}

}  // namespace
}  // namespace coua::dp
