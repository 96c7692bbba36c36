// SPDX-License-Identifier: Apache-2.0
//
// Bursts of one flow, beside the oracle: one packet is looked up for all, in a table of each
// template. And those that look like it at first, because only one packet is another one.
#include <gtest/gtest.h>

#include "checked_pipeline.h"
#include "net/wire.h"
#include "pipeline/datapath/test_frames.h"
#include "pipeline/model/test_model.h"

namespace coua::test {
namespace {

using namespace pipeline;
using pipeline::test::add_rule;
using pipeline::test::go;
using pipeline::test::ipv4;
using pipeline::test::output;
using pipeline::test::where;

constexpr table_id table = 1;
constexpr unsigned n_values = 20;
constexpr std::size_t network = net::ethernet_header_bytes,
                      source = network + net::wire::ipv4::source,
                      destination = network + net::wire::ipv4::destination,
                      tcp_destination = network + net::wire::ipv4::header_bytes + 2;

/// Rules that tell values from 0 to n_values - 1 apart, and packets that have one of them.
struct kind {
  const char* name;
  table_template wanted;
  unsigned n_rules;
  rule_mod (*rule)(unsigned which, const instructions& then);
  void (*make)(packet& one, unsigned value);
  template_limits limits = no_mixed_tables;
};
std::ostream& operator<<(std::ostream& out, const kind& one) { return out << one.name; }

void to_port(packet& one, unsigned value) {
  net::store_be16(one.bytes.data() + tcp_destination, static_cast<std::uint16_t>(1000 + value));
}
rule_mod of_port(unsigned which, const instructions& then) {
  return add_rule(table, 10,
                  where({ipv4(), exact(field::ip_proto, 6), exact(field::tcp_dst, 1000U + which)}),
                  then);
}
void to_address(packet& one, unsigned value) {
  net::store_be32(one.bytes.data() + destination, 0x0a00'0000 | value << 8);
}
unsigned length_of(unsigned which) { return 24 + which % 2; }
match_term prefix_of(unsigned which) {
  return {field::ipv4_dst, 0x0a00'0000U | which << 8, ~std::uint32_t{0} << (32 - length_of(which))};
}
rule_mod of_address(unsigned which, const instructions& then) {
  const auto priority = static_cast<std::uint16_t>(length_of(which));
  return add_rule(table, priority, where({ipv4(), prefix_of(which)}), then);
}
/// From port 1 alone.
rule_mod of_port_and_address(unsigned which, const instructions& then) {
  const auto priority = static_cast<std::uint16_t>(length_of(which));
  return add_rule(table, priority, where({exact(field::in_port, 1), ipv4(), prefix_of(which)}),
                  then);
}
void from_port(packet& one, unsigned value) {
  to_address(one, 3);
  one.in_port = 1 + value % 2;
}
/// Of a service, for clients that are the nearer the higher the priority.
rule_mod of_service(unsigned which, const instructions& then) {
  if (which == 0) return add_rule(table, 99, where({exact(field::in_port, 2)}), then);  // apart
  const unsigned length = which % 3 == 0 ? 0 : 8 * (1 + which % 3);
  const value128 mask = ones(32) & ~ones(32 - length);
  std::vector<match_term> terms{ipv4(), exact(field::ip_proto, 6),
                                exact(field::ipv4_dst, 0x0a00'0000U + which / 3)};
  if (length != 0) terms.push_back({field::ipv4_src, 0x0b0c'0d0eU & mask, mask});
  return add_rule(table, static_cast<std::uint16_t>(10 + length), where(std::move(terms)), then);
}
void to_service(packet& one, unsigned value) {
  constexpr std::uint32_t near[] = {0x0b0c'0d0e, 0x0b0c'0d0f, 0x0b0c'0000, 0x0c00'0000};
  net::store_be32(one.bytes.data() + source, near[value % 4]);
  net::store_be32(one.bytes.data() + destination, 0x0a00'0000U + value / 4);
}
/// Of routers, told by the port: the second one has other routes.
rule_mod of_router(unsigned which, const instructions& then) {
  std::vector<match_term> terms{ipv4(), exact(field::in_port, 1 + which % 2)};
  const unsigned length = 24 + which / 2 % 2;
  terms.push_back(
      {field::ipv4_dst, 0x0a00'0000U | (which << 7 & ~0xffU), ~std::uint32_t{0} << (32 - length)});
  return add_rule(table, static_cast<std::uint16_t>(length), where(std::move(terms)), then);
}
rule_mod of_mac(unsigned which, const instructions& then) {
  const field some[] = {field::eth_dst, field::eth_src};
  return add_rule(table, 10, where({exact(some[which % 2], 0x0200'0000'0000 + which)}), then);
}
void to_mac(packet& one, unsigned value) {
  net::store_mac(one.bytes.data(), 0x0200'0000'0000 + value);
}

/// Those of ports, and three that take other bits.
rule_mod of_port_or_not(unsigned which, const instructions& then) {
  if (which < n_values) return of_port(which, then);
  const match other[] = {where({exact(field::in_port, 2)}),
                         where({ipv4(), exact(field::ip_proto, 6)}),
                         where({{field::eth_src, 0x01, 0x01}})};
  const unsigned n = which - n_values;
  return add_rule(table, static_cast<std::uint16_t>(n == 0 ? 1 : 99), other[n % 3], then);
}

/// Routes, and ports of TCP above them.
rule_mod of_address_or_port(unsigned which, const instructions& then) {
  if (which < n_values) return of_address(which, then);
  rule_mod made = of_port(which - n_values, then);
  made.priority = 99;
  return made;
}
void to_port_at_address(packet& one, unsigned value) {
  to_address(one, 3);
  to_port(one, value);
}

const kind kinds[] = {
    {"direct", table_template::direct, 3, of_port, to_port},
    {"exact", table_template::exact, n_values, of_port, to_port},
    {"exact_and_apart",
     table_template::exact,
     n_values + 3,
     of_port_or_not,
     to_port,
     {.direct_long = 0}},
    {"lpm", table_template::lpm, n_values, of_address, to_address},
    {"lpm_and_apart",
     table_template::lpm,
     n_values + 8,
     of_address_or_port,
     to_port_at_address,
     {.direct_long = 0}},
    {"lpm_with_rest", table_template::lpm, n_values, of_port_and_address, from_port},
    {"decomposed", table_template::decomposed, 60, of_service, to_service},
    {"routers", table_template::decomposed, 80, of_router, to_address},
    {"classifier", table_template::classifier, n_values, of_mac, to_mac},
};

class trains : public ::testing::TestWithParam<kind> {
 protected:
  void SetUp() override {
    std::vector<operation> bundle;
    for (port_no i = 1; i <= 5; ++i) bundle.emplace_back(pipeline::test::add_port(i));
    bundle.emplace_back(add_rule(0, 1, {}, go(table)));
    for (unsigned i = 0; i < GetParam().n_rules; ++i) {
      bundle.emplace_back(GetParam().rule(i, pipeline::test::apply({output(3 + i % 3)})));
    }
    ASSERT_TRUE(in_.apply(bundle));
    ASSERT_EQ(in_.bridge().compiler().form(table)->kind(), GetParam().wanted);
  }
  /// Of one length each, so that wrong sums of bytes are seen.
  static std::vector<packet> train(unsigned value, unsigned n = executor::burst_max) {
    std::vector<packet> burst;
    for (unsigned i = 0; i < n; ++i) {
      packet one = pipeline::test::from_port_1(pipeline::test::frames()[3]);  // TCP in IPv4
      GetParam().make(one, value);
      one.bytes.resize(one.bytes.size() + i);
      burst.push_back(std::move(one));
    }
    return burst;
  }
  void receive(const std::vector<packet>& burst) {
    in_.receive(burst);
    in_.check_counters();
  }

  checked_pipeline in_{compiler_params{.limits = GetParam().limits, .share_from = 1}};
};

TEST_P(trains, find_what_each_of_their_packets_finds) {
  for (unsigned value = 0; value <= n_values; ++value) receive(train(value));
  for (unsigned n = 1; n <= executor::burst_max; ++n) receive(train(1, n));
}

TEST_P(trains, are_none_where_one_packet_has_another_key) {
  for (unsigned at = 0; at < executor::burst_max; ++at) {
    std::vector<packet> burst = train(1);
    GetParam().make(burst[at], 2);
    receive(burst);
  }
}

TEST_P(trains, are_none_where_one_packet_comes_from_another_port) {
  for (unsigned at = 0; at < executor::burst_max; ++at) {
    std::vector<packet> burst = train(1);
    burst[at].in_port = 2;
    receive(burst);
  }
}

// Red when only keys are compared: of a header that is not there they would be read all the same.
TEST_P(trains, are_none_where_one_packet_has_other_headers) {
  constexpr std::size_t fragment = network + net::wire::ipv4::fragment;
  for (unsigned at = 0; at < executor::burst_max; ++at) {
    std::vector<packet> later = train(1), cut = train(1);
    net::store_be16(later[at].bytes.data() + fragment, 1);
    receive(later);
    cut[at].bytes.resize(network + net::wire::ipv4::header_bytes - 1);
    receive(cut);
  }
}

TEST_P(trains, of_what_the_table_cannot_match_miss) {
  std::vector<packet> burst;
  for (unsigned i = 0; i < executor::burst_max; ++i) {
    burst.push_back(pipeline::test::from_port_1(pipeline::test::frames()[2]));  // ARP
  }
  receive(burst);
}

TEST_P(trains, are_counted_by_the_table_that_each_packet_is_at) {
  // Half of them come to the table by another one.
  ASSERT_TRUE(in_.apply({add_rule(0, 5, where({exact(field::in_port, 2)}), go(5)),
                         add_rule(5, 1, {}, go(6)), add_rule(6, 1, {}, {})}));
  std::vector<packet> burst = train(1);
  for (unsigned i = 0; i < burst.size(); i += 2) burst[i].in_port = 2;
  receive(burst);
}

// Red when the tables of packets are not compared: their keys are the same in one store.
TEST(train, is_none_where_its_packets_are_at_several_tables_of_a_store) {
  checked_pipeline in;
  std::vector<operation> bundle;
  for (port_no i = 1; i <= 5; ++i) bundle.emplace_back(pipeline::test::add_port(i));
  for (const table_id each : {table_id{1}, table_id{2}}) {
    bundle.emplace_back(add_rule(0, 1, where({exact(field::in_port, each)}), go(each)));
    for (unsigned i = 0; i < n_values; ++i) {
      rule_mod rule = of_port(i, pipeline::test::apply({output(2U + each)}));
      rule.table = each;
      bundle.emplace_back(rule);
    }
  }
  ASSERT_TRUE(in.apply(bundle));
  for (const table_id each : {table_id{1}, table_id{2}})
    ASSERT_EQ(in.bridge().compiler().form(each)->kind(), table_template::exact);
  std::vector<packet> burst;
  for (unsigned i = 0; i < executor::burst_max; ++i) {
    burst.push_back(pipeline::test::from_port_1(pipeline::test::frames()[3]));
    to_port(burst.back(), 1);
    burst.back().in_port = 1 + i % 2;
  }
  in.receive(burst);
  in.check_counters();
}

INSTANTIATE_TEST_SUITE_P(templates, trains, ::testing::ValuesIn(kinds),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace coua::test
