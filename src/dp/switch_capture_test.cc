// SPDX-License-Identifier: Apache-2.0
//
// What a capture shows of frames that pass the whole switch.
#include <map>

#include "dp/test_switch.h"

namespace coua::dp {
namespace {

struct shown {
  std::string port;
  capture_direction direction;
  std::uint16_t vlan;
  std::string drop;
  frame_bytes bytes;
  bool operator==(const shown&) const = default;
};

class capture_test : public switch_test {
 protected:
  std::unique_ptr<capture> begin(const capture_spec& spec) {
    auto made = switch_->start_capture(spec);
    EXPECT_TRUE(made) << made.error().message();
    return made ? std::move(*made) : nullptr;
  }
  /// Waits for `n` frames; then for none to come beyond them.
  static std::vector<shown> read(capture& from, std::size_t n) {
    std::vector<shown> found;
    const auto take = [&](const captured_packet& one) {
      found.push_back({from.interfaces().at(one.interface),
                       one.direction,
                       one.vlan,
                       one.drop != nullptr ? one.drop : "",
                       {one.bytes.begin(), one.bytes.end()}});
      return true;
    };
    EXPECT_TRUE(eventually([&] {
      from.read(take);
      return found.size() >= n;
    })) << found.size()
        << " of " << n;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    from.read(take);
    EXPECT_EQ(found.size(), n);
    found.resize(std::max(found.size(), n));
    return found;
  }
  static constexpr auto in = capture_direction::in;
  static constexpr auto out = capture_direction::out;
};

TEST_F(capture_test, frames_as_they_come_and_as_they_leave) {
  auto& a = access("a", 10);
  auto& b = access("b", 10);
  auto& t = trunk("t", 0, {10});
  const auto all = begin({});
  const frame_bytes frame = make_frame(broadcast, host(1));
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(b.receive(), frame);
  EXPECT_EQ(t.receive(), with_tag(frame, 10));
  const auto found = read(*all, 3);
  EXPECT_EQ(found[0], (shown{"a", in, 10, "", frame}));
  EXPECT_EQ(found[1], (shown{"b", out, 10, "", frame}));
  EXPECT_EQ(found[2], (shown{"t", out, 10, "", with_tag(frame, 10)}));
}

TEST_F(capture_test, ports_directions_and_vlans) {
  auto& a = access("a", 10);
  auto& b = access("b", 10);
  auto& c = access("c", 20);
  access("d", 20);
  capture_spec spec;
  spec.ports = {"a"};
  const auto of_a = begin(spec);
  spec.out = false;
  const auto into_a = begin(spec);
  spec = {};
  spec.vlans = {{20, 20}};
  spec.in = false;
  const auto vlan_out = begin(spec);
  const frame_bytes from_a = make_frame(broadcast, host(1));
  const frame_bytes from_b = make_frame(host(1), host(2));
  const frame_bytes from_c = make_frame(broadcast, host(3));
  ASSERT_TRUE(a.send(from_a));
  ASSERT_TRUE(learned(10, host(1), "a"));
  ASSERT_TRUE(b.send(from_b));
  ASSERT_TRUE(c.send(from_c));
  EXPECT_EQ(read(*of_a, 2),
            (std::vector<shown>{{"a", in, 10, "", from_a}, {"a", out, 10, "", from_b}}));
  EXPECT_EQ(read(*into_a, 1), (std::vector<shown>{{"a", in, 10, "", from_a}}));
  EXPECT_EQ(read(*vlan_out, 1), (std::vector<shown>{{"d", out, 20, "", from_c}}));
}

TEST_F(capture_test, drops_with_their_reasons) {
  auto& a = access("a", 10);
  capture_spec spec;
  spec.drops = {"any"};
  const auto any = begin(spec);
  spec.drops = {"link_local"};
  const auto some = begin(spec);
  const auto traffic = begin({});
  frame_bytes group_source = make_frame(broadcast, host(1));
  group_source[6] |= 1;
  const frame_bytes local = make_frame(0x0180C2000003u, host(1));
  const frame_bytes tagged = make_frame(broadcast, host(1), 11);
  const frame_bytes alone = make_frame(broadcast, host(1));
  ASSERT_TRUE(a.send(group_source));
  ASSERT_TRUE(a.send(local));
  ASSERT_TRUE(a.send(tagged));
  ASSERT_TRUE(a.send(frame_bytes(13)));
  ASSERT_TRUE(a.send(alone));
  const auto found = read(*any, 5);
  std::map<std::string, frame_bytes> by_reason;
  for (const shown& each : found) by_reason[each.drop] = each.bytes;
  EXPECT_EQ(by_reason["drop_source_multicast"], group_source);
  EXPECT_EQ(by_reason["drop_link_local"], local);
  EXPECT_EQ(by_reason["drop_ingress_vlan"], tagged);
  EXPECT_EQ(by_reason["drop_truncated"], frame_bytes(13));
  EXPECT_EQ(by_reason["drop_no_member"], alone);
  EXPECT_EQ(read(*some, 1), (std::vector<shown>{{"a", in, 10, "drop_link_local", local}}));
  EXPECT_EQ(read(*traffic, 5)[0].drop, "");
}

// Red when a frame is shown as sent before the driver has taken it.
TEST_F(capture_test, what_the_driver_refused_was_not_sent) {
  auto& a = access("a");
  auto& b = access("b");
  const fib_entry to_b{1, host(2), numbers_["b"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&to_b, 1)));
  b.refuse_longer_than(1522);
  capture_spec spec;
  spec.ports = {"b"};
  const auto sent = begin(spec);
  spec.drops = {"any"};
  const auto refused = begin(spec);
  std::vector<shown> fitting, too_long;
  for (unsigned i = 0; i < 100; ++i) {
    const bool is_long = i % 3 == 2;
    const frame_bytes frame = make_frame(host(2), host(1), -1, is_long ? 1523 : 60 + i);
    ASSERT_TRUE(a.send(frame));
    if (!is_long) {
      ASSERT_EQ(b.receive(), frame);
      fitting.push_back({"b", out, 1, "", frame});
    } else {
      too_long.push_back({"b", out, 1, "drop_tx_too_long", frame});
    }
  }
  EXPECT_EQ(read(*sent, fitting.size()), fitting);
  EXPECT_EQ(read(*refused, too_long.size()), too_long);
  EXPECT_TRUE(counts("b", "drop_tx_too_long", too_long.size()));
}

TEST_F(capture_test, a_full_transmit_queue) {
  auto& a = access("a");
  rings_["b"] = std::make_unique<test_ring_port>("b", 64);
  add(config_of("b"));
  const fib_entry to_b{1, host(2), numbers_["b"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&to_b, 1)));
  capture_spec spec;
  spec.ports = {"b"};
  const auto sent = begin(spec);
  spec.drops = {"tx_full"};
  const auto refused = begin(spec);
  for (unsigned i = 0; i < 200; ++i) ASSERT_TRUE(a.send(make_frame(host(2), host(1))));
  EXPECT_TRUE(counts("a", "forwarded", 200));
  EXPECT_EQ(read(*sent, 63).size(), 63u);
  EXPECT_EQ(read(*refused, 137).size(), 137u);
}

// Ports go by name: one that comes back is shown again, another one on its number is not.
TEST_F(capture_test, a_port_that_comes_back) {
  access("a");
  access("b");
  capture_spec spec;
  spec.ports = {"b"};
  const auto of_b = begin(spec);
  ASSERT_TRUE(switch_->remove_port("b"));
  auto& c = access("c");
  ASSERT_TRUE(c.send(make_frame(broadcast, host(3))));
  EXPECT_TRUE(counts("c", "rx_packets", 1));
  EXPECT_TRUE(read(*of_b, 0).empty());
  rings_.erase("b");
  auto& again = access("b");
  const frame_bytes frame = make_frame(broadcast, host(2));
  ASSERT_TRUE(again.send(frame));
  EXPECT_EQ(read(*of_b, 1), (std::vector<shown>{{"b", in, 1, "", frame}}));
}

TEST_F(capture_test, captures_are_bounded_and_refused_with_a_reason) {
  access("a");
  std::vector<std::unique_ptr<capture>> some;
  for (unsigned i = 0; i < captures_max; ++i) some.push_back(begin({}));
  const auto one_more = switch_->start_capture({});
  ASSERT_FALSE(one_more);
  EXPECT_EQ(one_more.error().code, errc::no_room);
  some.pop_back();
  some.push_back(begin({}));
  some.clear();
  capture_spec spec;
  spec.ports = {"a", "nowhere"};
  const auto unknown = switch_->start_capture(spec);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message(), "port nowhere: there is no such port");
}

TEST_F(capture_test, after_a_stop_what_is_there_can_be_read) {
  auto& a = access("a");
  access("b");
  const auto all = begin({});
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(counts("b", "tx_packets", 1));
  all->stop();
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(counts("b", "tx_packets", 2));
  EXPECT_EQ(read(*all, 2)[1].port, "b");
}

}  // namespace
}  // namespace coua::dp
