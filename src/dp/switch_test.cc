// SPDX-License-Identifier: Apache-2.0
//
// The whole switch, its threads included, with rings for ports: no privileges, no huge pages.
#include "dp/switch.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "dp/bench_hooks.h"
#include "dp/test_ring_port.h"

namespace coua::dp {
namespace {

constexpr std::uint64_t host(unsigned n) { return 0x020000000000u + n; }
constexpr std::uint64_t broadcast = 0xFFFFFFFFFFFFu;

void put_mac(frame_bytes& frame, std::uint64_t mac) {
  for (int shift = 40; shift >= 0; shift -= 8)
    frame.push_back(static_cast<std::uint8_t>(mac >> shift));
}

// An untagged frame, or one with a tag of this control word.
frame_bytes make_frame(std::uint64_t to, std::uint64_t from, int control = -1, unsigned size = 60) {
  frame_bytes frame;
  put_mac(frame, to);
  put_mac(frame, from);
  if (control >= 0)
    for (const int byte : {0x81, 0x00, control >> 8, control & 0xFF})
      frame.push_back(static_cast<std::uint8_t>(byte));
  frame.push_back(0x08);
  frame.push_back(0x00);
  while (frame.size() < size) frame.push_back(static_cast<std::uint8_t>(frame.size() * 7 + from));
  return frame;
}

frame_bytes without_tag(frame_bytes frame) {
  frame.erase(frame.begin() + 12, frame.begin() + 16);
  return frame;
}
frame_bytes with_tag(frame_bytes frame, unsigned control) {
  const std::uint8_t tag[4] = {0x81, 0x00, static_cast<std::uint8_t>(control >> 8),
                               static_cast<std::uint8_t>(control)};
  frame.insert(frame.begin() + 12, tag, tag + 4);
  return frame;
}

std::uint64_t value(const std::vector<counter>& counters, const std::string& name) {
  for (const counter& each : counters)
    if (each.name == name) return each.value;
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

template <typename Condition>
bool eventually(const Condition& condition, unsigned ms = 3000) {
  for (unsigned i = 0; i < ms; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return condition();
}

class switch_test : public ::testing::Test {
 protected:
  void SetUp() override { start({}); }
  void start(switch_config config) {
    switch_.reset();
    eal_params eal;
    eal.huge_pages = false;
    eal.memory_mib = 256;
    eal.cores = cores_;
    if (config.fib_entries == switch_config{}.fib_entries) config.fib_entries = 4000;
    auto made = l2_switch::create(eal, config);
    ASSERT_TRUE(made) << made.error().message();
    switch_ = std::move(*made);
  }
  void TearDown() override {
    check_sums();
    switch_.reset();
    rings_.clear();
    EXPECT_EQ(test_ring_port::in_use(), 0u) << "frames leaked";
  }

  port_config config_of(const std::string& name) {
    port_config config;
    config.name = name;
    config.devargs = rings_.at(name)->devargs();
    config.rx_descriptors = config.tx_descriptors = 64;
    return config;
  }
  test_ring_port& access(const std::string& name, std::uint16_t vlan = 1) {
    rings_[name] = std::make_unique<test_ring_port>(name);
    port_config config = config_of(name);
    config.native_vlan = vlan;
    add(config);
    return *rings_[name];
  }
  test_ring_port& trunk(const std::string& name, std::uint16_t native,
                        std::vector<std::uint16_t> tagged) {
    rings_[name] = std::make_unique<test_ring_port>(name);
    port_config config = config_of(name);
    config.mode = vlan_mode::trunk;
    config.native_vlan = native;
    config.tagged = std::move(tagged);
    add(config);
    return *rings_[name];
  }
  void add(const port_config& config) {
    const auto number = switch_->add_port(config);
    ASSERT_TRUE(number) << number.error().message();
    numbers_[config.name] = *number;
  }
  std::uint64_t count(const std::string& port, const std::string& name) {
    const auto counters = switch_->port_counters(port);
    return counters ? value(*counters, name) : 0;
  }
  bool learned(std::uint16_t vlan, std::uint64_t mac, const std::string& port) {
    return eventually([&] {
      const auto entry = switch_->fib_find(vlan, mac);
      return entry && entry->port == numbers_[port];
    });
  }
  // What docs promise of the counters (dp/counters.h).
  void check_sums() {
    if (!switch_) return;
    std::vector<counter> t;
    ASSERT_TRUE(eventually([&] {
      t = switch_->totals();
      std::uint64_t in = value(t, "forwarded") + value(t, "flooded");
      for (const char* drop : {"drop_truncated", "drop_ingress_vlan", "drop_source_multicast",
                               "drop_link_local", "drop_hairpin", "drop_egress_vlan",
                               "drop_port_down", "drop_no_member", "drop_no_headroom"})
        in += value(t, drop);
      return value(t, "rx_packets") == in &&
             value(t, "forwarded") + value(t, "flood_copies") ==
                 value(t, "tx_packets") + value(t, "drop_tx_full") + value(t, "drop_tx_too_long");
    })) << "rx "
        << value(t, "rx_packets") << " forwarded " << value(t, "forwarded") << " flooded "
        << value(t, "flooded") << " copies " << value(t, "flood_copies") << " tx "
        << value(t, "tx_packets") << " full " << value(t, "drop_tx_full");
  }

  std::map<std::string, std::unique_ptr<test_ring_port>> rings_;
  std::map<std::string, unsigned> numbers_;
  std::vector<unsigned> cores_;
  std::unique_ptr<l2_switch> switch_;
};

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
  EXPECT_EQ(count("a", "flooded"), 1u);
  EXPECT_EQ(count("a", "flood_copies"), 2u);
  EXPECT_EQ(count("b", "forwarded"), 1u);
  EXPECT_EQ(count("a", "tx_bytes"), 1514u);
}

TEST_F(switch_test, a_mixed_burst_goes_where_each_frame_belongs) {
  auto& a = access("a");
  auto& b = access("b");
  auto& c = access("c");
  ASSERT_TRUE(b.send(make_frame(broadcast, host(2))));
  ASSERT_TRUE(c.send(make_frame(broadcast, host(3))));
  ASSERT_TRUE(learned(1, host(2), "b"));
  ASSERT_TRUE(learned(1, host(3), "c"));
  for (auto* port : {&a, &b, &c})
    while (port->receive(20)) {
    }
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

TEST_F(switch_test, vlans_are_apart) {
  auto& a = access("a", 10);
  auto& b = access("b", 20);
  auto& c = access("c", 10);
  const frame_bytes frame = make_frame(broadcast, host(1));
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(c.receive(), frame);
  EXPECT_TRUE(b.silent());
  ASSERT_TRUE(learned(10, host(1), "a"));
  EXPECT_FALSE(switch_->fib_find(20, host(1)));
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
  EXPECT_TRUE(eventually([&] { return count("a", "rx_packets") == 4; }));
  EXPECT_TRUE(eventually([&] { return count("b", "drop_no_member") == 1; }));
  EXPECT_TRUE(eventually([&] { return count("t", "drop_ingress_vlan") == 1; }));
  EXPECT_EQ(count("a", "drop_source_multicast"), 1u);
  EXPECT_EQ(count("a", "drop_link_local"), 1u);
  EXPECT_EQ(count("a", "drop_ingress_vlan"), 1u);
  EXPECT_EQ(count("a", "drop_truncated"), 1u);
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
  EXPECT_TRUE(eventually([&] { return count("a", "rx_packets") == 7; }));
  EXPECT_TRUE(eventually([&] { return count("a", "drop_port_down") == 1; }));
  EXPECT_EQ(count("a", "drop_hairpin"), 1u);
  EXPECT_EQ(count("a", "drop_egress_vlan"), 1u);
  EXPECT_TRUE(b.silent());
}

TEST_F(switch_test, a_full_transmit_queue_drops_and_counts) {
  auto& a = access("a");
  rings_["b"] = std::make_unique<test_ring_port>("b", 64);
  add(config_of("b"));
  const fib_entry to_b{1, host(2), numbers_["b"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&to_b, 1)));
  for (unsigned i = 0; i < 200; ++i) ASSERT_TRUE(a.send(make_frame(host(2), host(1))));
  EXPECT_TRUE(eventually([&] { return count("a", "forwarded") == 200; }));
  EXPECT_TRUE(
      eventually([&] { return count("b", "tx_packets") + count("b", "drop_tx_full") == 200; }));
  EXPECT_EQ(count("b", "tx_packets"), 63u);  // what a ring of 64 holds
  EXPECT_EQ(count("b", "tx_bytes"), 63u * 60);
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
  EXPECT_EQ(count("a", "flooded"), 1u);
  EXPECT_EQ(count("a", "flood_copies"), 1u);
  EXPECT_EQ(count("a", "drop_no_mbuf"), 2u);  // one per port that wanted it
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(t.receive(), with_tag(frame, 10));
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
  EXPECT_EQ(count("b", "tx_bytes"), 1514u);
  EXPECT_EQ(count("a", "rx_bytes"), 2514u);
  // The headers must be in the first buffer: a driver that splits them is not served.
  ASSERT_TRUE(b.send(make_frame(host(1), host(3)), 6));
  EXPECT_TRUE(eventually([&] { return count("b", "drop_truncated") == 1; }));
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
  EXPECT_EQ(count("b", "drop_tx_too_long"), 33u);
  EXPECT_EQ(count("b", "tx_packets"), 67u);
  EXPECT_EQ(count("b", "drop_tx_full"), 0u);
  std::uint64_t bytes = 0;
  for (const frame_bytes& frame : fitting) bytes += frame.size();
  EXPECT_EQ(count("b", "tx_bytes"), bytes);
}

TEST_F(switch_test, learns_as_fast_as_addresses_come) {
  switch_config config;
  config.fib_entries = 40'000;
  start(config);
  auto& a = access("a");
  constexpr unsigned n = 30'000;
  for (unsigned i = 0; i < n; ++i)
    while (!a.send(make_frame(broadcast, host(i)))) std::this_thread::yield();
  // What a full ring lost comes again with the next frame of the host.
  for (unsigned round = 0; round < 20 && switch_->fib().entries < n; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    for (unsigned i = 0; i < n; ++i)
      while (!a.send(make_frame(broadcast, host(i)))) std::this_thread::yield();
  }
  EXPECT_TRUE(eventually([&] { return switch_->fib().entries == n; }));
  EXPECT_EQ(switch_->ports()[0].learned, n);
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

TEST_F(switch_test, moves_limits_and_static_entries) {
  auto& a = access("a");
  auto& b = access("b");
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  ASSERT_TRUE(learned(1, host(1), "a"));
  ASSERT_TRUE(b.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(learned(1, host(1), "b"));
  EXPECT_EQ(switch_->fib().moved, 1u);

  port_config limited = config_of("a");
  limited.mac_limit = 1;
  ASSERT_TRUE(switch_->update_port(limited));
  for (unsigned n = 10; n < 13; ++n) ASSERT_TRUE(a.send(make_frame(broadcast, host(n))));
  EXPECT_TRUE(eventually([&] { return switch_->fib().limited >= 2; }));
  EXPECT_EQ(switch_->ports()[0].learned, 1u);

  const fib_entry fixed{1, host(20), numbers_["a"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&fixed, 1)));
  ASSERT_TRUE(b.send(make_frame(broadcast, host(20))));
  EXPECT_TRUE(eventually([&] { return count("b", "source_static_elsewhere") == 1; }));
  EXPECT_TRUE(learned(1, host(20), "a"));
}

TEST_F(switch_test, flushes_by_port_vlan_and_address) {
  auto& a = access("a", 10);
  auto& b = access("b", 20);
  for (unsigned n = 1; n <= 20; ++n) {
    ASSERT_TRUE(a.send(make_frame(broadcast, host(n))));
    ASSERT_TRUE(b.send(make_frame(broadcast, host(n))));
  }
  ASSERT_TRUE(eventually([&] { return switch_->fib().entries == 40; }));
  fib_filter by_mac;
  by_mac.mac = host(1);
  EXPECT_EQ(switch_->fib_flush(by_mac).value(), 2u);
  fib_filter by_vlan;
  by_vlan.vlan = 20;
  EXPECT_EQ(switch_->fib_flush(by_vlan).value(), 19u);
  fib_filter by_port;
  by_port.port = numbers_["a"];
  std::size_t dumped = 0;
  ASSERT_TRUE(switch_->fib_dump(by_port, [&](std::span<const fib_entry> part) {
    dumped += part.size();
    return true;
  }));
  EXPECT_EQ(dumped, 19u);
  EXPECT_EQ(switch_->fib_flush(by_port).value(), 19u);
  EXPECT_EQ(switch_->fib().entries, 0u);
}

TEST_F(switch_test, entries_of_a_removed_or_disabled_port_go) {
  auto& a = access("a");
  access("b");
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  ASSERT_TRUE(learned(1, host(1), "a"));
  port_config off = config_of("a");
  off.enabled = false;
  ASSERT_TRUE(switch_->update_port(off));
  EXPECT_TRUE(eventually([&] { return switch_->fib().entries == 0; }));
  off.enabled = true;
  ASSERT_TRUE(switch_->update_port(off));
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  ASSERT_TRUE(learned(1, host(1), "a"));
  const fib_entry fixed{1, host(9), numbers_["a"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&fixed, 1)));
  ASSERT_TRUE(switch_->remove_port("a"));
  EXPECT_EQ(switch_->fib().entries, 0u);
  EXPECT_FALSE(switch_->remove_port("a"));
}

TEST_F(switch_test, a_port_that_loses_its_link_loses_its_entries) {
  auto& a = access("a");
  auto& b = access("b");
  ASSERT_TRUE(b.send(make_frame(broadcast, host(2))));
  ASSERT_TRUE(learned(1, host(2), "b"));
  EXPECT_TRUE(a.receive());
  const fib_entry fixed{1, host(3), numbers_["b"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&fixed, 1)));
  b.set_link(false);
  EXPECT_TRUE(eventually([&] { return switch_->fib().entries == 1; }));
  EXPECT_FALSE(switch_->ports()[1].link_up);
  ASSERT_TRUE(a.send(make_frame(host(3), host(1))));
  ASSERT_TRUE(a.send(make_frame(host(2), host(1))));
  EXPECT_TRUE(eventually([&] { return count("a", "drop_port_down") == 1; }));
  EXPECT_TRUE(eventually([&] { return count("a", "drop_no_member") == 1; }));
  b.set_link(true);
  EXPECT_TRUE(eventually([&] { return switch_->ports()[1].link_up; }));
  const frame_bytes again = make_frame(host(3), host(1));
  ASSERT_TRUE(a.send(again));
  EXPECT_EQ(b.receive(), again);
}

TEST_F(switch_test, entries_of_a_vlan_that_a_port_leaves_go) {
  auto& t = trunk("t", 0, {10, 20});
  for (const int vlan : {10, 20}) ASSERT_TRUE(t.send(make_frame(broadcast, host(1), vlan)));
  ASSERT_TRUE(learned(10, host(1), "t"));
  ASSERT_TRUE(learned(20, host(1), "t"));
  port_config config = config_of("t");
  config.mode = vlan_mode::trunk;
  config.native_vlan = 0;
  config.tagged = {20};
  ASSERT_TRUE(switch_->update_port(config));
  EXPECT_TRUE(eventually([&] { return switch_->fib().entries == 1; }));
  EXPECT_TRUE(switch_->fib_find(20, host(1)));
}

TEST_F(switch_test, ports_come_and_go_under_traffic) {
  auto& a = access("a");
  access("b");
  std::atomic<bool> stop{false};
  std::thread traffic([&] {
    for (unsigned i = 0; !stop; ++i) {
      const bool sent =
          a.send(make_frame(i % 3 == 0 ? broadcast : host(1000 + i % 7), host(i % 50)));
      while (rings_["b"]->receive(0)) {
      }
      if (!sent) std::this_thread::yield();
    }
  });
  rings_["c"] = std::make_unique<test_ring_port>("c");
  for (unsigned i = 0; i < 100; ++i) {
    add(config_of("c"));
    ASSERT_TRUE(rings_["c"]->send(make_frame(broadcast, host(1000 + i % 7))));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto gone = switch_->remove_port("c");
    ASSERT_TRUE(gone) << gone.error().message();
    rings_["c"]->make();
  }
  stop = true;
  traffic.join();
  EXPECT_TRUE(eventually([&] { return a.waiting() == 0; }));
  while (rings_["b"]->receive(20)) {
  }
  check_sums();
  ASSERT_TRUE(switch_->remove_port("a"));
  ASSERT_TRUE(switch_->remove_port("b"));
  EXPECT_EQ(packets_in_use(*switch_), 0u);
  EXPECT_EQ(switch_->fib().entries, 0u);
  add(config_of("c"));  // its device was made a last time, and goes with the port
}

TEST_F(switch_test, ports_with_one_transmit_queue_are_shared_or_not_by_the_number_of_workers) {
  access("a");
  const port_status status = switch_->ports()[0];
  EXPECT_EQ(status.tx_shared, switch_->workers().size() > 1);
  EXPECT_EQ(status.driver, "net_ring");
  EXPECT_TRUE(status.link_up);
}

TEST_F(switch_test, virtual_devices_are_probed_at_run_time) {
  port_config config;
  config.name = "null";
  config.devargs = "net_null7,no-rx=1";
  add(config);
  const auto twice = switch_->add_port(config);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, errc::exists);
  config.name = "other";
  EXPECT_EQ(switch_->add_port(config).error().code, errc::exists);
  config.devargs = "net_nonsense0";
  const auto unknown = switch_->add_port(config);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("port other"), std::string::npos);
  EXPECT_NE(unknown.error().message().find("net_nonsense0"), std::string::npos);
  ASSERT_TRUE(switch_->remove_port("null"));
  config.devargs = "net_null7,no-rx=1";
  add(config);
  config.mtu = 60;
  EXPECT_EQ(switch_->update_port(config).error().code, errc::invalid);
  config.mtu = 1500;
  config.rx_descriptors = 77;
  EXPECT_EQ(switch_->update_port(config).error().code, errc::unsupported);
}

TEST_F(switch_test, a_port_that_does_not_start_says_what_its_driver_says) {
  const auto expect = [&](const std::string& devargs, const std::string& reason) {
    port_config config;
    config.name = "bad";
    config.devargs = devargs;
    const auto added = switch_->add_port(config);
    ASSERT_FALSE(added) << devargs;
    EXPECT_NE(added.error().what.find(reason), std::string::npos) << added.error().message();
  };
  expect("net_af_packet9,iface=nosuch0", "No such device");
  expect("net_pcap9,rx_pcap=/nonexistent.pcap", "/nonexistent.pcap: No such file");
  expect("net_pcap9", "No rx or tx queues provided");
  expect("nosuch9", "no driver for 'nosuch9'");
}

TEST_F(switch_test, bad_entries_are_refused_with_their_index) {
  access("a");
  std::vector<fib_entry> entries(5, {1, host(1), numbers_["a"], false, 0});
  for (unsigned i = 0; i < 5; ++i) entries[i].mac = host(i);
  entries[3].port = 40;
  const auto done = switch_->fib_insert(entries);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message().find("entry 3"), std::string::npos) << done.error().message();
  EXPECT_EQ(switch_->fib().entries, 3u);
  entries[3] = {1, broadcast, numbers_["a"], false, 0};
  EXPECT_EQ(switch_->fib_insert(entries).error().code, errc::invalid);
  entries[3] = {4095, host(3), numbers_["a"], false, 0};
  EXPECT_EQ(switch_->fib_insert(entries).error().code, errc::invalid);
}

TEST_F(switch_test, too_few_packets_say_how_much_is_missing) {
  switch_config config;
  config.mbufs = 2'000'000;
  start(config);
  rings_["a"] = std::make_unique<test_ring_port>("a");
  const auto failed = switch_->add_port(config_of("a"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, errc::no_memory);
  EXPECT_NE(failed.error().message().find("raise memory.packet_mib"), std::string::npos)
      << failed.error().message();
  EXPECT_TRUE(switch_->ports().empty());
}

}  // namespace
}  // namespace coua::dp
