// SPDX-License-Identifier: Apache-2.0
//
// Bursts of one port, as a switch's are, beside the oracle: rules that ask for nothing but the port
// are looked up once for all of them. And bursts of several ports, and those whose packets tables
// are to see as if from another one.
#include <gtest/gtest.h>

#include "checked_pipeline.h"
#include "mac_rules.h"
#include "net/wire.h"

namespace coua::test {
namespace {

using namespace pipeline;
using pipeline::test::add_group;
using pipeline::test::add_rule;
using pipeline::test::go;
using pipeline::test::output;
using pipeline::test::to;
using pipeline::test::where;

constexpr unsigned n_macs = 20;
constexpr port_no n_ports = 5;

class one_port : public ::testing::Test {
 protected:
  void SetUp() override {
    for (port_no i = 1; i <= n_ports; ++i) must(pipeline::test::add_port(i));
  }
  void must(const operation& one) { ASSERT_TRUE(in_.apply({one})); }
  void rule(table_id table, std::uint16_t priority, const match& of, action_list does) {
    must(add_rule(table, priority, of, pipeline::test::apply(std::move(does))));
  }
  void add_macs(table_id table = 0) {
    for (unsigned i = 0; i < n_macs; ++i) must(mac_rule(table, i, 3 + i % 3));
  }
  /// Bursts look like trains where they are one sender's.
  static void set_addresses(packet& of, unsigned i) {
    std::uint8_t* const network = of.bytes.data() + net::ethernet_header_bytes;
    net::store_be32(network + net::wire::ipv4::source, 0x0a00'0000 | i);
    net::store_be32(network + net::wire::ipv4::destination, (i % 8) << 24);
  }
  table_template kind() { return in_.bridge().compiler().form(0)->kind(); }
  /// Bursts of several sizes: of each port alone, and with one packet, at any place, of another.
  void see() {
    for (const unsigned n : {1U, 2U, 7U, executor::burst_max - 1, executor::burst_max}) {
      for (port_no port = 1; port <= n_ports; ++port) {
        for (const unsigned other : {n, 0U, n / 2, n - 1}) {
          std::vector<packet> burst;
          for (unsigned i = 0; i < n; ++i) {
            burst.push_back(packet_to(i % (n_macs + 3), i == other ? port % n_ports + 1 : port));
            set_addresses(burst.back(), i);
          }
          in_.receive(burst);
        }
      }
    }
    in_.check_counters();
  }

  checked_pipeline in_{{.limits = {.direct_long = 0}, .share_from = 1}};
};

TEST_F(one_port, meets_rules_of_ports) {
  rule(0, 10, from_port(1), {output(2)});
  rule(0, 10, from_port(2), {output(3), output(4)});
  rule(0, 5, from_port(2), {output(1)});
  see();
  rule(0, 1, {}, {output(5)});
  EXPECT_EQ(kind(), table_template::direct);
  see();
}

TEST_F(one_port, meets_rules_of_ports_and_others) {
  rule(0, 10, from_port(1), {output(2)});
  const rule_mod to_one = mac_rule(0, 1, 4, 20);
  must(to_one);
  must(add_rule(0, 11, where({exact(field::in_port, 2), exact(field::eth_dst, first_mac + 2)}),
                pipeline::test::apply({output(3)})));
  see();
  must(strict(rule_command::remove_strict, to_one));
  see();
}

TEST_F(one_port, meets_rules_apart) {
  add_macs();
  rule(0, 20, from_port(1), {output(2)});
  rule(0, 5, from_port(2), {output(1)});
  ASSERT_EQ(kind(), table_template::exact);
  EXPECT_EQ(in_.bridge().compiler().form(0)->n_rows_apart(), 2U);
  see();
  // Of the ports of the exact rules' priority one came before them, and one comes behind.
  rule(0, 10, from_port(3), {output(5)});
  must(strict(rule_command::remove_strict, mac_rule(0, 4)));
  must(mac_rule(0, 4, 2));
  see();
}

match to_prefix(unsigned which, unsigned length) {
  const std::uint64_t mask = ~std::uint64_t{0} << (32 - length) & 0xffff'ffff;
  return where({pipeline::test::ipv4(), {field::ipv4_dst, (which << 24) & mask, mask}});
}

TEST_F(one_port, meets_rules_beside_routes) {
  for (unsigned i = 0; i < 6; ++i) {
    for (const unsigned length : {8U, 12U, 16U, 24U})
      rule(0, static_cast<std::uint16_t>(length), to_prefix(i, length), {output(1 + length % 5)});
  }
  rule(0, 50, from_port(1), {output(2)});
  rule(0, 20, from_port(2), {output(1)});
  ASSERT_EQ(kind(), table_template::lpm);
  EXPECT_EQ(in_.bridge().compiler().form(0)->n_rows_apart(), 2U);
  see();
}

/// A table of ports may have been one of more, and become one again.
TEST_F(one_port, meets_rules_of_ports_that_are_left) {
  for (const port_no port : {1U, 2U, 3U}) rule(0, 10, from_port(port), {output(port + 1)});
  std::vector<rule_mod> others{mac_rule(0, 1, 4, 20)};
  others.push_back(add_rule(0, 11, where({exact(field::in_port, 2), exact(field::vlan_vid, 0)}),
                            pipeline::test::apply({output(3)})));
  for (const rule_mod& each : others) must(each);
  see();
  for (const rule_mod& each : others) {
    must(strict(rule_command::remove_strict, each));
    see();
  }
}

/// Packets that go on are not the first ones of their burst, nor all behind each other.
TEST_F(one_port, meets_rules_of_ports_behind_others) {
  for (unsigned i = 0; i < n_macs; i += 2) rule(0, 10, to_mac(i), {output(5)});
  must(add_rule(0, 1, {}, go(1)));
  rule(1, 10, from_port(1), {output(2)});
  rule(1, 10, from_port(3), {output(4)});
  see();
  add_macs(1);
  see();
}

/// Red where a packet's other port is not seen to be another one: the packets meet the same table,
/// those that are resubmitted first among them.
TEST_F(one_port, is_not_one_for_tables_that_see_another) {
  constexpr table_id of_ports = 6;
  const action as_from_2 = act::resubmit{2, of_ports};
  must(add_group(1, group_type::all, {to({as_from_2, output(4)})}));
  for (unsigned i = 0; i < n_macs; i += 3) rule(0, 10, to_mac(i), {as_from_2, output(5)});
  rule(0, 10, to_mac(1), {act::group{1}});
  must(add_rule(0, 1, {}, go(of_ports)));
  rule(of_ports, 20, from_port(1), {output(3)});
  rule(of_ports, 20, from_port(2), {output(4), output(1)});
  rule(of_ports, 20, from_port(3), {});
  see();
  // And where they are apart.
  add_macs(of_ports);
  see();
}

}  // namespace
}  // namespace coua::test
