// SPDX-License-Identifier: Apache-2.0
//
// Bursts as long as they may be, in which one packet, each in its turn, is unlike all others.
#include <gtest/gtest.h>

#include "checked_pipeline.h"
#include "mac_rules.h"
#include "net/headers.h"
#include "pipeline/model/resubmit.h"

namespace coua::test {
namespace {

using namespace pipeline;
using pipeline::test::add_rule;
using pipeline::test::apply;
using pipeline::test::output;

constexpr unsigned usual = 0, odd = 1;  // addresses of packets

class full_bursts : public ::testing::Test {
 protected:
  void SetUp() override {
    for (port_no i = 1; i <= 5; ++i) must(pipeline::test::add_port(i));
  }
  void must(const operation& one) { ASSERT_TRUE(in_.apply({one})); }
  void rule(const match& of, action_list does, table_id table = 0) {
    must(add_rule(table, 5, of, apply(std::move(does))));
  }
  void see(const packet& usual_one, const packet& odd_one) {
    for (unsigned k = 0; k < executor::burst_max; ++k) {
      std::vector<packet> burst(executor::burst_max, usual_one);
      burst[k] = odd_one;
      in_.receive(burst);
    }
    in_.check_counters();
  }
  void see() { see(packet_to(usual), packet_to(odd)); }

  checked_pipeline in_;
};

packet with_hops(packet one, std::size_t where, std::uint8_t hops) {
  one.bytes[where] = hops;
  return one;
}
const action other_mac = act::set(field::eth_src, 0x0200'0000'7777);

TEST_F(full_bursts, with_one_that_no_rule_takes) {
  rule(to_mac(usual), {output(2)});
  see();
}

TEST_F(full_bursts, with_one_to_which_something_else_happens) {
  rule(to_mac(usual), {output(2)});
  rule(to_mac(odd), {other_mac, output(3)});
  see();
}

TEST_F(full_bursts, with_one_from_where_all_go) {
  rule({}, {output(2)});
  see(packet_to(usual), packet_to(usual, 2));
}

TEST_F(full_bursts, with_one_that_has_no_hops_left) {
  constexpr std::size_t ttl = net::ethernet_header_bytes + net::wire::ipv4::ttl;
  const match ip = pipeline::test::where({pipeline::test::ipv4()});
  const packet one = packet_to(usual);
  for (const action_list& list : {action_list{other_mac, act::dec_ip_ttl{}, output(2)},
                                  action_list{act::dec_ip_ttl{}, output(2), output(3)}}) {
    rule(ip, list);
    see(with_hops(one, ttl, 64), with_hops(one, ttl, 1));
  }
}

TEST_F(full_bursts, with_one_whose_label_has_no_hops_left) {
  const auto& frames = pipeline::test::frames();
  const auto labelled = std::find_if(frames.begin(), frames.end(), [](const auto& each) {
    return net::load_be16(each.data() + 12) == 0x8847;
  });
  ASSERT_NE(labelled, frames.end());
  rule(pipeline::test::where({pipeline::test::mpls()}), {act::dec_mpls_ttl{}, output(2)});
  constexpr std::size_t ttl = net::ethernet_header_bytes + 3;
  const packet one = pipeline::test::from_port_1(*labelled);
  see(with_hops(one, ttl, 64), with_hops(one, ttl, 1));
}

TEST_F(full_bursts, with_one_that_a_meter_drops) {
  rule(to_mac(usual), {output(2)});
  must(pipeline::test::add_policer(1, 1, 1));  // but for the first
  rule_mod metered = mac_rule(0, odd, 2);
  metered.instructions.meter = 1;
  must(metered);
  see();
}

TEST_F(full_bursts, with_one_that_comes_back_to_other_actions) {
  rule(to_mac(usual), {act::resubmit{port_in_port, 5}, output(2)});
  rule(to_mac(odd), {act::resubmit{port_in_port, 5}, other_mac, output(3)});
  rule({}, {output(4)}, 5);
  see();
}

TEST_F(full_bursts, with_one_that_ends_where_others_come_back) {
  rule({}, {act::resubmit{port_in_port, 5}, output(2)});
  rule(to_mac(odd), {output(3)}, 5);  // the others find none
  see();
}

TEST_F(full_bursts, with_one_that_writes_too_often) {
  instructions writes;
  writes.write = action_list{output(2)};
  must(add_rule(5, 5, {}, writes));
  must(add_rule(6, 5, {}, writes));
  rule({}, {output(4)}, 7);
  // All come to the last of these together.
  action_list list(set_writes_max + 1, act::resubmit{port_in_port, 5});
  list.front() = act::resubmit{port_in_port, 7};
  rule(to_mac(usual), list);
  list.front() = act::resubmit{port_in_port, 6};
  rule(to_mac(odd), list);
  see();
}

}  // namespace
}  // namespace coua::test
