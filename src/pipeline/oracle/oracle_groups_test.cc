// SPDX-License-Identifier: Apache-2.0
//
// Groups and meters (OpenFlow 1.3.5, sections 5.6 and 5.7).
#include <gtest/gtest.h>

#include "pipeline/oracle/test_oracle.h"

namespace coua::pipeline {
namespace {

using namespace test;
using ports = std::vector<port_no>;

rule_mod to_group(group_id id, action_list after = {}) {
  action_list list{act::group{id}};
  list.insert(list.end(), after.begin(), after.end());
  return add_rule(0, 1, {}, apply(std::move(list)));
}

TEST(group, all_copies_to_every_bucket) {
  lab l;
  l(add_group(1, group_type::all,
              {to({act::set(field::eth_dst, 5), output(2)}), to({output(3)}), to({output(1)})}));
  l(to_group(1, {output(4)}));
  const packet one = tcp_packet();
  const verdict got = l.receive(one);
  // What a bucket changes is its copy's; the list goes on with the packet as it was.
  ASSERT_EQ(ports_of(got), (ports{2, 3, 4}));
  EXPECT_EQ(got.outputs[0].bytes[5], 5);
  EXPECT_EQ(got.outputs[1].bytes, one.bytes);
  EXPECT_EQ(got.outputs[2].bytes, one.bytes);
  const traffic seen{1, one.bytes.size()};
  EXPECT_EQ(got.counts.groups.at(1), seen);
  EXPECT_EQ(got.counts.buckets.size(), 3U);
  got.counts.add_to(l.model, 1);
  EXPECT_EQ(l.model.find_group(1)->state.counted, seen);
  EXPECT_EQ(l.model.find_group(1)->state.buckets, std::vector<traffic>(3, seen));
}

TEST(group, a_bucket_is_an_action_set) {
  lab l;
  l(add_group(1, group_type::indirect, {to({output(2), act::push_vlan{}})}));
  l(to_group(1));
  EXPECT_EQ(l.receive(tcp_packet()).outputs[0].bytes.size(), tcp_packet().bytes.size() + 4);
}

TEST(group, buckets_lead_to_groups) {
  lab l;
  l(add_group(1, group_type::indirect, {to({output(2)})}));
  l(add_group(2, group_type::all, {to({act::group{1}, output(4)}), to({output(3)})}));
  l(to_group(2));
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), (ports{2, 3}));
}

TEST(group, an_invalid_ttl_ends_one_copy) {
  lab l;
  l(add_group(1, group_type::all, {to({act::dec_ip_ttl{}, output(2)}), to({output(3)})}));
  l(to_group(1, {output(4)}));
  packet one = tcp_packet();
  one.bytes[14 + 8] = 0;
  const verdict got = l.receive(one);
  EXPECT_EQ(ports_of(got), (ports{3, 4}));
  ASSERT_EQ(got.packet_ins.size(), 1U);
  EXPECT_EQ(got.packet_ins[0].reason, packet_in_reason::invalid_ttl);
}

TEST(group, select_keeps_flows_together_and_spreads_them_by_weight) {
  lab l;
  l(add_group(1, group_type::select, {to({output(2)}, 3), to({output(3)}, 1), to({output(4)})}));
  l(to_group(1));
  std::map<port_no, int> n;
  for (std::uint16_t flow = 0; flow < 2000; ++flow) {
    const ports got = ports_of(l.receive(tcp_packet(flow)));
    ASSERT_EQ(got.size(), 1U);
    ++n[got[0]];
    packet other_bytes = tcp_packet(flow);
    other_bytes.bytes.back() ^= 1;
    other_bytes.bytes[14 + 8] = 3;  // TTL
    EXPECT_EQ(ports_of(l.receive(other_bytes)), got);
  }
  EXPECT_NEAR(n[2], 1500, 100);
  EXPECT_NEAR(n[3], 500, 100);
  EXPECT_EQ(n[4], 0);
}

TEST(group, select_spreads_by_macs_and_arp_too) {
  lab l;
  l(add_group(1, group_type::select, {to({output(2)}, 1), to({output(3)}, 1)}));
  l(to_group(1));
  const bytes frame = ethernet(0x0806) + arp();
  for (const std::size_t at : {5U, 11U, 14U + 13, 14U + 17, 14U + 23, 14U + 27}) {
    std::map<port_no, int> n;
    for (int i = 0; i < 64; ++i) {
      bytes other = frame;
      other[at] = static_cast<std::uint8_t>(i);
      ++n[ports_of(l.receive(from_port_1(other)))[0]];
    }
    EXPECT_GT(n[2], 8) << at;
    EXPECT_GT(n[3], 8) << at;
  }
}

TEST(group, select_takes_live_buckets_only) {
  lab l;
  l(add_group(1, group_type::select, {to({output(2)}, 1, 2), to({output(3)}, 1, 3)}));
  l(to_group(1));
  l.set_port({.number = 2, .live = false});
  for (std::uint16_t flow = 0; flow < 50; ++flow) {
    EXPECT_EQ(ports_of(l.receive(tcp_packet(flow))), ports{3});
  }
  l.set_port({.number = 3, .live = false});
  EXPECT_TRUE(l.receive(tcp_packet()).outputs.empty());
}

TEST(group, fast_failover_takes_the_first_that_lives) {
  lab l;
  l(add_group(1, group_type::fast_failover,
              {to({output(2)}, 0, 2), to({output(3)}, 0, 3), to({output(4)}, 0, 9)}));
  l(to_group(1));
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), ports{2});
  l.set_port({.number = 2, .live = false});
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), ports{3});
  l(port_mod{mod_command::remove, {.number = 3}});
  EXPECT_TRUE(l.receive(tcp_packet()).outputs.empty());  // port 9 is not there
  l.set_port({.number = 2});
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), ports{2});
}

TEST(group, a_watched_group_lives_with_one_of_its_buckets) {
  lab l;
  l(add_group(1, group_type::fast_failover, {to({output(2)}, 0, 2), to({output(3)}, 0, 3)}));
  bucket first = to({act::group{1}});
  first.watch_group = 1;
  l(add_group(2, group_type::fast_failover, {first, to({output(4)}, 0, 4)}));
  l(to_group(2));
  l.set_port({.number = 2, .live = false});
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), ports{3});
  l.set_port({.number = 3, .live = false});
  EXPECT_EQ(ports_of(l.receive(tcp_packet())), ports{4});
}

TEST(group, empty_ones_drop) {
  lab l;
  l(add_group(1, group_type::all, {}));
  l(add_group(2, group_type::select, {}));
  l(add_rule(0, 1, {}, apply({act::group{1}, act::group{2}})));
  EXPECT_TRUE(l.receive(tcp_packet()).outputs.empty());
}

rule_mod through_meter(meter_id id, instructions then) {
  then.meter = id;
  return add_rule(0, 1, {}, std::move(then));
}

TEST(meter, drops_what_exceeds_its_rate_before_any_action) {
  lab l;
  meter_mod asked = add_policer(1, 1, 2);
  l(asked);
  instructions then = apply({output(2)});
  then.write = action_list{output(3)};
  l(through_meter(1, then));
  EXPECT_EQ(ports_of(l.receive(tcp_packet(), 0)), (ports{2, 3}));
  l.receive(tcp_packet(), 0).counts.add_to(l.model, 0);
  const verdict got = l.receive(tcp_packet(), 0);
  EXPECT_TRUE(got.outputs.empty());
  EXPECT_EQ(got.counts.rules.size(), 1U);  // it matched
  got.counts.add_to(l.model, 0);
  EXPECT_EQ(l.model.find_meter(1)->state.counted.packets, 2U);
  EXPECT_EQ(l.model.find_meter(1)->state.bands[0].packets, 1U);
  EXPECT_EQ(l.receive(tcp_packet(), ns_per_s).outputs.size(), 2U);
  EXPECT_TRUE(l.receive(tcp_packet(), ns_per_s).outputs.empty());
  // A modification starts with full buckets.
  asked.command = mod_command::modify;
  l(asked);
  EXPECT_EQ(l.receive(tcp_packet(), ns_per_s).outputs.size(), 2U);
}

TEST(meter, remarks_what_exceeds_its_rate) {
  lab l;
  l(add_meter(1, meter_unit::pktps, {{band_type::dscp_remark, 1, 0, 1}}));
  l(through_meter(1, apply({output(2)})));
  const auto with_tos = [](std::uint8_t tos) {
    return from_port_1(ethernet(0x0800) + ipv4(6, tcp(1, 2), {}, 0, tos));
  };
  EXPECT_EQ(l.receive(with_tos(10 << 2), 0).outputs[0].bytes, with_tos(10 << 2).bytes);
  EXPECT_EQ(l.receive(with_tos(10 << 2 | 1), 0).outputs[0].bytes, with_tos(12 << 2 | 1).bytes);
  EXPECT_EQ(l.receive(with_tos(46 << 2), 0).outputs[0].bytes, with_tos(46 << 2).bytes);
  const packet arp_packet = from_port_1(ethernet(0x0806) + arp());
  EXPECT_EQ(l.receive(arp_packet, 0).outputs[0].bytes, arp_packet.bytes);
}

}  // namespace
}  // namespace coua::pipeline
