// SPDX-License-Identifier: Apache-2.0
#include "dp/capture/tap.h"

#include <gtest/gtest.h>

namespace coua::dp {
namespace {

struct seen_packet {
  std::uint64_t time_ns;
  std::uint32_t length;
  std::string drop;
  std::vector<std::uint8_t> bytes;
};

std::vector<seen_packet> read_all(tap& from) {
  std::vector<seen_packet> found;
  from.read([&](const captured_packet& one) {
    found.push_back({one.time_ns,
                     one.length,
                     one.drop != nullptr ? one.drop : "",
                     {one.bytes.begin(), one.bytes.end()}});
    return true;
  });
  return found;
}

std::shared_ptr<tap> make(const capture_spec& spec, unsigned workers = 1) {
  auto made = tap::create(spec, workers);
  EXPECT_TRUE(made) << made.error().message();
  return made ? *made : nullptr;
}

error refusal(const capture_spec& spec) {
  const auto made = tap::create(spec, 1);
  EXPECT_FALSE(made);
  return made ? error{} : made.error();
}

std::vector<std::uint8_t> arp(unsigned size = 60) {
  std::vector<std::uint8_t> frame(size);
  frame[12] = 0x08;
  frame[13] = 0x06;
  for (unsigned i = 14; i < size; ++i) frame[i] = static_cast<std::uint8_t>(i);
  return frame;
}
frame_view view(const std::vector<std::uint8_t>& frame) {
  const auto size = static_cast<std::uint32_t>(frame.size());
  return {frame.data(), size, size};
}

TEST(tap, keeps_no_more_than_snap_of_what_its_filter_lets_pass) {
  capture_spec spec;
  spec.filter = "arp";
  spec.snap = 20;
  const auto one = make(spec);
  const auto frame = arp();
  std::vector<std::uint8_t> other(60);
  one->offer(0, {.time_ns = 7}, view(frame), not_dropped);
  one->offer(0, {.time_ns = 8}, view(other), not_dropped);
  const auto found = read_all(*one);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].time_ns, 7u);
  EXPECT_EQ(found[0].length, 60u);
  EXPECT_EQ(found[0].bytes, std::vector(frame.begin(), frame.begin() + 20));
  EXPECT_EQ(one->counts(0).seen, 2u);
  EXPECT_EQ(one->counts(0).captured, 1u);
  EXPECT_EQ(one->counts(0).lost, 0u);
}

TEST(tap, vlans) {
  capture_spec spec;
  spec.vlans = {{10, 12}, {4094, 4094}};
  const auto one = make(spec);
  const auto frame = arp();
  for (const std::uint16_t vlan : {0, 1, 9, 10, 12, 13, 4094, 4095})
    one->offer(0, {.time_ns = vlan, .vlan = vlan}, view(frame), not_dropped);
  std::vector<std::uint64_t> times;
  for (const auto& each : read_all(*one)) times.push_back(each.time_ns);
  EXPECT_EQ(times, (std::vector<std::uint64_t>{10, 12, 4094}));
}

TEST(tap, drops_of_the_reasons_asked_for_and_no_others) {
  capture_spec spec;
  spec.drops = {"hairpin", "drop_tx_full"};
  const auto one = make(spec);
  const auto frame = arp();
  for (const auto fate : {not_dropped, port_counter::drop_hairpin, port_counter::drop_tx_full,
                          port_counter::drop_no_member})
    one->offer(0, {}, view(frame), fate);
  const auto found = read_all(*one);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].drop, "drop_hairpin");
  EXPECT_EQ(found[1].drop, "drop_tx_full");
  EXPECT_EQ(one->counts(0).seen, 2u);
  capture_spec any;
  any.drops = {"any"};
  EXPECT_TRUE(make(any)->wants(port_counter::drop_no_mbuf));
  EXPECT_FALSE(make(any)->wants(port_counter::flooded));
  EXPECT_FALSE(make({})->wants(port_counter::drop_no_mbuf));
}

// Red when a staged frame that the driver refused is shown, or one behind it is lost.
TEST(tap, what_was_staged_is_shown_as_it_is_settled) {
  const auto traffic = make({});
  capture_spec of_drops;
  of_drops.drops = {"any"};
  const auto drops = make(of_drops);
  const std::vector<port_counter::id> fates{not_dropped, port_counter::drop_tx_too_long,
                                            not_dropped, port_counter::drop_tx_full};
  for (tap* each : {traffic.get(), drops.get()}) {
    const auto frame = arp();
    std::vector<tap::staged> staged;
    for (std::size_t i = 0; i < fates.size(); ++i)
      staged.push_back(each->stage(0, {.time_ns = i}, view(frame)));
    EXPECT_TRUE(read_all(*each).empty());
    for (std::size_t i = 0; i < fates.size(); ++i) each->settle(0, staged[i], fates[i]);
    each->publish(0);
  }
  const auto sent = read_all(*traffic);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].time_ns, 0u);
  EXPECT_EQ(sent[1].time_ns, 2u);
  const auto lost = read_all(*drops);
  ASSERT_EQ(lost.size(), 2u);
  EXPECT_EQ(lost[0].drop, "drop_tx_too_long");
  EXPECT_EQ(lost[1].drop, "drop_tx_full");
}

TEST(tap, a_reader_that_does_not_come_costs_frames_which_are_counted) {
  capture_spec spec;
  spec.buffer_bytes = capture_buffer_min;
  const auto one = make(spec);
  const auto frame = arp(1000);
  for (unsigned i = 0; i < 1000; ++i) one->offer(0, {.time_ns = i}, view(frame), not_dropped);
  const capture_counts of = one->counts(0);
  EXPECT_EQ(of.seen, 1000u);
  EXPECT_EQ(of.captured + of.lost, 1000u);
  EXPECT_GT(of.lost, 700u);
  const auto found = read_all(*one);
  ASSERT_EQ(found.size(), of.captured);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].time_ns, i);
  one->offer(0, {.time_ns = 5000}, view(frame), not_dropped);
  EXPECT_EQ(read_all(*one).size(), 1u) << "there is room again";
}

TEST(tap, the_limit_counts_what_was_kept_and_nothing_after_it) {
  capture_spec spec;
  spec.count = 3;
  const auto one = make(spec, 2);
  const auto frame = arp();
  for (unsigned i = 0; i < 10; ++i) {
    EXPECT_EQ(one->is_complete(), i >= 3);
    one->offer(i % 2, {.time_ns = i}, view(frame), not_dropped);
  }
  EXPECT_EQ(read_all(*one).size(), 3u);
  EXPECT_EQ(one->counts(0).seen, 3u);
  EXPECT_EQ(one->counts(0).lost, 0u);
}

TEST(tap, workers_are_merged_by_time) {
  const auto one = make({}, 3);
  const auto frame = arp();
  for (const unsigned time : {1, 4, 5}) one->offer(0, {.time_ns = time}, view(frame), not_dropped);
  for (const unsigned time : {2, 3}) one->offer(1, {.time_ns = time}, view(frame), not_dropped);
  one->offer(2, {.time_ns = 6}, view(frame), not_dropped);
  const auto found = read_all(*one);
  ASSERT_EQ(found.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(found[i].time_ns, i + 1);
}

TEST(tap, a_sink_that_says_stop_finds_the_rest_later) {
  const auto one = make({});
  const auto frame = arp();
  for (unsigned i = 0; i < 5; ++i) one->offer(0, {.time_ns = i}, view(frame), not_dropped);
  EXPECT_EQ(one->read([](const captured_packet& p) { return p.time_ns < 2; }), 3u);
  EXPECT_EQ(read_all(*one).size(), 2u);
}

TEST(tap, refusals_say_where_and_why) {
  capture_spec spec;
  spec.filter = "tcp porto 80";
  EXPECT_EQ(refusal(spec).where, "filter");
  EXPECT_NE(refusal(spec).what.find("syntax error"), std::string::npos) << refusal(spec).what;
  spec.filter = std::string(filter_text_max, ' ') + "tcp";
  EXPECT_NE(refusal(spec).what.find("of at most 16384"), std::string::npos) << refusal(spec).what;
  spec = {};
  spec.drops = {"hairpin", "boredom"};
  EXPECT_EQ(refusal(spec).where, "drops");
  EXPECT_NE(refusal(spec).what.find("'boredom' is none of any, pipeline"), std::string::npos)
      << refusal(spec).what;
  for (const auto& bad : {std::pair{0, 5}, {5, 4}, {4095, 4095}}) {
    spec = {};
    spec.vlans = {{static_cast<std::uint16_t>(bad.first), static_cast<std::uint16_t>(bad.second)}};
    EXPECT_EQ(refusal(spec).where, "vlans");
  }
  spec = {};
  spec.snap = 65'536;
  EXPECT_EQ(refusal(spec).where, "snap");
  spec = {};
  spec.buffer_bytes = 1000;
  EXPECT_EQ(refusal(spec).where, "buffer");
  spec = {};
  spec.in = spec.out = false;
  EXPECT_EQ(refusal(spec).where, "direction");
}

// The library must not read behind what is there; run it under ASan.
TEST(tap, a_filter_never_reads_behind_a_short_frame) {
  capture_spec spec;
  spec.filter = "tcp port 80 or vlan 10 and ip6 or ether[1400] = 7";
  const auto one = make(spec);
  for (unsigned size = 0; size < 60; ++size) {
    const std::vector<std::uint8_t> frame(size, 0x45);
    one->offer(0, {}, {frame.data(), size, 1500}, not_dropped);
  }
  EXPECT_TRUE(read_all(*one).empty());
}

}  // namespace
}  // namespace coua::dp
